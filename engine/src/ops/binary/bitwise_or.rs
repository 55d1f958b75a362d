//! `bitwise_or`: the bits combined with or; for bool the logical operation.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_or`.
pub static OP: OpDef = OpDef {
    name: "bitwise_or",
    doc: "The bits combined with or; for bool the logical operation.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.bit_or(y)),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("BitwiseOr", 18, &[]),
    aliases: &[],
    examples: &[
        ("bitwise_or(tensor([12, -1]), tensor([10, 3]))", "tensor([14, -1])"),
        (
            "bitwise_or(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([ True,  True, False])",
        ),
        ("bitwise_or(tensor(0), tensor(255))", "tensor(255)"),
    ],
};
