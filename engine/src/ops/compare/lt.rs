//! `lt`: whether input is less.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `lt`.
pub static OP: OpDef = OpDef {
    name: "lt",
    doc: "Whether input is less.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.lt(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Less", 13, &[]),
    aliases: &["megengine.functional.less", "oneflow.lt", "torch.less"],
    examples: &[
        ("lt(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([ True, False, False])"),
        (
            "lt(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [ True, False]])",
        ),
        ("lt(tensor([-7, 7]), tensor([2, -2]))", "tensor([ True, False])"),
    ],
};
