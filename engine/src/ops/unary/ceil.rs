//! `ceil`: the smallest whole number that is not below x.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `ceil`.
pub static OP: OpDef = OpDef {
    name: "ceil",
    doc: "The smallest whole number that is not below x.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.ceil()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Ceil", 13, &[]),
    aliases: &["megengine.functional.ceil", "oneflow.ceil"],
    examples: &[
        ("ceil(tensor([-1.5, -0.5, 0.5, 1.5, 2.5]))", "tensor([-1., -0.,  1.,  2.,  3.])"),
        ("ceil(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("ceil(tensor([-3, 3]))", "tensor([-3,  3])"),
    ],
};
