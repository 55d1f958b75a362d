//! `to_device`: the step of the tape that takes a value to another device. `apply::place::to_device` makes it; the op itself changes nothing.

use crate::apply::place;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Saves, Surface};
use crate::rules;

/// The row of `to_device`.
pub static OP: OpDef = OpDef {
    name: "to_device",
    doc: "The same numbers, in the memory of another device.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x),
    // The gradient goes back to where the value came from.
    grad: Grad::Rule(
        |cx| Ok(vec![Some(place::to_device(&cx.output_grad()?, cx.input(0).device())?)]),
        Saves::Shapes,
    ),
    step: Some(|_| "ToCopyBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("to_device(tensor([-1.5, -0.0, 0.5]))", "tensor([-1.5000, -0.0000,  0.5000])"),
        ("to_device(tensor([True, False]))", "tensor([ True, False])"),
        ("to_device(tensor(7))", "tensor(7)"),
    ],
};
