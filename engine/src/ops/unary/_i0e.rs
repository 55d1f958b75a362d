//! `_i0e`: that function by its growth.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `_i0e`.
pub static OP: OpDef = OpDef {
    name: "_i0e",
    doc: "`exp(-|x|)` times the modified Bessel function of the first kind of order 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.i0e()),
    grad: Grad::Derived,
    step: Some(|_| "SpecialI0EBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_i0e(tensor([0.0, 1.0, -3.0]))", "tensor([1.0000, 0.4658, 0.2430])"),
        ("_i0e(tensor([7.9, 8.1]))", "tensor([0.1444, 0.1425])"),
        ("_i0e(tensor([inf, 1000.0]))", "tensor([0.0000, 0.0126])"),
    ],
};
