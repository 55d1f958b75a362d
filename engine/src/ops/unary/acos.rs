//! `acos`: the inverse cosine, in radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `acos`.
pub static OP: OpDef = OpDef {
    name: "acos",
    doc: "The inverse cosine, in radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.acos()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Acos", 7, &[]),
    aliases: &["megengine.functional.acos", "oneflow.acos", "oneflow.arccos", "torch.arccos"],
    examples: &[
        ("acos(tensor([-0.5, 0.0, 0.5]))", "tensor([2.0944, 1.5708, 1.0472])"),
        ("acos(tensor([1.0, -1.0, 2.0]))", "tensor([0.0000, 3.1416,    nan])"),
        ("acos(tensor(0.25))", "tensor(1.3181)"),
    ],
};
