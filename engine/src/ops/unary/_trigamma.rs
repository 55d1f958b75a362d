//! `_trigamma`: the second derivative of the logarithm of the gamma function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `_trigamma`.
pub static OP: OpDef = OpDef {
    name: "_trigamma",
    doc: "The derivative of `digamma`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.trigamma()),
    grad: Grad::Derived,
    step: Some(|_| "PolygammaBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("_trigamma(tensor([0.5, 1.0, 4.0]))", "tensor([4.9348, 1.6449, 0.2838])"),
        ("_trigamma(tensor([-0.5, -2.25]))", "tensor([ 8.9348, 19.3794])"),
        ("_trigamma(tensor([1e-10, 100.0]))", "tensor([1.0000e+20, 1.0050e-02])"),
    ],
};
