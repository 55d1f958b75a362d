//! `cosh`: the hyperbolic cosine.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `cosh`.
pub static OP: OpDef = OpDef {
    name: "cosh",
    doc: "The hyperbolic cosine.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.cosh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Cosh", 9, &[]),
    aliases: &["megengine.functional.cosh", "oneflow.cosh"],
    examples: &[
        ("cosh(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([2.3524, 1.0000, 1.1276, 3.7622])"),
        ("cosh(tensor([0.0, inf, nan]))", "tensor([1., inf, nan])"),
        ("cosh(tensor(100.0))", "tensor(inf)"),
    ],
};
