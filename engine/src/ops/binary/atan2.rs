//! `atan2`: the angle of the point (other, input), in radians.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `atan2`.
pub static OP: OpDef = OpDef {
    name: "atan2",
    doc: "The angle of the point (other, input), in radians.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.atan2(y)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.atan2", "oneflow.atan2", "torch.arctan2"],
    examples: &[
        (
            "atan2(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([-1.2925,  1.8491,  0.0000])",
        ),
        (
            "atan2(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[   nan,    nan],\n        [0.4636, 1.5708]])",
        ),
        ("atan2(tensor([0.0, -0.0]), tensor([-1.0, -1.0]))", "tensor([ 3.1416, -3.1416])"),
    ],
};
