//! `sub`: the difference.

use crate::meaning::Meaning;
use crate::op::{Alpha, Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sub`.
pub static OP: OpDef = OpDef {
    name: "sub",
    doc: "The difference.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x - y),
    grad: Grad::Derived,
    step: Some(|cx| if cx.is_number(0) { "RsubBackward1" } else { "SubBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        alpha: Some(Alpha { op: &super::axpy::OP, negated: true }),
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Sub", 14, &[]),
    aliases: &["megengine.functional.sub", "oneflow.sub", "torch.subtract"],
    examples: &[
        ("sub(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-9.,  9.,  0.])"),
        (
            "sub(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [-1., inf]])",
        ),
        ("sub(tensor([-7, 7]), tensor([2, -2]))", "tensor([-9,  9])"),
    ],
};
