//! `bitwise_left_shift`: the bits moved left; the number times 2 to the power of `other`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `bitwise_left_shift`.
pub static OP: OpDef = OpDef {
    name: "bitwise_left_shift",
    doc: "The bits moved left; the number times 2 to the power of `other`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::IntsToSame,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.shl(y)),
    grad: Grad::Stops("whole numbers have no derivative"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.left_shift"],
    examples: &[
        ("bitwise_left_shift(tensor([1, -3]), tensor([3, 1]))", "tensor([ 8, -6])"),
        ("bitwise_left_shift(tensor([1]), tensor([62]))", "tensor([4611686018427387904])"),
        ("bitwise_left_shift(tensor(0), tensor(5))", "tensor(0)"),
    ],
};
