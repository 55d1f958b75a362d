//! `native_attention`: values averaged for each query, by the softmax of its products with the keys; also the logarithms of the sums in it.

use smallvec::smallvec;

use super::attention::{Terms, check_dtypes, checked, meant, sizes};
use super::cuda_attention;
use crate::cpu::attention::{self as kernel, Matrices};
use crate::functional::{add, logsumexp, matmul, matrix_transpose, mul, sub, sum, to, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx, by_index, log_sum_exp};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface,
};
use crate::{Meta, Metas, OpDef, Outputs, Result, Shape, Tensor, apply, with_float};

pub static OP: OpDef = OpDef {
    name: "native_attention",
    doc: "`softmax(query @ key.mT * scale + attn_mask) @ value`, 0 for queries that see nothing; also the logarithms of the sums of exponentials. With `is_causal` query i sees the first i + 1 keys.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("query"),
        Param::tensor("key"),
        Param::tensor("value"),
        Param::with("attn_mask", ParamKind::OptTensor, Default::None),
        Param::required("scale", ParamKind::Float),
        Param::with("is_causal", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| attention_of(cx).flops(),
        ..Kernel::new("native_attention.tiles", run).on_cuda_where(
            |cx, it| cuda_attention::takes(cx, it, 0),
            cuda_attention::forward,
            composed,
        )
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "ScaledDotProductFlashAttentionForCpuBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "queries [..., L, E], keys [..., S, E], values [..., S, V], a mask [..., L, S]: [..., L, V] and [..., L]",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Softmax", super::onnx::attention),
    aliases: &[],
    examples: &[
        (
            "native_attention(tensor([[1.0, 0.0]]), tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([[1.0], [2.0]]), scale=1.0)",
            "(tensor([[1.2689]]), tensor([1.3133]))",
        ),
        (
            "native_attention(ones(2, 1), ones(2, 1), tensor([[1.0], [3.0]]), scale=1.0, is_causal=True)",
            "(tensor([[1.],\n        [2.]]), tensor([1.0000, 1.6931]))",
        ),
        (
            "native_attention(ones(1, 1), ones(2, 1), ones(2, 1), tensor([[-inf, -inf]]), scale=1.0)",
            "(tensor([[0.]]), tensor([-inf]))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let (scores, v) = (meant(cx, [0, 1, 3]), cx.input(2).floats());
    let lead = v.ndim() - 2;
    let (queries, keys) = (&scores.shape()[..=lead], scores.shape()[lead + 1]);
    let score = |query: &[usize], key: usize| scores[&[query, &[key]].concat()[..]];
    let log_sums = by_index(queries, |query| {
        log_sum_exp(&(0..keys).map(|key| score(query, key)).collect::<Vec<f64>>())
    });
    let out = by_index(&[queries, &[v.shape()[lead + 1]]].concat(), |at| {
        let (query, total) = (&at[..=lead], log_sums[&at[..=lead]]);
        (0..keys).filter(|_| total != f64::NEG_INFINITY).fold(0.0, |sum, key| {
            let value = v[&[&at[..lead], &[key, at[lead + 1]]].concat()[..]];
            sum + (score(query, key) - total).exp() * value
        })
    });
    [out, log_sums].map(Array::from).into()
}

fn attention_of(cx: &InferCx<'_>) -> kernel::Sizes {
    sizes([cx.shape(0), cx.shape(1), cx.shape(2)], cx.float(0), cx.flag(1))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_dtypes(cx, None)?;
    let (out, dtype) = (checked(cx, 0, 3)?, cx.dtype(0));
    let sums = Shape::new(&out[..out.rank() - 1]);
    Ok(smallvec![Meta::new(out, dtype), Meta::new(sums, dtype.computed())])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let [q, k, v] = [0, 1, 2].map(|it| cx.inputs[it]);
    let sizes = sizes([q.shape(), k.shape(), v.shape()], cx.float(0), cx.flag(1));
    with_float!(cx.op.name, q.dtype(), T => {
        let [q, k, v] = [q, k, v].map(|it| Matrices::<T>::new(&it));
        let mask = cx.inputs.get(3).map(Matrices::<T>::new);
        let [out, sums] = cx.outputs else { return Ok(()) };
        let (out, sums) = (out.as_mut_slice(), sums.as_mut_slice());
        Ok(kernel::forward(sizes, [&q, &k, &v], mask.as_ref(), out, sums)?)
    })
}

/// By products, where a GPU's kernel does not take the case.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let given = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    let terms = Terms::of(given, cx.opt_input(3), cx.float(0), cx.flag(1))?;
    let scores = terms.scores()?;
    let log_sums = logsumexp(&scores, -1)?;
    let out = matmul(&terms.shares(&scores, &log_sums)?, &terms.v)?;
    Ok(smallvec![to(&out, given[0].dtype())?, log_sums])
}

/// By `native_attention_backward`; what the mask and the sums get is made of other ops.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, of_sums) = (cx.output_grad_of(0)?, cx.output_grad_of(1)?);
    let mut res = vec![None; cx.n_inputs()];
    if let Some(dy) = &dy {
        let given = [dy, cx.input(0), cx.input(1), cx.input(2), cx.output(0), cx.output(1)];
        let mut inputs: Vec<Tensor> = given.into_iter().cloned().collect();
        inputs.extend((cx.n_inputs() > 3).then(|| cx.input(3).clone()));
        let found = apply(&super::native_attention_backward::OP, &inputs, cx.attrs)?;
        res.iter_mut().zip(found).for_each(|(slot, it)| *slot = Some(it));
    }
    if of_sums.is_some() || (cx.n_inputs() > 3 && cx.needs(3)) {
        rest(cx, dy.as_ref(), of_sums.as_ref(), &mut res)?;
    }
    Ok(res)
}

/// Adds what comes by the sums, whose gradient with respect to the scores are the shares; and sets the gradient of the mask.
fn rest(
    cx: &GradCx<'_>,
    dy: Option<&Tensor>,
    of_sums: Option<&Tensor>,
    res: &mut [Option<Tensor>],
) -> Result<()> {
    let given = [cx.input(0), cx.input(1), cx.input(2)];
    let mask = (cx.n_inputs() > 3).then(|| cx.input(3));
    let terms = Terms::of(given, mask, cx.float(0), cx.flag(1))?;
    let shares = terms.shares(&terms.scores()?, cx.output(1))?;
    let mut all = None;
    if let Some(of_sums) = of_sums {
        let slopes = mul(&shares, &unsqueeze(of_sums, -1)?)?;
        let scaled = mul(&slopes, &terms.scale)?;
        let more = [matmul(&scaled, &terms.k)?, matmul(&matrix_transpose(&scaled)?, &terms.q)?];
        for (at, more) in more.into_iter().enumerate() {
            let sum = match &res[at] {
                Some(it) => add(&to(it, more.dtype())?, &more)?,
                None => more,
            };
            res[at] = Some(to(&sum, given[at].dtype())?);
        }
        all = Some(slopes);
    }
    let Some(mask) = mask else { return Ok(()) };
    if let Some(dy) = dy {
        let (dy, out) = (to(dy, shares.dtype())?, to(cx.output(0), shares.dtype())?);
        let mean = sum(&mul(&dy, &out)?, &[-1], true)?;
        let slopes = mul(&shares, &sub(&matmul(&dy, &matrix_transpose(&terms.v)?)?, &mean)?)?;
        all = Some(all.map_or(Ok(slopes.clone()), |it| add(&it, &slopes))?);
    }
    res[3] = all.map(|it| to(&it, mask.dtype())).transpose()?;
    Ok(())
}
