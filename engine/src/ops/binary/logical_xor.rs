//! `logical_xor`: whether exactly one is not 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `logical_xor`.
pub static OP: OpDef = OpDef {
    name: "logical_xor",
    doc: "Whether exactly one is not 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::LogicToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.xor(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Xor", 7, &[]),
    aliases: &["megengine.functional.logical_xor", "oneflow.logical_xor"],
    examples: &[
        (
            "logical_xor(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([False, False, False])",
        ),
        (
            "logical_xor(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [False, False]])",
        ),
        (
            "logical_xor(tensor([True, True, False]), tensor([True, False, False]))",
            "tensor([False,  True, False])",
        ),
    ],
};
