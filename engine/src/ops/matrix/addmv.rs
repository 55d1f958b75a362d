//! `addmv`: `beta * input + alpha * (mat @ vec)` for a matrix and a vector.

use super::{ALPHA, BETA, ranks, weighed_sum};
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "addmv",
    doc: "`beta * input + alpha * (mat @ vec)` for a matrix and a vector.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("mat"), Param::tensor("vec"), BETA, ALPHA],
    dtypes: DTypeRule::Same,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "AddmvBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N, K] @ [K] gives [N]; the first input is broadcast to it",
        in_place: true,
        cuts: &[Cut::new(1, &[Some(1), Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("addmv(tensor([1.0]), tensor([[2.0, 3.0]]), tensor([4.0, 5.0]))", "tensor([24.])"),
        (
            "addmv(tensor([1, 2]), tensor([[2], [3]]), tensor([4]), beta=2, alpha=3)",
            "tensor([26, 40])",
        ),
        ("addmv(tensor([nan]), tensor([[2.0]]), tensor([4.0]), beta=0)", "tensor([8.])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[2, 1], "after the input, a matrix and a vector are needed")?;
    weighed_sum(cx, matmul(cx.input(1)?, cx.input(2)?)?)
}
