//! What shapes an op takes and gives, in words, for ops whose shapes do not follow from what kind of op they are.
//!
//! `[..., N]` stands for any leading dimensions. The test holds the list to the rows: none is missing, none is left over.

use engine::OpDef;
use engine::op::Body;

/// What is known of the result's shape.
pub(super) fn shape_rule(op: &'static OpDef) -> &'static str {
    let inputs = op.params.iter().filter(|it| it.kind.is_tensor()).count();
    match (op.body.is_elementwise(), op.body, inputs) {
        (true, _, 1) => "the shape of the input",
        (true, ..) => BROADCAST,
        (_, Body::View(_), _) => "another view of the same elements",
        _ => RULES.iter().find(|it| it.0 == op.name).map_or("", |it| it.1),
    }
}

const SAME: &str = "the shape of the input";
const BROADCAST: &str = "shapes are broadcast";
const SIZE: &str = "the given size";
const REDUCED: &str =
    "the dimensions of dim are left out, or have size 1 with keepdim=True; without dim all are";
const WITH_INDICES: &str = "values and indices: the dimension dim is left out, or has size 1 with keepdim=True; without dim one value of shape []";
const LOSS: &str = "input and target of one shape (or broadcast); with reduction='none' that shape, else one number of shape []";
const CLASSES: &str = "input [N, C] or [C] and target [N] or [], or [N, C, d...] and [N, d...]; with reduction='none' the shape of the \
                       target without classes, else one number of shape []";
const WINDOWS: &str = "[N, C, H, W] gives [N, C, H', W'] with H' = (H + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down \
                       (up with ceil_mode); N may be absent";
const CONVOLVED: &str = "input [N, C, H, W], weight [O, C / groups, kh, kw], bias [O] give [N, O, H', W'] with H' = (H + 2 padding - \
                         dilation (kh - 1) - 1) / stride + 1, rounded down";
const TRIANGLE: &str = "the shape of the input, [..., N, M]";

/// The rules, sorted by op.
static RULES: &[(&str, &str)] = &[
    ("adaptive_avg_pool2d", "[N, C, H, W] gives [N, C, output_size...]; N may be absent"),
    ("adaptive_avg_pool2d_backward", "the gradient has the shape of the pooled input"),
    ("addbmm", "[B, N, K] @ [B, K, M] gives [N, M]; the first input is broadcast to it"),
    ("addmm", "[N, K] @ [K, M] gives [N, M]; the first input is broadcast to it"),
    ("addmv", "[N, K] @ [K] gives [N]; the first input is broadcast to it"),
    ("addr", "[N] and [M] give [N, M]; the first input is broadcast to it"),
    ("all", REDUCED),
    ("amax", REDUCED),
    ("amin", REDUCED),
    ("any", REDUCED),
    ("arange", "[n] with n = (end - start) / step, rounded up"),
    ("argmax", REDUCED),
    ("argmin", REDUCED),
    ("argsort", SAME),
    ("avg_pool2d", WINDOWS),
    ("avg_pool2d_backward", "the gradient has the shape of the pooled input"),
    ("baddbmm", "[B, N, K] @ [B, K, M] gives [B, N, M]; the first input is broadcast to it"),
    (
        "batch_norm",
        "input [N, C, ...]; mean, variance, weight and bias have shape [C]; the shape of the input",
    ),
    ("bernoulli", SAME),
    ("binary_cross_entropy", LOSS),
    ("binary_cross_entropy_with_logits", LOSS),
    ("bincount", "[N] gives [largest number + 1], or [minlength] if that is more"),
    ("bmm", "[B, N, K] @ [B, K, M] gives [B, N, M]"),
    ("cat", "sizes agree but along dim, where they are added"),
    ("cdist", "[..., P, M] and [..., R, M] give [..., P, R]"),
    ("chunk", "pieces along dim; the last may be smaller"),
    (
        "conv1d",
        "input [N, C, L], weight [O, C / groups, k], bias [O] give [N, O, L'] with L' = (L + 2 padding - dilation (k - 1) - 1) / \
                stride + 1, rounded down",
    ),
    ("conv2d", CONVOLVED),
    ("conv2d_input_grad", "the gradient has the shape of the input of the convolution"),
    ("conv2d_weight_grad", "the gradient has the shape of the weight of the convolution"),
    (
        "conv_transpose2d",
        "input [N, C, H, W], weight [C, O / groups, kh, kw], bias [O] give [N, O, H', W'] with H' = (H - 1) stride - \
                          2 padding + dilation (kh - 1) + output_padding + 1",
    ),
    ("convolution", CONVOLVED),
    ("cosine_similarity", "shapes are broadcast, then the dimension dim is left out"),
    ("count_nonzero", REDUCED),
    ("cross", "shapes are broadcast; size 3 along dim"),
    ("cross_entropy", CLASSES),
    ("cummax", "values and indices of the shape of the input"),
    ("cummin", "values and indices of the shape of the input"),
    ("cumprod", SAME),
    ("cumsum", SAME),
    ("diag", "[N] gives [N + |diagonal|, N + |diagonal|], a matrix gives one diagonal"),
    ("diag_embed", "[..., N] gives [..., N + |offset|, N + |offset|]"),
    ("diagonal", "dim1 and dim2 are left out, and the length of the diagonal comes last"),
    ("dot", "[N] and [N] give one number of shape []"),
    ("dropout", SAME),
    ("dropout_mask", SAME),
    ("embedding", "indices [...] and weight [V, D] give [..., D]"),
    ("eye", "[n, n], or [n, m]"),
    ("full", SIZE),
    ("full_like", SAME),
    ("gather", "the shape of index, which has as many dimensions as the input"),
    ("group_norm", "input [N, C, ...], weight and bias [C]; the shape of the input"),
    ("histc", "[bins]"),
    ("huber_loss", LOSS),
    ("index", "indexed dimensions give way to the broadcast shape of the indices"),
    ("index_add", "the shape of the input; source has the length of index along dim"),
    ("index_put", "the shape of the input; values are broadcast to what is indexed"),
    ("index_select", "the shape of the input, with the length of index along dim"),
    ("kl_div", LOSS),
    ("l1_loss", LOSS),
    (
        "layer_norm",
        "input [..., normalized_shape...], weight and bias of normalized_shape; the shape of the input",
    ),
    ("linear", "input [..., in], weight [out, in], bias [out] give [..., out]"),
    ("linear_scan", SAME),
    ("linspace", "[steps]"),
    ("log_softmax", SAME),
    ("logcumsumexp", SAME),
    ("logsumexp", REDUCED),
    (
        "masked_select",
        "[n], the number of true elements of the mask, which is broadcast with the input",
    ),
    (
        "matmul",
        "[..., N, K] @ [..., K, M] gives [..., N, M]; leading dimensions are broadcast, a vector is a row or a column that is left out",
    ),
    ("max", WITH_INDICES),
    ("max_pool2d", WINDOWS),
    ("max_pool2d_with_indices", "values and indices, each as of max_pool2d"),
    ("mean", REDUCED),
    ("median", WITH_INDICES),
    ("middle", "one number of shape []"),
    ("min", WITH_INDICES),
    ("mm", "[N, K] @ [K, M] gives [N, M]"),
    ("movedim", "the same sizes in another order"),
    ("mse_loss", LOSS),
    ("multinomial", "[..., N] gives [..., num_samples]"),
    ("mv", "[N, K] @ [K] gives [N]"),
    ("nan_to_num", SAME),
    ("nanmedian", WITH_INDICES),
    ("narrow", "the shape of the input, with the given length along dim"),
    ("nll_loss", CLASSES),
    ("nonzero", "[n, number of dimensions], a row for each element that is not 0"),
    ("norm", REDUCED),
    ("normal", "the given size, or the broadcast shape of mean and std"),
    ("normalize", SAME),
    ("one_hot", "[...] gives [..., num_classes]"),
    ("ones", SIZE),
    ("ones_like", SAME),
    ("outer", "[N] and [M] give [N, M]"),
    (
        "pad",
        "the last dimension grows by the first two numbers, the one before by the next two, and so on",
    ),
    ("pick_class", "scores [N, C] and classes [N]: a score per row"),
    ("probabilities", SAME),
    ("prod", REDUCED),
    ("rand", SIZE),
    ("rand_like", SAME),
    ("randint", SIZE),
    ("randn", SIZE),
    ("randn_like", SAME),
    ("randperm", "[n]"),
    ("repeat", "each size times its number; more numbers than dimensions add some in front"),
    (
        "repeat_interleave",
        "the size along dim times repeats; without dim the input is made flat before",
    ),
    ("roll", SAME),
    (
        "scatter",
        "the shape of the input; index is no larger than it but along dim, and no larger than src",
    ),
    (
        "scatter_add",
        "the shape of the input; index is no larger than it but along dim, and no larger than src",
    ),
    ("searchsorted", "the shape of the values that are looked for"),
    ("slice_backward", "the gradient has the shape of what was sliced"),
    ("slice_scatter", "the shape of the input; src has the shape of the slice"),
    ("smooth_l1_loss", LOSS),
    ("softmax", SAME),
    (
        "softmax_cross_entropy",
        "scores [N, C] and classes [N]: a loss per row and what the gradient needs",
    ),
    ("softmax_cross_entropy_backward", "the gradient has the shape of the scores, [N, C]"),
    ("sort", "values and indices of the shape of the input"),
    ("split", "pieces of the given sizes along dim"),
    ("stack", "all of one shape; a new dimension dim has their number"),
    ("standardize", SAME),
    ("std", REDUCED),
    (
        "std_mean",
        "two results: the dimensions of dim are left out, or have size 1 with keepdim=True",
    ),
    ("sum", REDUCED),
    ("t", "[N, M] gives [M, N]; vectors stay"),
    ("take_along_dim", "input and index are broadcast but along dim; the shape of index"),
    (
        "tile",
        "each size times its number, counted from the last; more numbers than dimensions add some in front",
    ),
    ("topk", "values and indices: k along dim"),
    ("tril", TRIANGLE),
    ("triu", TRIANGLE),
    ("unbind", "as many results as the size of dim, which is left out"),
    ("uniform", "the given size, or the broadcast shape of the bounds"),
    ("unique", "[n], the number of different elements"),
    ("var", REDUCED),
    (
        "var_mean",
        "two results: the dimensions of dim are left out, or have size 1 with keepdim=True",
    ),
    ("zeros", SIZE),
    ("zeros_like", SAME),
];

#[test]
fn every_op_has_a_rule_and_no_rule_is_left_over() {
    assert!(RULES.is_sorted_by_key(|it| it.0));
    let without: Vec<&str> =
        engine::ops::all().filter(|it| shape_rule(it).is_empty()).map(|it| it.name).collect();
    assert!(without.is_empty(), "no rule: {without:?}");
    let follows = |name: &str| {
        engine::ops::find(name)
            .is_none_or(|it| it.body.is_elementwise() || matches!(it.body, Body::View(_)))
    };
    let over: Vec<&str> = RULES.iter().map(|it| it.0).filter(|it| follows(it)).collect();
    assert!(over.is_empty(), "needs no rule: {over:?}");
}

/// Where a rule says that the result has the shape of the input, the row says so too.
#[test]
fn what_keeps_its_shape_does_so_in_its_row() {
    use engine::{DType, Meta, Shape, Tensor};
    let shape = Shape::from([2, 3]);
    let input = Tensor::abstract_of(Meta::new(shape.clone(), DType::F32));
    for op in engine::ops::all().filter(|it| [SAME, TRIANGLE].contains(&shape_rule(it))) {
        let tensors = op.params.iter().filter(|it| it.kind.is_tensor()).count();
        let others = op.params.iter().any(|it| !it.kind.is_tensor() && it.default.is_none());
        if tensors != 1 || others || matches!(op.body, Body::Composed(_)) {
            continue;
        }
        let found = engine::apply::infer(op, std::slice::from_ref(&input), &op.default_attrs());
        let Ok(found) = found else { continue };
        assert!(found.iter().all(|it| it.shape == shape), "{}", op.name);
    }
}

#[test]
fn the_rule_of_broadcasting_is_said_in_one_way() {
    let add = engine::ops::find("add").expect("add");
    assert_eq!(shape_rule(add), BROADCAST);
}
