//! `sqrt`: the square root.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sqrt`.
pub static OP: OpDef = OpDef {
    name: "sqrt",
    doc: "The square root.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.sqrt()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Sqrt", 13, &[]),
    aliases: &["megengine.functional.sqrt", "oneflow.sqrt"],
    examples: &[
        ("sqrt(tensor([0.5, 1.0, 10.0]))", "tensor([0.7071, 1.0000, 3.1623])"),
        ("sqrt(tensor([0.0, -1.0, inf]))", "tensor([0., nan, inf])"),
        ("sqrt(tensor([4, 9]))", "tensor([2., 3.])"),
    ],
};
