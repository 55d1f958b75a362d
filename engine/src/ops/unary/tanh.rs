//! `tanh`: the hyperbolic tangent.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `tanh`.
pub static OP: OpDef = OpDef {
    name: "tanh",
    doc: "The hyperbolic tangent.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.tanh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Tanh", 13, &[]),
    aliases: &["megengine.functional.tanh", "oneflow.tanh", "oneflow.nn.functional.tanh"],
    examples: &[
        ("tanh(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.9051, -0.0000,  0.4621,  0.9640])"),
        ("tanh(tensor([0.0, inf, nan]))", "tensor([0., 1., nan])"),
        ("tanh(tensor(-100.0))", "tensor(-1.)"),
    ],
};
