//! `count_nonzero`: how many elements are not zero, over dimensions or altogether.

use smallvec::smallvec;

use super::{count, dims_attr, reduced_shape};
use crate::apply::complex::by_truth;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{DType, Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "count_nonzero",
    doc: "How many elements are not zero, over dimensions or altogether.",
    meaning: Meaning::of(|cx| super::counted(cx, |n_true, _| n_true)),
    params: &[Param::tensor("input"), Param::with("dim", ParamKind::OptInts, Default::None)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("reduce.count_nonzero", run)
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| super::cuda::count(cx, "ng_count"))]),
    grad: Grad::Stops("counts are whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, complex: Some(by_truth), ..Surface::PLAIN },
    onnx: Onnx::written("ReduceSum", super::onnx::count_nonzero),
    aliases: &[],
    examples: &[
        ("count_nonzero(tensor([1, 0, 2]))", "tensor(2)"),
        ("count_nonzero(tensor([[1.0, 0.0], [2.0, 3.0]]), 1)", "tensor([1, 2])"),
        ("count_nonzero(tensor([0.0, float(\"nan\")]))", "tensor(1)"),
    ],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, false), DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    count(cx, |count, _| count)
}
