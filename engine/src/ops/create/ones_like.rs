//! `ones_like`: the number 1 in the shape of another tensor.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface, shapes};
use crate::rules;

/// The row of `ones_like`.
pub static OP: OpDef = OpDef {
    name: "ones_like",
    doc: "A tensor of the input's shape, and of its dtype unless another is given, in which every element is 1.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::with("dtype", ParamKind::OptDType, Default::None)],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(|cx| super::like(cx, &super::ones::OP)),
    grad: Grad::Stops("the result does not depend on the elements"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.ones_like", "oneflow.ones_like", "numpy.ones_like"],
    examples: &[
        ("ones_like(tensor([2.0, nan]))", "tensor([1., 1.])"),
        ("ones_like(tensor([[2, 3]]))", "tensor([[1, 1]])"),
        ("ones_like(tensor(5), dtype=float32)", "tensor(1.)"),
    ],
};
