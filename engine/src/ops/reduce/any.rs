//! `any`: whether any element counts as true, over dimensions or altogether.

use smallvec::smallvec;

use super::{count, dims_attr, reduced_shape};
use crate::apply::complex::by_truth;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "any",
    doc: "Whether any element counts as true, over dimensions or altogether.",
    meaning: Meaning::of(|cx| super::counted(cx, |n_true, _| i64::from(n_true > 0))),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.any", run)
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| super::cuda::count(cx, "ng_any"))]),
    grad: Grad::Stops("the result is a truth"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(by_truth), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMax", super::onnx::any),
    aliases: &["oneflow.any"],
    examples: &[
        ("any(tensor([True, False]))", "tensor(True)"),
        ("any(tensor([[1, 2], [0, 0]]), 1)", "tensor([ True, False])"),
        ("any(zeros(0))", "tensor(False)"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(
        reduced_shape(cx.shape(0), &dims, cx.flag(1)),
        super::truth_of(cx.dtype(0))
    )])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    count(cx, |count, _| i64::from(count > 0))
}
