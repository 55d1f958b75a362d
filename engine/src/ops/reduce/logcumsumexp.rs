//! `logcumsumexp`: the logarithm of the running sum of exponentials along a dimension.

use smallvec::smallvec;

use super::cumprod::entered;
use super::running::{self, Running};
use crate::cuda::source::computed;
use crate::functional::{exp, flip, mul, slice, sub};
use crate::meaning::{Array, Meaning, MeaningCx, log_sum_exp};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, Kernel, Onnx, Param, ParamKind, Saves, Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{Attr, OpDef, Result, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "logcumsumexp",
    doc: "The logarithm of the running sum of exponentials along a dimension, safe from overflow.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("dim", ParamKind::Int)],
    dtypes: DTypeRule::FloatsToSame,
    infer: running::infer,
    body: Body::Kernels(&[Kernel::new("reduce.logcumsumexp", |cx| {
        running::run(cx, Running::LogSum)
    })
    .on_cuda(|cx| super::cuda::scan(cx, "ng_exponentials", computed(cx.outputs[0].dtype())))]),
    grad: Grad::Rule(grad, Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("logcumsumexp(tensor([0.0, 0.0, 1.0]), 0)", "tensor([0.0000, 0.6931, 1.5514])"),
        ("logcumsumexp(tensor([1000.0, 1000.0]), 0)", "tensor([1000.0000, 1000.6932])"),
        (
            "logcumsumexp(tensor([[-inf, 0.0], [1.0, nan]]), 1)",
            "tensor([[-inf, 0.],\n        [1., nan]])",
        ),
    ],
};

/// What comes before is one number already: `log(exp(a) + exp(b))`.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    running::meaning(cx, &cx.input(0).floats(), |a, b| log_sum_exp(&[a, b])).into()
}

/// `dx[k] = exp(x[k] - y[k]) * from[k]` with `from[k] = dy[k] + exp(y[k] - y[k + 1]) * from[k + 1]`: no exponent is positive.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, y, dy) = (cx.input(0), cx.output(0), cx.output_grad()?);
    if x.rank() == 0 || x.numel() == 0 {
        return Ok(vec![Some(dy)]);
    }
    let dim = resolve_dim(cx.op.name, cx.int(0), x.rank())?;
    let (size, dim) = (x.shape()[dim] as i64, dim as i64);
    let steps = sub(&slice(y, dim, 0, size - 1, 1)?, &slice(y, dim, 1, size, 1)?)?;
    let factors = entered(&flip(&exp(&steps)?, &[dim])?, dim, 0.0)?;
    let inputs = [factors, flip(&dy, &[dim])?];
    let from = apply_one(&super::linear_scan::OP, &inputs, &smallvec![Attr::Int(dim)])?;
    Ok(vec![Some(mul(&exp(&sub(x, y)?)?, &flip(&from, &[dim])?)?)])
}
