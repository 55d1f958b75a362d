//! `lgamma`: the logarithm of the absolute value of the gamma function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `lgamma`.
pub static OP: OpDef = OpDef {
    name: "lgamma",
    doc: "The logarithm of the absolute value of the gamma function. Infinite at 0 and at whole numbers below.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.lgamma()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["torch.special.gammaln"],
    examples: &[
        ("lgamma(tensor([0.5, 1.0, 4.0]))", "tensor([0.5724, 0.0000, 1.7918])"),
        ("lgamma(tensor([0.0, -0.5, -2.0]))", "tensor([   inf, 1.2655,    inf])"),
        ("lgamma(tensor([1e-30, 100.0]))", "tensor([ 69.0776, 359.1342])"),
    ],
};
