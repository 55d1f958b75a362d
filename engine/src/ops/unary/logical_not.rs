//! `logical_not`: whether x is 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `logical_not`.
pub static OP: OpDef = OpDef {
    name: "logical_not",
    doc: "Whether x is 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::LogicToBool,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.not()),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Not", 1, &[]),
    aliases: &["megengine.functional.logical_not", "oneflow.logical_not"],
    examples: &[
        ("logical_not(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([False,  True, False, False])"),
        ("logical_not(tensor([0.0, inf, nan]))", "tensor([ True, False, False])"),
        ("logical_not(tensor([True, False]))", "tensor([False,  True])"),
    ],
};
