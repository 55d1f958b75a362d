//! `hypot`: `sqrt(x * x + y * y)`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `hypot`.
pub static OP: OpDef = OpDef {
    name: "hypot",
    doc: "`sqrt(x * x + y * y)`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.hypot(y)),
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
            "hypot(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([7.2801, 7.2801, 0.0000])",
        ),
        ("hypot(tensor(3.0), tensor(4.0))", "tensor(5.)"),
        ("hypot(tensor([0.0, nan]), tensor([0.0, 1.0]))", "tensor([0., nan])"),
    ],
};
