//! `log_softmax_backward`: the gradient of log_softmax along the last dimension, from that of its result and the result.

use crate::cpu::softmax as kernel;
use crate::functional::{exp, mul, neg, sub, sum};
use crate::meaning::{Array, Meaning, MeaningCx, over};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves, Surface, shapes,
};
use crate::{Metas, OpDef, Result, Tensor, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "log_softmax_backward",
    doc: "The gradient of log_softmax along the last dimension, given that of its result, and the result: `grad - exp(output) * sum(grad)`.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("grad"), Param::tensor("output")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[
        Kernel::new("log_softmax_backward.rows", run).on_cuda(super::cuda::log_softmax_backward)
    ]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "log_softmax_backward(tensor([1.0, 0.0]), tensor([-0.6931472, -0.6931472]))",
            "tensor([ 0.5000, -0.5000])",
        ),
        (
            "log_softmax_backward(tensor([[1.0, 2.0], [0.0, 0.5]]), tensor([[0.0, -inf], [-inf, 0.0]]))",
            "tensor([[-2.0000,  2.0000],\n        [ 0.0000,  0.0000]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (dy, y) = (cx.input(0).floats(), cx.input(1).floats());
    let sums = over(&dy, &[dy.ndim() - 1], true, |line: &[f64]| line.iter().sum::<f64>());
    (&dy - &(y.mapv(f64::exp) * &sums)).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0) != cx.shape(1) {
        return Err(cx.bad_shapes("the gradient has the shape of the result"));
    }
    if cx.shape(0).rank() == 0 {
        return Err(cx.bad_shapes("there is no dimension"));
    }
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let n = cx.inputs[0].shape().last().copied().unwrap_or(1);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (dy, y) = (cx.inputs[0].to_slice::<T>(), cx.inputs[1].to_slice::<T>());
        kernel::log_backward([&*dy, &*y], n, cx.outputs[0].as_mut_slice());
        Ok(())
    })
}

/// For a gradient h: `ddy = h - sum(h * exp(y))`, `dy = -h * exp(y) * sum(dy)`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, y, h) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let weighted = mul(&h, &exp(y)?)?;
    let mut res = vec![None; 2];
    if cx.needs(0) {
        res[0] = Some(sub(&h, &sum(&weighted, &[-1], true)?)?);
    }
    if cx.needs(1) {
        res[1] = Some(neg(&mul(&weighted, &sum(dy, &[-1], true)?)?)?);
    }
    Ok(res)
}
