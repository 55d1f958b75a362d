//! `neg`: the number with the other sign.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `neg`.
pub static OP: OpDef = OpDef {
    name: "neg",
    doc: "The number with the other sign.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Unary(|x| -x),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Neg", 13, &[]),
    aliases: &["megengine.functional.neg", "oneflow.neg", "oneflow.negative", "torch.negative"],
    examples: &[
        ("neg(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([ 1.5000,  0.0000, -0.5000, -2.0000])"),
        ("neg(tensor([0.0, inf, nan]))", "tensor([-0., -inf, nan])"),
        ("neg(tensor([-3, 3]))", "tensor([ 3, -3])"),
    ],
};
