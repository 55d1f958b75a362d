//! `relu6`: x limited to 0..6.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `relu6`.
pub static OP: OpDef = OpDef {
    name: "relu6",
    doc: "x limited to 0..6.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| Expr::constant(6.0).min(Expr::constant(0.0).max(x))),
    grad: Grad::Derived,
    step: Some(|_| "HardtanhBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[
        "megengine.functional.relu6",
        "megengine.functional.nn.relu6",
        "oneflow.nn.functional.relu6",
        "torch.nn.functional.relu6",
    ],
    examples: &[
        ("relu6(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.0000, -0.0000, 0.5000, 2.0000])"),
        ("relu6(tensor([0.0, inf, nan]))", "tensor([0., 6., nan])"),
        ("relu6(tensor([6.0, 7.0]))", "tensor([6., 6.])"),
    ],
};
