//! `bitwise_xor`: the bits combined with xor; for bool the logical operation.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_xor`.
pub static OP: OpDef = OpDef {
    name: "bitwise_xor",
    doc: "The bits combined with xor; for bool the logical operation.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.bit_xor(y)),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("BitwiseXor", 18, &[]),
    aliases: &[],
    examples: &[
        ("bitwise_xor(tensor([12, -1]), tensor([10, 3]))", "tensor([ 6, -4])"),
        (
            "bitwise_xor(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([False,  True, False])",
        ),
        ("bitwise_xor(tensor(0), tensor(255))", "tensor(255)"),
    ],
};
