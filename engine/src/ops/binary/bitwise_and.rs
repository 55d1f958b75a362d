//! `bitwise_and`: the bits combined with and; for bool the logical operation.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_and`.
pub static OP: OpDef = OpDef {
    name: "bitwise_and",
    doc: "The bits combined with and; for bool the logical operation.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.bit_and(y)),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("BitwiseAnd", 18, &[]),
    aliases: &[],
    examples: &[
        ("bitwise_and(tensor([12, -1]), tensor([10, 3]))", "tensor([8, 3])"),
        (
            "bitwise_and(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([ True, False, False])",
        ),
        ("bitwise_and(tensor(0), tensor(255))", "tensor(0)"),
    ],
};
