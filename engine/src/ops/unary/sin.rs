//! `sin`: the sine of radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sin`.
pub static OP: OpDef = OpDef {
    name: "sin",
    doc: "The sine of radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.sin()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Sin", 7, &[]),
    aliases: &["megengine.functional.sin", "oneflow.sin"],
    examples: &[
        ("sin(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.9975, -0.0000,  0.4794,  0.9093])"),
        ("sin(tensor([0.0, inf, nan]))", "tensor([0., nan, nan])"),
        ("sin(tensor(1000000.0))", "tensor(-0.3500)"),
    ],
};
