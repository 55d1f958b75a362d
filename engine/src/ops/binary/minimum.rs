//! `minimum`: the lesser; NaN where either is NaN.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `minimum`.
pub static OP: OpDef = OpDef {
    name: "minimum",
    doc: "The lesser; NaN where either is NaN.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.min(y)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Min", 13, &[]),
    aliases: &["megengine.functional.minimum", "oneflow.minimum"],
    examples: &[
        ("minimum(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-7., -2.,  0.])"),
        (
            "minimum(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [1., 2.]])",
        ),
        ("minimum(tensor([-7, 7]), tensor([2, -2]))", "tensor([-7, -2])"),
    ],
};
