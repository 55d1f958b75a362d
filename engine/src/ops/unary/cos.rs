//! `cos`: the cosine of radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `cos`.
pub static OP: OpDef = OpDef {
    name: "cos",
    doc: "The cosine of radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.cos()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Cos", 7, &[]),
    aliases: &["megengine.functional.cos", "oneflow.cos"],
    examples: &[
        ("cos(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([ 0.0707,  1.0000,  0.8776, -0.4161])"),
        ("cos(tensor([0.0, inf, nan]))", "tensor([1., nan, nan])"),
        ("cos(tensor(1000000.0))", "tensor(0.9368)"),
    ],
};
