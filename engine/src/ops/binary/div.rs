//! `div`: the quotient; integers give floats.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Form, Grad, Is, Onnx, OpDef, Param, Surface, When};
use crate::rules;

/// The row of `div`.
pub static OP: OpDef = OpDef {
    name: "div",
    doc: "The quotient; integers give floats.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x / y),
    grad: Grad::Derived,
    step: Some(|cx| if cx.is_number(0) { "MulBackward0" } else { "DivBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        form: Some(Form::also_in_place("div", When::Arg("rounding_mode", Is::Given))),
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Div", 14, &[]),
    aliases: &[
        "megengine.functional.div",
        "oneflow.div",
        "oneflow.divide",
        "torch.divide",
        "torch.true_divide",
    ],
    examples: &[
        (
            "div(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))",
            "tensor([-3.5000, -3.5000,     nan])",
        ),
        (
            "div(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[   nan,    nan],\n        [0.5000,    inf]])",
        ),
        ("div(tensor([-7, 7]), tensor([2, -2]))", "tensor([-3.5000, -3.5000])"),
    ],
};
