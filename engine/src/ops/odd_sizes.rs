//! Sizes at which kernels split, pad or go another way: long lines, products and convolutions that fill no tile evenly, windows that
//! reach outside, indices in any order. Each against what the row means.

use smallvec::smallvec;

use super::meanings::check;
use super::tests::{Case, report};
use crate::op::ParamKind;
use crate::test_draws::Draws;
use crate::{Attr, Attrs, DType, Shape, Tensor, ops, oracle};

fn floats(draws: &mut Draws, shape: &[usize]) -> Tensor {
    let shape = Shape::new(shape);
    let one = |_| draws.below(2001) as f64 / 1000.0 - 1.0;
    Tensor::from_vec(&(0..shape.numel()).map(one).collect::<Vec<f64>>(), shape).unwrap()
}

/// Indices into a dimension, also those that count from its end.
fn indices(draws: &mut Draws, shape: &[usize], size: usize, from_end: bool) -> Tensor {
    let shape = Shape::new(shape);
    let shift = if from_end { size } else { 0 };
    let one = |_| draws.below(size + shift) as i64 - shift as i64;
    Tensor::from_vec(&(0..shape.numel()).map(one).collect::<Vec<i64>>(), shape).unwrap()
}

pub(super) fn case(op: &str, inputs: Vec<Tensor>, attrs: Attrs) -> Case {
    let op = ops::find(op).unwrap();
    let needs = vec![false; inputs.len()];
    let inputs = inputs.into_iter().map(Some).collect();
    Case { op, inputs, needs, attrs, outputs: Vec::new(), grads: None }
}

/// The default attributes, and what `dim` is.
pub(super) fn along(op: &str, dim: i64) -> Attrs {
    let row = ops::find(op).unwrap();
    let own = |(param, attr): (&crate::op::Param, Attr)| match param.kind {
        ParamKind::Ints | ParamKind::OptInts if param.name == "dim" => Attr::ints(&[dim]),
        _ if param.name == "dim" => Attr::Int(dim),
        _ if param.name == "k" => Attr::Int(3),
        _ => attr,
    };
    row.attr_params().zip(row.default_attrs()).map(own).collect()
}

fn hold(cases: &[Case], dtypes: &[DType]) {
    let (mut n_ways, mut problems) = (0, Vec::new());
    for case in cases {
        for dtype in dtypes {
            problems.extend(check(case, *dtype, &mut n_ways));
        }
    }
    println!("{} cases, {n_ways} runs", cases.len());
    report(problems);
}

const DTYPES: &[DType] = &[DType::F64, DType::F32, DType::BF16, DType::I32];

#[test]
fn products_that_fill_no_tile() {
    let mut draws = Draws(3);
    let mut cases = Vec::new();
    let sizes = [
        (1, 1, 1),
        (1, 7, 5),
        (9, 1, 4),
        (5, 0, 3),
        (17, 33, 9),
        (1, 70, 65),
        (66, 31, 1),
        (34, 40, 19),
    ];
    for (m, k, n) in sizes {
        let (a, b) = (floats(&mut draws, &[m, k]), floats(&mut draws, &[k, n]));
        cases.push(case("matmul", vec![a.clone(), b], smallvec![]));
        let weight = floats(&mut draws, &[n, k]);
        cases.push(case("linear", vec![a, weight, floats(&mut draws, &[n])], smallvec![]));
        let (a, b) = (floats(&mut draws, &[2, 1, m, k]), floats(&mut draws, &[3, k, n]));
        if m * k * n < 6000 {
            cases.push(case("matmul", vec![a, b], smallvec![]));
        }
    }
    hold(&cases, DTYPES);
}

#[test]
fn convolutions_of_any_steps() {
    let mut draws = Draws(5);
    let mut cases = Vec::new();
    for _ in 0..24 {
        let groups = draws.one_of(&[1, 1, 2, 3]);
        let [batch, c, k] = [1, 1, 1].map(|it| it + draws.below(3));
        let kernel = [0; 2].map(|_| draws.one_of(&[1, 2, 3, 3, 3, 5]));
        let steps = [(1, 3), (0, 3), (1, 2)].map(|(least, n)| {
            Attr::sizes(
                &[0; 2].map(|_| if draws.below(2) == 0 { least } else { least + draws.below(n) }),
            )
        });
        let image = [0; 2].map(|_| 9 + draws.below(5));
        let x = floats(&mut draws, &[batch, c * groups, image[0], image[1]]);
        let w = floats(&mut draws, &[k * groups, c, kernel[0], kernel[1]]);
        let steps: Attrs = steps.into_iter().chain([Attr::Int(groups as i64)]).collect();
        let sized =
            |size: [usize; 2]| [Attr::sizes(&size)].into_iter().chain(steps.clone()).collect();
        let row = &ops::conv::convolution::OP;
        let y = oracle::results(row, &[x.clone(), w.clone()], &steps).unwrap();
        let dy = floats(&mut draws, y[0].shape());
        cases.push(case("conv2d_input_grad", vec![dy.clone(), w.clone()], sized(image)));
        cases.push(case("conv2d_weight_grad", vec![x.clone(), dy], sized(kernel)));
        let bias = floats(&mut draws, &[k * groups]);
        cases.push(case("convolution", vec![x, w, bias], steps));
    }
    hold(&cases, &[DType::F64, DType::F32]);
}

#[test]
fn attention_of_any_size() {
    let mut draws = Draws(19);
    let mut cases = Vec::new();
    let sizes = [
        ([1], 1, 1, 1, 1),
        ([2], 17, 33, 5, 3),
        ([1], 70, 300, 3, 2),
        ([1], 300, 70, 2, 3),
        ([2], 5, 530, 1, 1),
        ([1], 130, 140, 2, 33),
    ];
    for (lead, queries, keys, width, values) in sizes {
        for (masked, causal) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut of = |last: &[usize]| floats(&mut draws, &[&lead[..], last].concat());
            let [q, k, v] = [of(&[queries, width]), of(&[keys, width]), of(&[keys, values])];
            let slopes = of(&[queries, values]);
            let mask = masked.then(|| of(&[queries, keys]));
            let attrs: Attrs = smallvec![Attr::Float(0.7), Attr::Bool(causal)];
            let given: Vec<Tensor> = [q, k, v].into_iter().chain(mask).collect();
            let found = oracle::results(&ops::matrix::native_attention::OP, &given, &attrs);
            let found = found.unwrap().into_iter().map(|it| oracle::tensor_of(&it, DType::F64));
            let mut back: Vec<Tensor> = std::iter::once(slopes).chain(given.clone()).collect();
            back.splice(4..4, found.map(Result::unwrap));
            cases.push(case("native_attention", given, attrs.clone()));
            cases.push(case("native_attention_backward", back, attrs));
        }
    }
    hold(&cases, &[DType::F64, DType::F32]);
}

#[test]
fn windows_that_reach_outside() {
    let mut draws = Draws(11);
    let mut cases = Vec::new();
    for _ in 0..24 {
        let kernel = [0; 2].map(|_| 1 + draws.below(4));
        let stride = [0; 2].map(|_| 1 + draws.below(3));
        let padding = kernel.map(|it| draws.below(it / 2 + 1));
        let [height, width] = [0; 2].map(|_| 8 + draws.below(4));
        let x = floats(&mut draws, &[2, 3, height, width]);
        let flag = |draws: &mut Draws| Attr::Bool(draws.below(2) == 0);
        let ceil = flag(&mut draws);
        let steps = [kernel, stride, padding].map(|it| Attr::sizes(&it));
        let divisor = if draws.below(3) == 0 { Attr::Int(3) } else { Attr::None };
        let own = [ceil.clone(), flag(&mut draws), divisor];
        let means: Attrs = steps.iter().cloned().chain(own).collect();
        let y =
            oracle::results(&ops::conv::avg_pool2d::OP, std::slice::from_ref(&x), &means).unwrap();
        let back = means.iter().cloned().chain([Attr::sizes(x.shape())]).collect();
        cases.push(case("avg_pool2d_backward", vec![floats(&mut draws, y[0].shape())], back));
        cases.push(case("avg_pool2d", vec![x.clone()], means));
        let dilation = Attr::sizes(&[0; 2].map(|_| 1 + draws.below(2)));
        let best = steps.into_iter().chain([dilation, ceil]).collect();
        cases.push(case("max_pool2d_with_indices", vec![x.clone()], best));
        let evenly = Attr::sizes(&[0; 2].map(|_| 1 + draws.below(6)));
        cases.push(case("adaptive_avg_pool2d", vec![x], smallvec![evenly]));
    }
    hold(&cases, &[DType::F64, DType::F32, DType::F16]);
}

/// Rows that go along a dimension.
const ALONG: &[&str] = &[
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "cummax",
    "cummin",
    "cumsum",
    "log_softmax",
    "logcumsumexp",
    "logsumexp",
    "max",
    "mean",
    "min",
    "norm",
    "softmax",
    "sort",
    "std",
    "sum",
    "topk",
    "var",
];

#[test]
fn lines_of_any_length() {
    let mut draws = Draws(13);
    let mut cases = Vec::new();
    for op in ALONG {
        for (shape, dim) in [(&[3, 1037][..], 1), (&[1037, 3], 0), (&[5, 67, 9], 1)] {
            cases.push(case(op, vec![floats(&mut draws, shape)], along(op, dim)));
        }
    }
    hold(&cases, DTYPES);
    // So long that threads share a line.
    let long = |op: &&str| case(op, vec![floats(&mut draws, &[2, 70_001])], along(op, 1));
    let cases: Vec<Case> = ALONG.iter().map(long).collect();
    let (mut n_ways, mut problems) = (0, Vec::new());
    for case in &cases {
        problems.extend(super::meanings::check_plain(case, DType::F32, &mut n_ways));
    }
    report(problems);
}

#[test]
fn indices_in_any_order() {
    let mut draws = Draws(17);
    let mut cases = Vec::new();
    for _ in 0..12 {
        let sizes = [0; 3].map(|_| 2 + draws.below(6));
        let dim = draws.below(3);
        let x = floats(&mut draws, &sizes);
        let part = sizes.map(|it| 1 + draws.below(it));
        let index = indices(&mut draws, &part, sizes[dim], false);
        let attrs: Attrs = smallvec![Attr::Int(dim as i64)];
        cases.push(case("gather", vec![x.clone(), index.clone()], attrs.clone()));
        let src = floats(&mut draws, &sizes);
        for op in ["scatter", "scatter_add"] {
            cases.push(case(op, vec![x.clone(), index.clone(), src.clone()], attrs.clone()));
        }
        let lines = [sizes[0], sizes[1], 1 + draws.below(9)];
        let to = indices(&mut draws, &lines, sizes[2], false);
        let inputs = vec![x.clone(), to, floats(&mut draws, &lines)];
        cases.push(case("scatter_add", inputs, smallvec![Attr::Int(2)]));
        for reduce in ["sum", "prod", "mean", "amax", "amin"] {
            let includes_self = Attr::Bool(draws.below(2) == 0);
            let attrs = smallvec![Attr::Int(dim as i64), Attr::Str(reduce), includes_self];
            cases.push(case("scatter_reduce", vec![x.clone(), index.clone(), src.clone()], attrs));
        }
        let n = 1 + draws.below(9);
        let places = indices(&mut draws, &[n], sizes[dim], false);
        cases.push(case("index_select", vec![x.clone(), places.clone()], attrs.clone()));
        let mut shape = sizes;
        shape[dim] = n;
        cases.push(case("index_add", vec![x.clone(), places, floats(&mut draws, &shape)], attrs));
        let rows = indices(&mut draws, &[2, 1], sizes[0], true);
        let columns = indices(&mut draws, &[3], sizes[1], true);
        let values = floats(&mut draws, &[3, sizes[2]]);
        cases.push(case("index", vec![x.clone(), rows.clone(), columns.clone()], smallvec![]));
        let accumulate = Attr::Bool(draws.below(2) == 0);
        cases.push(case("index_put", vec![x, values, rows, columns], smallvec![accumulate]));
    }
    // So many lines that threads share them.
    let (x, to) = (floats(&mut draws, &[70, 400]), indices(&mut draws, &[70, 350], 400, false));
    let inputs = vec![x, to, floats(&mut draws, &[70, 350])];
    cases.push(case("scatter_add", inputs, smallvec![Attr::Int(1)]));
    hold(&cases, DTYPES);
}

#[test]
fn channels_of_any_size() {
    let mut draws = Draws(23);
    let mut cases = Vec::new();
    for shape in
        [&[9, 1][..], &[17, 600], &[5, 70, 1], &[2, 3, 7], &[1, 2, 3, 11], &[0, 3], &[0, 3, 5]]
    {
        let x = floats(&mut draws, shape);
        let [weight, bias] = [0, 1].map(|_| floats(&mut draws, &shape[1..2]));
        let eps = Attr::Float(0.1);
        let found = oracle::results(
            &ops::norm::native_batch_norm::OP,
            std::slice::from_ref(&x),
            &smallvec![eps.clone()],
        );
        let found = found.unwrap().into_iter().map(|it| oracle::tensor_of(&it, DType::F64));
        let found: Vec<Tensor> = found.map(Result::unwrap).collect();
        let mut back = vec![floats(&mut draws, shape), x.clone()];
        back.extend(found[1..].iter().cloned());
        back.push(weight.clone());
        let attrs: Attrs = smallvec![eps.clone(), Attr::Bool(true)];
        cases.push(case("native_batch_norm_backward", back, attrs));
        cases.push(case("native_batch_norm", vec![x, weight, bias], smallvec![eps]));
    }
    hold(&cases, &[DType::F64, DType::F32]);
}
