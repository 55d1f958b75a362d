//! `logical_and`: whether both are not 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `logical_and`.
pub static OP: OpDef = OpDef {
    name: "logical_and",
    doc: "Whether both are not 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::LogicToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.and(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("And", 7, &[]),
    aliases: &["megengine.functional.logical_and", "oneflow.logical_and"],
    examples: &[
        (
            "logical_and(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([ True,  True, False])",
        ),
        (
            "logical_and(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[True, True],\n        [True, True]])",
        ),
        (
            "logical_and(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([ True, False, False])",
        ),
    ],
};
