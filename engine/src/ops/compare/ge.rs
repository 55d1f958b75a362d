//! `ge`: whether input is greater or equal.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `ge`.
pub static OP: OpDef = OpDef {
    name: "ge",
    doc: "Whether input is greater or equal.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToBool,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.ge(y)),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("GreaterOrEqual", 16, &[]),
    aliases: &["megengine.functional.greater_equal", "oneflow.ge", "torch.greater_equal"],
    examples: &[
        ("ge(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([False,  True,  True])"),
        (
            "ge(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[False, False],\n        [False,  True]])",
        ),
        ("ge(tensor([-7, 7]), tensor([2, -2]))", "tensor([False,  True])"),
    ],
};
