//! `le`: whether input is less or equal.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `le`.
pub static OP: OpDef = OpDef {
    name: "le",
    doc: "Whether input is less or equal.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.le(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("LessOrEqual", 16, &[]),
    aliases: &["megengine.functional.less_equal", "oneflow.le", "torch.less_equal"],
    examples: &[
        ("le(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([ True, False,  True])"),
        (
            "le(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [ True, False]])",
        ),
        ("le(tensor([-7, 7]), tensor([2, -2]))", "tensor([ True, False])"),
    ],
};
