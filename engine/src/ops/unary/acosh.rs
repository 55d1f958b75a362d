//! `acosh`: the inverse hyperbolic cosine.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `acosh`.
pub static OP: OpDef = OpDef {
    name: "acosh",
    doc: "The inverse hyperbolic cosine.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.acosh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Acosh", 9, &[]),
    aliases: &["megengine.functional.acosh", "oneflow.acosh", "oneflow.arccosh", "torch.arccosh"],
    examples: &[
        ("acosh(tensor([1.0, 2.0, 3.0]))", "tensor([0.0000, 1.3170, 1.7627])"),
        ("acosh(tensor([1.0, 0.5, inf]))", "tensor([0., nan, inf])"),
        ("acosh(tensor(100.0))", "tensor(5.2983)"),
    ],
};
