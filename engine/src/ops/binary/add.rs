//! `add`: the sum.

use crate::meaning::Meaning;
use crate::op::{Alpha, Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `add`.
pub static OP: OpDef = OpDef {
    name: "add",
    doc: "The sum.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x + y),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        alpha: Some(Alpha { op: &super::axpy::OP, negated: false }),
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Add", 14, &[]),
    aliases: &["megengine.functional.add", "oneflow.add"],
    examples: &[
        ("add(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-5.,  5.,  0.])"),
        (
            "add(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [3., inf]])",
        ),
        ("add(tensor([-7, 7]), tensor([2, -2]))", "tensor([-5,  5])"),
    ],
};
