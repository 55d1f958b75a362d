//! `relu`: x where it is positive, else 0.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `relu`.
pub static OP: OpDef = OpDef {
    name: "relu",
    doc: "x where it is positive, else 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Unary(|x| Expr::constant(0.0).max(x)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Relu", 14, &[]),
    aliases: &[
        "megengine.functional.relu",
        "megengine.functional.nn.relu",
        "oneflow.relu",
        "oneflow.nn.functional.relu",
        "torch.nn.functional.relu",
    ],
    examples: &[
        ("relu(tensor([-1.5, 0.0, 0.5, 2.0]))", "tensor([0.0000, 0.0000, 0.5000, 2.0000])"),
        ("relu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("relu(tensor([-0.0]))", "tensor([-0.])"),
        ("relu(tensor([-3, 3]))", "tensor([0, 3])"),
    ],
};
