//! `eq`: whether equal.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `eq`.
pub static OP: OpDef = OpDef {
    name: "eq",
    doc: "Whether equal.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.eq(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Equal", 13, &[]),
    aliases: &["megengine.functional.equal", "oneflow.eq"],
    examples: &[
        ("eq(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([False, False,  True])"),
        (
            "eq(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [False, False]])",
        ),
        ("eq(tensor([-7, 7]), tensor([2, -2]))", "tensor([False, False])"),
    ],
};
