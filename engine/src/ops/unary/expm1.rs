//! `expm1`: `exp(x) - 1`, accurate near 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `expm1`.
pub static OP: OpDef = OpDef {
    name: "expm1",
    doc: "`exp(x) - 1`, accurate near 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.expm1()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.expm1", "oneflow.expm1"],
    examples: &[
        ("expm1(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.7769, -0.0000,  0.6487,  6.3891])"),
        ("expm1(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("expm1(tensor([1e-8, -100.0]))", "tensor([ 1.0000e-08, -1.0000e+00])"),
    ],
};
