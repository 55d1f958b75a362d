//! `argmax`: where the largest element is: along `dim`, or in the flattened tensor.

use super::extremes::{self, Side};
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Kernel, Onnx, Param, ParamKind, Surface, shapes};

pub static OP: OpDef = OpDef {
    name: "argmax",
    doc: "Where the largest element is: along `dim`, or in the flattened tensor. The first of equal ones; NaN counts as largest.",
    meaning: Meaning::of(|cx| extremes::meaning_place(cx, Side::Largest)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_place,
    body: Body::Kernels(&[Kernel::new("reduce.argmax", |cx| {
        extremes::run_place(cx, Side::Largest)
    })
    .finishing()
    .with_prologue(super::streamed)
    .on_cuda(|cx| extremes::best_on_cuda(cx, "ng_largest_place"))]),
    grad: Grad::Stops("indices are whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::REDUCED, ..Surface::PLAIN },
    onnx: Onnx::written("ArgMax", super::onnx::argmax),
    aliases: &["megengine.functional.argmax", "oneflow.argmax"],
    examples: &[
        ("argmax(tensor([1.0, 5.0, -2.0]))", "tensor(1)"),
        ("argmax(tensor([[1, 2], [3, 0]]), 1)", "tensor([1, 0])"),
        ("argmax(tensor([[1, 2], [3, 0]]), 0, True)", "tensor([[1, 0]])"),
    ],
};
