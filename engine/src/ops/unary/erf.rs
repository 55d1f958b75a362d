//! `erf`: the error function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `erf`.
pub static OP: OpDef = OpDef {
    name: "erf",
    doc: "The error function.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.erf()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Erf", 13, &[]),
    aliases: &["megengine.functional.erf", "oneflow.erf", "torch.special.erf"],
    examples: &[
        ("erf(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.9661, -0.0000,  0.5205,  0.9953])"),
        ("erf(tensor([0.0, inf, nan]))", "tensor([0., 1., nan])"),
        ("erf(tensor([-5.0, 1e-8]))", "tensor([-1.0000e+00,  1.1284e-08])"),
    ],
};
