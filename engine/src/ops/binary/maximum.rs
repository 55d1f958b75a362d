//! `maximum`: the greater; NaN where either is NaN.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `maximum`.
pub static OP: OpDef = OpDef {
    name: "maximum",
    doc: "The greater; NaN where either is NaN.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.max(y)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Max", 13, &[]),
    aliases: &["megengine.functional.maximum", "oneflow.maximum"],
    examples: &[
        ("maximum(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([2., 7., 0.])"),
        (
            "maximum(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [2., inf]])",
        ),
        ("maximum(tensor([-7, 7]), tensor([2, -2]))", "tensor([2, 7])"),
    ],
};
