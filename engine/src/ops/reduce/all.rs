//! `all`: whether all elements count as true, over dimensions or altogether.

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
    name: "all",
    doc: "Whether all elements count as true, over dimensions or altogether. Of nothing it is true.",
    meaning: Meaning::of(|cx| super::counted(cx, |n_true, n| i64::from(n_true == n))),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.all", run)
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| super::cuda::count(cx, "ng_all"))]),
    grad: Grad::Stops("the result is a truth"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(by_truth), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMin", super::onnx::all),
    aliases: &["oneflow.all"],
    examples: &[
        ("all(tensor([True, False]))", "tensor(False)"),
        ("all(tensor([[1, 2], [0, 0]]), 1)", "tensor([ True, False])"),
        ("all(zeros(0))", "tensor(True)"),
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
    count(cx, |count, n| i64::from(count == n))
}
