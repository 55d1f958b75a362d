//! `_i0`: the modified Bessel function of the first kind of order 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `_i0`.
pub static OP: OpDef = OpDef {
    name: "_i0",
    doc: "The modified Bessel function of the first kind of order 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.i0()),
    grad: Grad::Derived,
    step: Some(|_| "I0Backward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_i0(tensor([0.0, 1.0, -3.0]))", "tensor([1.0000, 1.2661, 4.8808])"),
        ("_i0(tensor([7.9, 8.1]))", "tensor([389.4063, 469.5007])"),
        ("_i0(tensor([1e-10, 100.0]))", "tensor([1.0000,    inf])"),
    ],
};
