//! `log10`: the logarithm to base 10.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `log10`.
pub static OP: OpDef = OpDef {
    name: "log10",
    doc: "The logarithm to base 10.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.log10()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("log10(tensor([0.5, 1.0, 10.0]))", "tensor([-0.3010,  0.0000,  1.0000])"),
        ("log10(tensor([0.0, -1.0, inf]))", "tensor([-inf, nan, inf])"),
        ("log10(tensor(1000.0))", "tensor(3.)"),
    ],
};
