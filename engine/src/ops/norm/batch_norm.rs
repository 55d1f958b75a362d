//! `batch_norm`: standardised per channel (dimension 1), with the running statistics or, in training, those of the batch; then times weight, plus bias.

use smallvec::{SmallVec, smallvec};

use super::affine;
use crate::functional::{add, div, mul, neg, num, sqrt};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, apply, functional, rules};

pub static OP: OpDef = OpDef {
    name: "batch_norm",
    doc: "Standardised per channel (dimension 1), with the running statistics or, in training, those of the batch; then times weight, plus bias. In training it also gives the mean of the batch and its unbiased variance, from which the caller updates the running statistics.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("running_mean", ParamKind::OptTensor, Default::None),
        Param::with("running_var", ParamKind::OptTensor, Default::None),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::with("training", ParamKind::Bool, Default::Bool(false)),
        Param::with("momentum", ParamKind::Float, Default::Float(0.1)),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::OfParts(&DTypeRule::FloatsLikeFirst),
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "NativeBatchNormBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "input [N, C, ...]; mean, variance, weight and bias have shape [C]; the shape of the input",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[
        "torch.batch_norm",
        "megengine.functional.batch_norm",
        "oneflow.nn.functional.batch_norm",
    ],
    examples: &[
        (
            "batch_norm(tensor([[1.0, 2.0], [3.0, 5.0]]), tensor([1.0, 1.0]), tensor([4.0, 1.0]))",
            "tensor([[0.0000, 1.0000],\n        [1.0000, 4.0000]])",
        ),
        (
            "batch_norm(tensor([[1.0], [3.0]]), tensor([0.0]), tensor([1.0]), tensor([2.0]), tensor([1.0]))",
            "tensor([[3.0000],\n        [7.0000]])",
        ),
        (
            "batch_norm(tensor([[1.0], [3.0]]), training=True)",
            "tensor([[-1.0000],\n        [ 1.0000]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let Some(&n_channels) = input.shape().get(1) else {
        let rule = "channels are dimension 1, so at least two dimensions are needed".into();
        return Err(Error::Shapes { op: cx.op.name, shapes: vec![input.shape().clone()], rule });
    };
    for given in cx.inputs[1..].iter().flatten() {
        if given.shape()[..] != [n_channels] {
            let rule = format!("statistics, weight and bias need shape [{n_channels}]");
            let shapes = vec![input.shape().clone(), given.shape().clone()];
            return Err(Error::Shapes { op: cx.op.name, shapes, rule });
        }
    }
    let shape: Shape = (1..input.rank()).map(|it| if it == 1 { n_channels } else { 1 }).collect();
    if cx.flag(0) { batch(cx, input, n_channels) } else { running(cx, input, &shape) }
}

fn batch(cx: &ComposedCx<'_>, input: &Tensor, n_channels: usize) -> Result<Outputs> {
    let n = input.numel().checked_div(n_channels).unwrap_or(0);
    if n < 2 {
        let rule = "training needs more than one value per channel".into();
        return Err(Error::Unequal { op: cx.op.name, shapes: vec![input.shape().clone()], rule });
    }
    let mut inputs: SmallVec<[Tensor; 3]> = smallvec![input.clone()];
    inputs.extend(parameters(cx, n_channels)?);
    let parts =
        apply(&super::native_batch_norm::OP, &inputs, &smallvec![Attr::Float(cx.float(2))])?;
    let [mean, variance] = [1, 2].map(|it| parts[it].detach());
    let unbiased = mul(&variance, &num(n as f64 / (n - 1) as f64))?;
    Ok(smallvec![parts[0].clone(), mean, unbiased])
}

/// Weight and bias; a bias alone gets a weight of ones.
fn parameters(cx: &ComposedCx<'_>, n_channels: usize) -> Result<SmallVec<[Tensor; 2]>> {
    let (weight, bias) = (cx.opt_input(3).cloned(), cx.opt_input(4).cloned());
    let ones = |bias: &Tensor| functional::full(&Shape::from([n_channels]), 1.0, bias.dtype());
    let weight = weight.map(Ok).or_else(|| bias.as_ref().map(ones));
    weight.into_iter().chain(bias.map(Ok)).collect()
}

/// `x * s + (bias - mean * s)` with `s = weight / sqrt(var + eps)`.
fn running(cx: &ComposedCx<'_>, input: &Tensor, shape: &Shape) -> Result<Outputs> {
    let (Some(mean), Some(variance)) = (cx.opt_input(1), cx.opt_input(2)) else {
        let problem = "must be True when there are no running statistics".into();
        return Err(Error::Attr { op: cx.op.name, name: "training", problem });
    };
    let wide = |it: &Tensor| functional::to(it, it.dtype().computed());
    let deviation = sqrt(&add(&wide(variance)?, &num(cx.float(2)))?)?;
    let scale = match cx.opt_input(3) {
        Some(weight) => div(&wide(weight)?, &deviation)?,
        None => div(&num(1.0), &deviation)?,
    };
    let shift = neg(&mul(&wide(mean)?, &scale)?)?;
    let shift = match cx.opt_input(4) {
        Some(bias) => add(&wide(bias)?, &shift)?,
        None => shift,
    };
    let y = affine(wide(input)?, Some(&scale), Some(&shift), shape)?;
    Ok(smallvec![functional::to(&y, input.dtype())?])
}
