//! `native_attention_backward`: the gradients of query, key and value of `native_attention`, given that of its first result.

use super::attention::{Terms, check_dtypes, checked, meant, sizes};
use super::cuda_attention;
use crate::cpu::attention::{self as kernel, Matrices, Slopes};
use crate::functional::{add, full, matmul, matrix_transpose, mul, neg, squeeze, sub, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface,
};
use crate::{Metas, OpDef, Outputs, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "native_attention_backward",
    doc: "The gradients of query, key and value of native_attention, given that of its first result, its operands and its results.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("query"),
        Param::tensor("key"),
        Param::tensor("value"),
        Param::tensor("output"),
        Param::tensor("log_sums"),
        Param::with("attn_mask", ParamKind::OptTensor, Default::None),
        Param::required("scale", ParamKind::Float),
        Param::with("is_causal", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| {
            let shapes = [cx.shape(1), cx.shape(2), cx.shape(3)];
            sizes(shapes, cx.float(0), cx.flag(1)).flops().saturating_mul(5) / 2
        },
        ..Kernel::new("native_attention_backward.tiles", run).on_cuda_where(
            |cx, it| cuda_attention::takes(cx, it, 1),
            cuda_attention::backward,
            composed,
        )
    }]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "grad and output [..., L, V], queries [..., L, E], keys [..., S, E], values [..., S, V], log sums [..., L], a mask [..., L, S]: gradients of queries, keys and values",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "native_attention_backward(ones(1, 1), zeros(1, 1), tensor([[1.0], [2.0]]), tensor([[1.0], [3.0]]), tensor([[2.0]]), tensor([0.6931472]), scale=1.0)",
            "(tensor([[0.5000]]), tensor([[0.],\n        [0.]]), tensor([[0.5000],\n        [0.5000]]))",
        ),
        (
            "native_attention_backward(ones(1, 1), ones(1, 1), ones(1, 1), ones(1, 1), zeros(1, 1), tensor([-inf]), tensor([[-inf]]), scale=1.0)",
            "(tensor([[0.]]), tensor([[0.]]), tensor([[0.]]))",
        ),
    ],
};

/// With shares `p = exp(scores - log_sums)` and `slopes = p * (grad value^T - sum(grad * output))`: `scale * slopes key`,
/// `scale * slopes^T query` and `p^T grad`.
fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [dy, q, k, v, out, log_sums] = [0, 1, 2, 3, 4, 5].map(|it| cx.input(it).floats());
    let (scores, lead) = (meant(cx, [1, 2, 6]), q.ndim() - 2);
    let at = |batch: &[usize], last: [usize; 2]| [batch, &last].concat();
    let pairs = [&q.shape()[..=lead], &[k.shape()[lead]]].concat();
    let shares = by_index(&pairs, |place| {
        let total = log_sums[&place[..=lead]];
        if total == f64::NEG_INFINITY { 0.0 } else { (scores[place] - total).exp() }
    });
    let slopes = by_index(&pairs, |place| {
        let (batch, row, key) = (&place[..lead], place[lead], place[lead + 1]);
        let each = (0..v.shape()[lead + 1]).map(|it| {
            let by_value = v[&at(batch, [key, it])[..]] - out[&at(batch, [row, it])[..]];
            dy[&at(batch, [row, it])[..]] * by_value
        });
        shares[place] * each.sum::<f64>()
    });
    // The sum over one of the last two places of a product.
    let mixed = |weights: &ndarray::ArrayD<f64>, x: &ndarray::ArrayD<f64>, by_query: bool| {
        let side = if by_query { lead } else { lead + 1 };
        let [n, width] = [pairs[side], x.shape()[lead + 1]];
        by_index(&at(&pairs[..lead], [n, width]), |place| {
            let (batch, row, column) = (&place[..lead], place[lead], place[lead + 1]);
            let each = (0..x.shape()[lead]).map(|it| {
                let pair = if by_query { [row, it] } else { [it, row] };
                weights[&at(batch, pair)[..]] * x[&at(batch, [it, column])[..]]
            });
            each.sum::<f64>()
        })
    };
    let scale = cx.float(0);
    let (dq, dk) = (mixed(&slopes, &k, true) * scale, mixed(&slopes, &q, false) * scale);
    [dq, dk, mixed(&shares, &dy, false)].map(Array::from).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_dtypes(cx, Some(5))?;
    let out = checked(cx, 1, 6)?;
    let fits = *cx.shape(0) == out && *cx.shape(4) == out;
    if !fits || cx.shape(5)[..] != out[..out.rank() - 1] {
        return Err(cx.bad_shapes("gradient and results must have the shapes of the results"));
    }
    Ok([1, 2, 3].map(|it| cx.inputs[it].meta()).into_iter().collect())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let [q, k, v] = [1, 2, 3].map(|it| cx.inputs[it]);
    let sizes = sizes([q.shape(), k.shape(), v.shape()], cx.float(0), cx.flag(1));
    with_float!(cx.op.name, q.dtype(), T => {
        let log_sums = cx.inputs[5].to_slice::<T>();
        let [grad, q, k, v, out] = [0, 1, 2, 3, 4].map(|it| Matrices::<T>::new(&cx.inputs[it]));
        let mask = cx.inputs.get(6).map(Matrices::<T>::new);
        let given = Slopes { q, k, v, out, log_sums: &log_sums, grad, mask };
        let [dq, dk, dv] = cx.outputs else { return Ok(()) };
        let res = [dq.as_mut_slice(), dk.as_mut_slice(), dv.as_mut_slice()];
        Ok(kernel::backward(sizes, &given, res)?)
    })
}

/// The operands, and what the gradients are made of, in other ops.
struct Parts {
    terms: Terms,
    grad: Tensor,
    out: Tensor,
    /// `exp(scores - log_sums)`
    shares: Tensor,
    /// `grad value^T - sum(grad * output)`
    centred: Tensor,
}

impl Parts {
    fn of(given: &[&Tensor], scale: f64, causal: bool) -> Result<Self> {
        let mask = given.get(6).copied();
        let terms = Terms::of([given[1], given[2], given[3]], mask, scale, causal)?;
        let dtype = terms.q.dtype();
        let (grad, out) = (to(given[0], dtype)?, to(given[4], dtype)?);
        let shares = terms.shares(&terms.scores()?, given[5])?;
        let mean = sum(&mul(&grad, &out)?, &[-1], true)?;
        let centred = sub(&matmul(&grad, &matrix_transpose(&terms.v)?)?, &mean)?;
        Ok(Self { terms, grad, out, shares, centred })
    }
}

/// `x^T y`
fn turned(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    matmul(&matrix_transpose(x)?, y)
}

/// By products, where a GPU's kernels do not take the case.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let given: Vec<&Tensor> = cx.inputs.iter().flatten().collect();
    let parts = Parts::of(&given, cx.float(0), cx.flag(1))?;
    let slopes = mul(&mul(&parts.shares, &parts.centred)?, &parts.terms.scale)?;
    let found = [
        matmul(&slopes, &parts.terms.k)?,
        turned(&slopes, &parts.terms.q)?,
        turned(&parts.shares, &parts.grad)?,
    ];
    found.iter().map(|it| to(it, given[1].dtype())).collect()
}

/// With gradients a, b and c of the results, and `h = scale * (a key^T + query b^T)`, which is that of the slopes: the shares get
/// `h * centred + grad c^T`, the scores that times the shares, and `grad value^T` gets `h * shares`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let given: Vec<&Tensor> = (0..cx.n_inputs()).map(|it| cx.input(it)).collect();
    let parts = Parts::of(&given, cx.float(0), cx.flag(1))?;
    let Parts { terms, grad, out, shares, centred } = &parts;
    let of_result = |at: usize, like: &Tensor| match cx.output_grad_of(at)? {
        Some(it) => to(&it, like.dtype()),
        None => full(like.shape(), 0.0, like.dtype()),
    };
    let [a, b, c] = [of_result(0, &terms.q)?, of_result(1, &terms.k)?, of_result(2, &terms.v)?];
    let scaled = |it: &Tensor| mul(it, &terms.scale);
    let across = |x: &Tensor, y: &Tensor| matmul(x, &matrix_transpose(y)?);
    let of_slopes = scaled(&add(&across(&a, &terms.k)?, &across(&terms.q, &b)?)?)?;
    let of_products = mul(&of_slopes, shares)?;
    let of_mean = neg(&sum(&of_products, &[-1], true)?)?;
    let of_shares = add(&mul(&of_slopes, centred)?, &across(grad, &c)?)?;
    let of_scores = mul(&of_shares, shares)?;
    let slopes = mul(shares, centred)?;
    let straight = add(&matmul(&of_products, &terms.v)?, &matmul(shares, &c)?)?;
    let found = [
        add(&straight, &mul(&of_mean, out)?)?,
        scaled(&add(&matmul(&of_scores, &terms.k)?, &matmul(&slopes, &b)?)?)?,
        scaled(&add(&turned(&of_scores, &terms.q)?, &turned(&slopes, &a)?)?)?,
        turned(&of_products, grad)?,
        mul(&of_mean, grad)?,
        neg(&squeeze(&sum(&of_scores, &[-1], true)?, -1)?)?,
        of_scores,
    ];
    found.iter().zip(&given).map(|(it, given)| to(it, given.dtype()).map(Some)).collect()
}
