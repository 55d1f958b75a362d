//! `floor_divide`: the quotient rounded down, as Python's `//`.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `floor_divide`.
pub static OP: OpDef = OpDef {
    name: "floor_divide",
    doc: "The quotient rounded down, as Python's `//`. Whole numbers divided by 0 are an error.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x.floor_div(y)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.floor_div", "oneflow.floor_divide"],
    examples: &[
        (
            "floor_divide(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([-4., -4., nan])",
        ),
        (
            "floor_divide(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [0., nan]])",
        ),
        ("floor_divide(tensor([-7, 7]), tensor([2, -2]))", "tensor([-4, -4])"),
    ],
};
