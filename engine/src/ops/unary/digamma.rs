//! `digamma`: the derivative of the logarithm of the gamma function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `digamma`.
pub static OP: OpDef = OpDef {
    name: "digamma",
    doc: "The derivative of `lgamma`. Infinite at 0, NaN at whole numbers below.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.digamma()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["torch.special.digamma", "torch.special.psi"],
    examples: &[
        ("digamma(tensor([0.5, 1.0, 4.0]))", "tensor([-1.9635, -0.5772,  1.2561])"),
        ("digamma(tensor([0.0, -0.5, -2.0]))", "tensor([  -inf, 0.0365,    nan])"),
        ("digamma(tensor([1e-30, 100.0]))", "tensor([-1.0000e+30,  4.6002e+00])"),
    ],
};
