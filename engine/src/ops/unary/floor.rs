//! `floor`: the largest whole number that is not above x.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `floor`.
pub static OP: OpDef = OpDef {
    name: "floor",
    doc: "The largest whole number that is not above x.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.floor()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Floor", 13, &[]),
    aliases: &["megengine.functional.floor", "oneflow.floor"],
    examples: &[
        ("floor(tensor([-1.5, -0.5, 0.5, 1.5, 2.5]))", "tensor([-2., -1.,  0.,  1.,  2.])"),
        ("floor(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("floor(tensor([-3, 3]))", "tensor([-3,  3])"),
    ],
};
