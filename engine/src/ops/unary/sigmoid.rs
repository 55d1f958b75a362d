//! `sigmoid`: `1 / (1 + exp(-x))`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sigmoid`.
pub static OP: OpDef = OpDef {
    name: "sigmoid",
    doc: "`1 / (1 + exp(-x))`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.sigmoid()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Sigmoid", 13, &[]),
    aliases: &[
        "megengine.functional.sigmoid",
        "megengine.functional.nn.sigmoid",
        "oneflow.sigmoid",
        "oneflow.nn.functional.sigmoid",
        "torch.nn.functional.sigmoid",
        "torch.special.expit",
    ],
    examples: &[
        ("sigmoid(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.1824, 0.5000, 0.6225, 0.8808])"),
        ("sigmoid(tensor([0.0, inf, nan]))", "tensor([0.5000, 1.0000,    nan])"),
        ("sigmoid(tensor([-100.0, 100.0]))", "tensor([0., 1.])"),
    ],
};
