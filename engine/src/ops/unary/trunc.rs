//! `trunc`: x without its fraction.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `trunc`.
pub static OP: OpDef = OpDef {
    name: "trunc",
    doc: "x without its fraction.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.trunc()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["torch.fix"],
    examples: &[
        ("trunc(tensor([-1.5, -0.5, 0.5, 1.5, 2.5]))", "tensor([-1., -0.,  0.,  1.,  2.])"),
        ("trunc(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("trunc(tensor([-3, 3]))", "tensor([-3,  3])"),
    ],
};
