//! `abs`: the absolute value.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `abs`.
pub static OP: OpDef = OpDef {
    name: "abs",
    doc: "The absolute value.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.abs()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Abs", 13, &[]),
    aliases: &["megengine.functional.abs", "oneflow.abs", "torch.absolute"],
    examples: &[
        ("abs(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([1.5000, 0.0000, 0.5000, 2.0000])"),
        ("abs(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("abs(tensor([-3, 3]))", "tensor([3, 3])"),
    ],
};
