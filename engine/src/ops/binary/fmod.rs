//! `fmod`: what is left of the division that rounds towards 0, as in C: it has the sign of the dividend.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `fmod`.
pub static OP: OpDef = OpDef {
    name: "fmod",
    doc: "What is left of the division that rounds towards 0, as in C: it has the sign of the dividend.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.fmod(y)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.fmod"],
    examples: &[
        ("fmod(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-1.,  1., nan])"),
        (
            "fmod(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [1., nan]])",
        ),
        ("fmod(tensor([-7, 7]), tensor([2, -2]))", "tensor([-1,  1])"),
    ],
};
