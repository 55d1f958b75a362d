//! `log2`: the logarithm to base 2.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `log2`.
pub static OP: OpDef = OpDef {
    name: "log2",
    doc: "The logarithm to base 2.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.log2()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.log2"],
    examples: &[
        ("log2(tensor([0.5, 1.0, 10.0]))", "tensor([-1.0000,  0.0000,  3.3219])"),
        ("log2(tensor([0.0, -1.0, inf]))", "tensor([-inf, nan, inf])"),
        ("log2(tensor(1024.0))", "tensor(10.)"),
    ],
};
