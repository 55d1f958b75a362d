//! `amin`: the smallest element over dimensions, or of all elements; NaN when there is one.

use super::cuda::{Fold, over_dims};
use super::extremes::{self, Side};
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Grad, Kernel, Onnx, Param, ParamKind, Saves, Surface, shapes,
};

pub static OP: OpDef = OpDef {
    name: "amin",
    doc: "The smallest element over dimensions, or of all elements; NaN when there is one. Equal smallest elements share the gradient.",
    meaning: Meaning::of(|cx| extremes::meaning_over(cx, Side::Smallest)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInts, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_over,
    body: Body::Kernels(&[Kernel::new("reduce.amin", |cx| extremes::run_over(cx, Side::Smallest))
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| over_dims(cx, 0, &Fold::best("ng_smallest", cx.dtype(0))))]),
    grad: Grad::Rule(|cx| extremes::grad_over(cx), Saves::Both),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMin", super::onnx::amin),
    aliases: &["megengine.functional.min", "oneflow.amin"],
    examples: &[
        ("amin(tensor([1.0, 5.0, -2.0]))", "tensor(-2.)"),
        ("amin(tensor([[1, 2], [3, 0]]), 0)", "tensor([1, 0])"),
        ("amin(tensor([1.0, float(\"nan\")]))", "tensor(nan)"),
    ],
};
