//! `exp`: `e` to the power of x.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `exp`.
pub static OP: OpDef = OpDef {
    name: "exp",
    doc: "`e` to the power of x.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.exp()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Exp", 13, &[]),
    aliases: &["megengine.functional.exp", "oneflow.exp"],
    examples: &[
        ("exp(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.2231, 1.0000, 1.6487, 7.3891])"),
        ("exp(tensor([0.0, inf, nan]))", "tensor([1., inf, nan])"),
        ("exp(tensor([-100.0, 100.0]))", "tensor([3.7835e-44,        inf])"),
    ],
};
