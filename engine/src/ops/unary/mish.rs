//! `mish`: `x * tanh(softplus(x))`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `mish`.
pub static OP: OpDef = OpDef {
    name: "mish",
    doc: "`x * tanh(softplus(x))`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.clone() * x.softplus().tanh()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Mish", 18, &[]),
    aliases: &["oneflow.mish", "oneflow.nn.functional.mish", "torch.nn.functional.mish"],
    examples: &[
        ("mish(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.2981, -0.0000,  0.3752,  1.9440])"),
        ("mish(tensor([0.0, inf]))", "tensor([0., inf])"),
        ("mish(tensor(-100.0))", "tensor(-3.7835e-42)"),
    ],
};
