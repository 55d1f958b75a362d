//! `tan`: the tangent of radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `tan`.
pub static OP: OpDef = OpDef {
    name: "tan",
    doc: "The tangent of radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.tan()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Tan", 7, &[]),
    aliases: &["megengine.functional.tan", "oneflow.tan"],
    examples: &[
        ("tan(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-14.1014,  -0.0000,   0.5463,  -2.1850])"),
        ("tan(tensor([0.0, inf, nan]))", "tensor([0., nan, nan])"),
        ("tan(tensor(1000000.0))", "tensor(-0.3736)"),
    ],
};
