//! `var`: the variance over dimensions, or of all elements: squared distances from the mean, divided by their number less `correction`.

use crate::apply::complex::added_up;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface, shapes,
};
use crate::{OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "var",
    doc: "The variance over dimensions, or of all elements: squared distances from the mean, divided by their number less `correction`.",
    meaning: Meaning::of(|cx| super::spreads(cx, |variance| variance)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("correction", ParamKind::OptFloat, Default::Int(1)),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: super::infer_variances,
    body: Body::Kernels(&[Kernel::new("reduce.var", run)
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| super::cuda::spread(cx, "ng_spread"))]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: shapes::REDUCED,
        complex: Some(|cx| Ok(smallvec::smallvec![added_up(cx)?])),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceMean", super::onnx::var),
    aliases: &["megengine.functional.var", "oneflow.var"],
    examples: &[
        ("var(tensor([1.0, 2.0, 4.0]))", "tensor(2.3333)"),
        ("var(tensor([[1.0, 2.0], [3.0, 5.0]]), 1, correction=0)", "tensor([0.2500, 1.0000])"),
        ("var(tensor([1.0]))", "tensor(nan)"),
    ],
};

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    super::variances(cx, |variance| variance)
}

/// `dx = dy * 2 * (x - mean(x)) / (n - correction)`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(super::variance_grad(cx, &cx.output_grad()?)?)])
}
