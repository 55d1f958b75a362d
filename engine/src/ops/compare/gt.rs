//! `gt`: whether input is greater.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `gt`.
pub static OP: OpDef = OpDef {
    name: "gt",
    doc: "Whether input is greater.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.gt(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Greater", 13, &[]),
    aliases: &["megengine.functional.greater", "oneflow.gt", "torch.greater"],
    examples: &[
        ("gt(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([False,  True, False])"),
        (
            "gt(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [False,  True]])",
        ),
        ("gt(tensor([-7, 7]), tensor([2, -2]))", "tensor([False,  True])"),
    ],
};
