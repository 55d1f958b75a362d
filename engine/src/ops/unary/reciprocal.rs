//! `reciprocal`: one over the number.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `reciprocal`.
pub static OP: OpDef = OpDef {
    name: "reciprocal",
    doc: "One over the number.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.recip()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Reciprocal", 13, &[]),
    aliases: &["oneflow.reciprocal"],
    examples: &[
        (
            "reciprocal(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-0.6667,    -inf,  2.0000,  0.5000])",
        ),
        ("reciprocal(tensor([0.0, inf, nan]))", "tensor([inf, 0., nan])"),
        ("reciprocal(tensor([-2, 4]))", "tensor([-0.5000,  0.2500])"),
    ],
};
