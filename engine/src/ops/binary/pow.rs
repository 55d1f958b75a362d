//! `pow`: x to the power of y.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `pow`.
pub static OP: OpDef = OpDef {
    name: "pow",
    doc: "x to the power of y. Whole numbers have no negative powers.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("exponent")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.pow(y)),
    grad: Grad::Derived,
    step: Some(|cx| match (cx.is_number(0), cx.is_number(1)) {
        (true, _) => "PowBackward2",
        (_, true) => "PowBackward0",
        _ => "PowBackward1",
    }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Pow", 15, &[]),
    aliases: &["megengine.functional.pow", "oneflow.pow"],
    examples: &[
        (
            "pow(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([4.9000e+01, 2.0408e-02, 1.0000e+00])",
        ),
        (
            "pow(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[1., nan],\n        [1., inf]])",
        ),
        ("pow(tensor([2, -3]), tensor([10, 3]))", "tensor([1024,  -27])"),
    ],
};
