//! `atanh`: the inverse hyperbolic tangent.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `atanh`.
pub static OP: OpDef = OpDef {
    name: "atanh",
    doc: "The inverse hyperbolic tangent.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.atanh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Atanh", 9, &[]),
    aliases: &["megengine.functional.atanh", "oneflow.atanh", "oneflow.arctanh", "torch.arctanh"],
    examples: &[
        ("atanh(tensor([-0.5, 0.0, 0.5]))", "tensor([-0.5493,  0.0000,  0.5493])"),
        ("atanh(tensor([1.0, -1.0, 2.0]))", "tensor([inf, -inf, nan])"),
        ("atanh(tensor(0.25))", "tensor(0.2554)"),
    ],
};
