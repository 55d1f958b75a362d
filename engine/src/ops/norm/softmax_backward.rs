//! `softmax_backward`: the gradient of softmax, from that of its result and the result.

use super::default_dim;
use crate::cpu::{softmax as kernel, strided};
use crate::functional::{mul, sub, sum};
use crate::meaning::{Array, Meaning, MeaningCx, over};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Metas, OpDef, Result, Tensor, apply_one, rules, with_float};

pub static OP: OpDef = OpDef {
    name: "softmax_backward",
    doc: "The gradient of softmax along a dimension, given that of its result, and the result.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("output"),
        Param::required("dim", ParamKind::Int),
    ],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[
        Kernel::new("softmax_backward.rows", run).on_cuda(super::cuda::softmax_backward)
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
            "softmax_backward(tensor([1.0, 0.0]), tensor([0.5, 0.5]), 0)",
            "tensor([ 0.2500, -0.2500])",
        ),
        (
            "softmax_backward(tensor([[1.0, 2.0], [0.0, 3.0]]), tensor([[0.25, 0.5], [0.75, 0.5]]), 0)",
            "tensor([[ 0.1875, -0.2500],\n        [-0.1875,  0.2500]])",
        ),
    ],
};

/// `y * (dy - sum(dy * y))`.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (dy, y) = (cx.input(0).floats(), cx.input(1).floats());
    let weighted = &dy * &y;
    let dims: &[usize] = if y.ndim() == 0 { &[] } else { &[cx.dim(0, y.ndim())] };
    let sums = over(&weighted, dims, true, |line: &[f64]| line.iter().sum::<f64>());
    (&weighted - &(&y * &sums)).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0) != cx.shape(1) {
        return Err(cx.bad_shapes("the gradient has the shape of the result"));
    }
    resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    rules::same_as_input(cx)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let shape = cx.inputs[0].shape();
    let dim = default_dim(cx.op.name, cx.attrs, shape.rank())?;
    let (_, n, inner) = strided::around(shape, dim);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (dy, y) = (cx.inputs[0].to_slice::<T>(), cx.inputs[1].to_slice::<T>());
        kernel::backward([&*dy, &*y], (n, inner), cx.outputs[0].as_mut_slice());
        Ok(())
    })
}

/// For a gradient h: `ddy = y * (h - sum(h * y))`, `dy = h * (dy - sum(dy * y)) - dy * sum(h * y)`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, y, h) = (cx.input(0), cx.input(1), cx.output_grad()?);
    let mut res = vec![None; 2];
    if cx.needs(0) {
        res[0] = Some(apply_one(&OP, &[h.clone(), y.clone()], cx.attrs)?);
    }
    if cx.needs(1) {
        let total = |x: &Tensor| match y.rank() {
            0 => mul(x, y),
            _ => sum(&mul(x, y)?, &[cx.int(0)], true),
        };
        let straight = mul(&h, &sub(dy, &total(dy)?)?)?;
        res[1] = Some(sub(&straight, &mul(dy, &total(&h)?)?)?);
    }
    Ok(res)
}
