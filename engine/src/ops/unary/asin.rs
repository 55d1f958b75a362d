//! `asin`: the inverse sine, in radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `asin`.
pub static OP: OpDef = OpDef {
    name: "asin",
    doc: "The inverse sine, in radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.asin()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Asin", 7, &[]),
    aliases: &["megengine.functional.asin", "oneflow.asin", "oneflow.arcsin", "torch.arcsin"],
    examples: &[
        ("asin(tensor([-0.5, 0.0, 0.5]))", "tensor([-0.5236,  0.0000,  0.5236])"),
        ("asin(tensor([1.0, -1.0, 2.0]))", "tensor([ 1.5708, -1.5708,     nan])"),
        ("asin(tensor(0.25))", "tensor(0.2527)"),
    ],
};
