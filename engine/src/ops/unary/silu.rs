//! `silu`: `x * sigmoid(x)`, also called swish.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `silu`.
pub static OP: OpDef = OpDef {
    name: "silu",
    doc: "`x * sigmoid(x)`, also called swish.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.clone() * x.sigmoid()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[
        "megengine.functional.silu",
        "megengine.functional.nn.silu",
        "oneflow.silu",
        "oneflow.nn.functional.silu",
        "torch.nn.functional.silu",
    ],
    examples: &[
        ("silu(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.2736, -0.0000,  0.3112,  1.7616])"),
        ("silu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("silu(tensor(-100.0))", "tensor(-0.)"),
    ],
};
