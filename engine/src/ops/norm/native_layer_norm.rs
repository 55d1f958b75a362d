//! `native_layer_norm`: the input less its mean, divided by its deviation, over the last dimensions, which have `normalized_shape`; times weight, plus bias.

use ndarray::ArrayD;
use smallvec::smallvec;

use crate::cpu::layer_norm;
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, ints, shapes,
};
use crate::ops::reduce::near;
use crate::{Attr, Attrs, DType, Metas, OpDef, Result, Tensor, apply, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "native_layer_norm",
    doc: "The input less its mean, divided by its deviation, over the last dimensions, which have `normalized_shape`; times weight, plus bias. A bias needs a weight.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::required("normalized_shape", ParamKind::Ints),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsLikeFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("native_layer_norm.rows", run)
        .finishing()
        .with_prologue(prologue)
        .on_cuda(super::cuda::layer_norm)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::written("LayerNormalization", super::onnx::layer_norm),
    aliases: &[],
    examples: &[
        (
            "native_layer_norm(tensor([1.0, 3.0]), tensor([2.0, 2.0]), tensor([0.0, 1.0]), normalized_shape=(2,), eps=0.0)",
            "tensor([-2.,  3.])",
        ),
        (
            "native_layer_norm(tensor([[1.0, 3.0], [5.0, 5.0]]), normalized_shape=(2,))",
            "tensor([[-1.0000,  1.0000],\n        [ 0.0000,  0.0000]])",
        ),
    ],
};

/// Means of lines of `dims`, of which the rest is left.
pub(super) fn mean_of(x: &ArrayD<f64>, dims: &[usize]) -> ArrayD<f64> {
    over(x, dims, true, |all| f64::total(all) / all.len() as f64)
}

/// The standardised input and the reciprocal of its deviation.
pub(super) fn standard(x: &ArrayD<f64>, dims: &[usize], eps: f64) -> [ArrayD<f64>; 2] {
    let centred = x - &mean_of(x, dims);
    let scale = mean_of(&centred.mapv(|it| it * it), dims).mapv(|it| 1.0 / (it + eps).sqrt());
    [&centred * &scale, scale]
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0).floats();
    let dims: Vec<usize> = (x.ndim() - cx.sizes(0).len()..x.ndim()).collect();
    let [mut y, _] = standard(&x, &dims, cx.float(1));
    if let Some(weight) = cx.inputs.get(1) {
        y *= &weight.floats();
    }
    if let Some(bias) = cx.inputs.get(2) {
        y += &bias.floats();
    }
    y.into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_sizes(cx, 0, 1)?;
    rules::same_as_input(cx)
}

/// Checks that operand `idx` ends in the normalized shape, and that those from `parameter` on have it.
pub(super) fn check_sizes(cx: &InferCx<'_>, idx: usize, parameter: usize) -> Result<()> {
    let sizes = cx.ints(0).unwrap_or_default();
    let is = |it: &[usize]| it.iter().map(|&it| it as i64).eq(sizes.iter().copied());
    let rank = cx.shape(idx).rank();
    let ends = rank.checked_sub(sizes.len()).is_some_and(|lead| is(&cx.shape(idx)[lead..]));
    if sizes.is_empty() || !ends {
        let rule = format!("the input must end in the normalized shape {:?}", sizes.as_slice());
        return Err(cx.bad_shapes(rule));
    }
    if cx.inputs.iter().skip(parameter).any(|it| !is(it.shape())) {
        let rule = format!("weight and bias must have the shape {:?}", sizes.as_slice());
        return Err(cx.bad_shapes(rule));
    }
    Ok(())
}

/// Elements of a row.
pub(super) fn row_of(attrs: &Attrs) -> usize {
    ints(attrs, 0).unwrap_or_default().iter().map(|&it| it as usize).product()
}

fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    near(row_of(cx.attrs)).then(|| cx.dtype(0).computed())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, eps) = (cx.operand(), cx.float(1));
    let n = row_of(cx.attrs);
    with_float!(cx.op.name, input.dtype(), T => {
        let parameters = [1, 2].map(|it| cx.inputs.get(it).map(|it| it.to_slice::<T>()));
        let [weight, bias] = &parameters;
        let y = cx.outputs[0].as_mut_slice();
        let parameters = [weight.as_deref(), bias.as_deref()];
        layer_norm::forward(&input.pieces::<T>(), n, parameters, eps, y, cx.part);
        Ok(())
    })
}

/// By `native_layer_norm_backward`, which also adds up those of weight and bias where they are wanted.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let wanted = (1..cx.n_inputs()).any(|it| cx.needs(it));
    let inputs: Vec<Tensor> = [cx.output_grad()?, cx.input(0).clone()]
        .into_iter()
        .chain((cx.n_inputs() > 1).then(|| cx.input(1).clone()))
        .collect();
    let attrs = smallvec![cx.attrs[0].clone(), Attr::Float(cx.float(1)), Attr::Bool(wanted)];
    let found = apply(&super::native_layer_norm_backward::OP, &inputs, &attrs)?;
    let mut res: Vec<Option<Tensor>> = found.into_iter().map(Some).collect();
    res.resize(cx.n_inputs(), None);
    Ok(res)
}
