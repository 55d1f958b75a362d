//! `_i1e`: that function by its growth.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `_i1e`.
pub static OP: OpDef = OpDef {
    name: "_i1e",
    doc: "`exp(-|x|)` times the modified Bessel function of the first kind of order 1.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.i1e()),
    grad: Grad::Derived,
    step: Some(|_| "SpecialI1EBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_i1e(tensor([0.0, 1.0, -3.0]))", "tensor([ 0.0000,  0.2079, -0.1968])"),
        ("_i1e(tensor([7.9, 8.1]))", "tensor([0.1349, 0.1334])"),
        ("_i1e(tensor([inf, -1000.0]))", "tensor([ 0.0000, -0.0126])"),
    ],
};
