//! `argmin`: where the smallest element is: along `dim`, or in the flattened tensor.

use super::extremes::{self, Side};
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Kernel, Onnx, Param, ParamKind, Surface, shapes};

pub static OP: OpDef = OpDef {
    name: "argmin",
    doc: "Where the smallest element is: along `dim`, or in the flattened tensor. The first of equal ones; NaN counts as smallest.",
    meaning: Meaning::of(|cx| extremes::meaning_place(cx, Side::Smallest)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_place,
    body: Body::Kernels(&[Kernel::new("reduce.argmin", |cx| {
        extremes::run_place(cx, Side::Smallest)
    })
    .finishing()
    .with_prologue(super::streamed)
    .on_cuda(|cx| extremes::best_on_cuda(cx, "ng_smallest_place"))]),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, ..Surface::PLAIN },
    onnx: Onnx::written("ArgMin", super::onnx::argmin),
    aliases: &["megengine.functional.argmin", "oneflow.argmin"],
    examples: &[
        ("argmin(tensor([1.0, 5.0, -2.0]))", "tensor(2)"),
        ("argmin(tensor([[1, 2], [3, 0]]), 1)", "tensor([0, 1])"),
        ("argmin(tensor([[1, 2], [3, 0]]), 0, True)", "tensor([[0, 1]])"),
    ],
};
