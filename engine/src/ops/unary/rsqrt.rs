//! `rsqrt`: one over the square root.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `rsqrt`.
pub static OP: OpDef = OpDef {
    name: "rsqrt",
    doc: "One over the square root.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.rsqrt()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.rsqrt"],
    examples: &[
        ("rsqrt(tensor([0.5, 1.0, 10.0]))", "tensor([1.4142, 1.0000, 0.3162])"),
        ("rsqrt(tensor([0.0, -1.0, inf]))", "tensor([inf, nan, 0.])"),
        ("rsqrt(tensor([4, 16]))", "tensor([0.5000, 0.2500])"),
    ],
};
