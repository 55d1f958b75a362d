//! `bitwise_not`: every bit inverted; for bool the other value.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_not`.
pub static OP: OpDef = OpDef {
    name: "bitwise_not",
    doc: "Every bit inverted; for bool the other value.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.bit_not()),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("bitwise_not(tensor([0, 1, 255]))", "tensor([  -1,   -2, -256])"),
        ("bitwise_not(tensor([True, False]))", "tensor([False,  True])"),
        ("bitwise_not(tensor(-1))", "tensor(0)"),
    ],
};
