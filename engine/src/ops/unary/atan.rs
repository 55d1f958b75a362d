//! `atan`: the inverse tangent, in radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `atan`.
pub static OP: OpDef = OpDef {
    name: "atan",
    doc: "The inverse tangent, in radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.atan()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Atan", 7, &[]),
    aliases: &["megengine.functional.atan", "oneflow.atan", "oneflow.arctan", "torch.arctan"],
    examples: &[
        ("atan(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.9828, -0.0000,  0.4636,  1.1071])"),
        ("atan(tensor([0.0, inf, nan]))", "tensor([0.0000, 1.5708,    nan])"),
        ("atan(tensor(-inf))", "tensor(-1.5708)"),
    ],
};
