//! `bitwise_right_shift`: the bits moved right, keeping the sign.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_right_shift`.
pub static OP: OpDef = OpDef {
    name: "bitwise_right_shift",
    doc: "The bits moved right, keeping the sign.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.shr(y)),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.right_shift"],
    examples: &[
        ("bitwise_right_shift(tensor([8, -3]), tensor([3, 1]))", "tensor([ 1, -2])"),
        ("bitwise_right_shift(tensor([-1]), tensor([62]))", "tensor([-1])"),
        ("bitwise_right_shift(tensor(0), tensor(5))", "tensor(0)"),
    ],
};
