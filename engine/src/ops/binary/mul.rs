//! `mul`: the product.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `mul`.
pub static OP: OpDef = OpDef {
    name: "mul",
    doc: "The product.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x * y),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Mul", 14, &[]),
    aliases: &["megengine.functional.mul", "oneflow.mul", "oneflow.multiply", "torch.multiply"],
    examples: &[
        ("mul(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-14., -14.,   0.])"),
        (
            "mul(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [2., inf]])",
        ),
        ("mul(tensor([-7, 7]), tensor([2, -2]))", "tensor([-14, -14])"),
    ],
};
