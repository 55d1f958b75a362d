//! `isnan`: whether x is not a number.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `isnan`.
pub static OP: OpDef = OpDef {
    name: "isnan",
    doc: "Whether x is not a number.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.isnan()),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("IsNaN", 13, &[]),
    aliases: &["megengine.functional.isnan", "oneflow.isnan"],
    examples: &[
        ("isnan(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([False, False, False, False])"),
        ("isnan(tensor([0.0, inf, nan]))", "tensor([False, False,  True])"),
        ("isnan(tensor([-3, 3]))", "tensor([False, False])"),
    ],
};
