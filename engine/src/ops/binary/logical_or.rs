//! `logical_or`: whether at least one is not 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `logical_or`.
pub static OP: OpDef = OpDef {
    name: "logical_or",
    doc: "Whether at least one is not 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::LogicToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.or(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Or", 7, &[]),
    aliases: &["megengine.functional.logical_or", "oneflow.logical_or"],
    examples: &[
        (
            "logical_or(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([ True,  True, False])",
        ),
        (
            "logical_or(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[True, True],\n        [True, True]])",
        ),
        (
            "logical_or(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([ True,  True, False])",
        ),
    ],
};
