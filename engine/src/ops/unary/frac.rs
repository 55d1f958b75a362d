//! `frac`: the fraction of x, with its sign.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `frac`.
pub static OP: OpDef = OpDef {
    name: "frac",
    doc: "The fraction of x, with its sign.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.clone() - x.trunc()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "frac(tensor([-1.5, -0.5, 0.5, 1.5, 2.5]))",
            "tensor([-0.5000, -0.5000,  0.5000,  0.5000,  0.5000])",
        ),
        ("frac(tensor([0.0, nan]))", "tensor([0., nan])"),
        ("frac(tensor(-2.75))", "tensor(-0.7500)"),
    ],
};
