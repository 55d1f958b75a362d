//! `ne`: whether not equal.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `ne`.
pub static OP: OpDef = OpDef {
    name: "ne",
    doc: "Whether not equal.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.ne(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.not_equal", "oneflow.ne", "torch.not_equal"],
    examples: &[
        ("ne(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([ True,  True, False])"),
        (
            "ne(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[True, True],\n        [True, True]])",
        ),
        ("ne(tensor([-7, 7]), tensor([2, -2]))", "tensor([True, True])"),
    ],
};
