//! `softsign`: `x / (1 + |x|)`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `softsign`.
pub static OP: OpDef = OpDef {
    name: "softsign",
    doc: "`x / (1 + |x|)`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.clone() / (x.abs() + 1.0)),
    grad: Grad::Derived,
    step: Some(|_| "DivBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Softsign", 1, &[]),
    aliases: &["oneflow.nn.functional.softsign", "torch.nn.functional.softsign"],
    examples: &[
        (
            "softsign(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-0.6000, -0.0000,  0.3333,  0.6667])",
        ),
        ("softsign(tensor([0.0, nan]))", "tensor([0., nan])"),
        ("softsign(tensor(100.0))", "tensor(0.9901)"),
    ],
};
