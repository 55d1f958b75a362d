//! `sinh`: the hyperbolic sine.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sinh`.
pub static OP: OpDef = OpDef {
    name: "sinh",
    doc: "The hyperbolic sine.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.sinh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Sinh", 9, &[]),
    aliases: &["megengine.functional.sinh", "oneflow.sinh"],
    examples: &[
        ("sinh(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-2.1293, -0.0000,  0.5211,  3.6269])"),
        ("sinh(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("sinh(tensor(100.0))", "tensor(inf)"),
    ],
};
