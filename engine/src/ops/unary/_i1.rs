//! `_i1`: the modified Bessel function of the first kind of order 1.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `_i1`.
pub static OP: OpDef = OpDef {
    name: "_i1",
    doc: "The modified Bessel function of the first kind of order 1.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.i1()),
    grad: Grad::Derived,
    step: Some(|_| "SpecialI1Backward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_i1(tensor([0.0, 1.0, -3.0]))", "tensor([ 0.0000,  0.5652, -3.9534])"),
        ("_i1(tensor([7.9, 8.1]))", "tensor([363.8540, 439.4844])"),
        ("_i1(tensor([1e-10, 100.0]))", "tensor([5.0000e-11,        inf])"),
    ],
};
