//! `clone`: the same numbers in storage of their own.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `clone`.
pub static OP: OpDef = OpDef {
    name: "clone",
    doc: "The same numbers in storage of their own.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Identity", 13, &[]),
    aliases: &["megengine.functional.copy", "oneflow.Tensor.clone"],
    examples: &[
        ("clone(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-1.5000, -0.0000,  0.5000,  2.0000])"),
        ("clone(tensor([True, False]))", "tensor([ True, False])"),
        ("clone(tensor(7))", "tensor(7)"),
    ],
};
