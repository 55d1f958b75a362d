//! `asinh`: the inverse hyperbolic sine.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `asinh`.
pub static OP: OpDef = OpDef {
    name: "asinh",
    doc: "The inverse hyperbolic sine.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.asinh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Asinh", 9, &[]),
    aliases: &["megengine.functional.asinh", "oneflow.asinh", "oneflow.arcsinh", "torch.arcsinh"],
    examples: &[
        ("asinh(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-1.1948, -0.0000,  0.4812,  1.4436])"),
        ("asinh(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("asinh(tensor(-100.0))", "tensor(-5.2983)"),
    ],
};
