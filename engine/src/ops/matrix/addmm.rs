//! `addmm`: `beta * input + alpha * (mat1 @ mat2)` for matrices.

use super::{ALPHA, BETA, ranks, weighed_sum};
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "addmm",
    doc: "`beta * input + alpha * (mat1 @ mat2)` for matrices.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("mat1"), Param::tensor("mat2"), BETA, ALPHA],
    dtypes: DTypeRule::Same,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "AddmmBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[N, K] @ [K, M] gives [N, M]; the first input is broadcast to it",
        in_place: true,
        cuts: &[Cut::new(2, &[Some(2), Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.addmm"],
    examples: &[
        (
            "addmm(tensor([1.0, 2.0]), tensor([[1.0, 0.0], [0.0, 1.0]]), tensor([[5.0, 6.0], [7.0, 8.0]]))",
            "tensor([[ 6.,  8.],\n        [ 8., 10.]])",
        ),
        (
            "addmm(tensor([[1.0]]), tensor([[2.0]]), tensor([[3.0]]), beta=2.0, alpha=0.5)",
            "tensor([[5.]])",
        ),
        (
            "addmm(tensor([[nan]]), tensor([[2]]).float(), tensor([[3.0]]), beta=0)",
            "tensor([[6.]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[2, 2], "after the input, two matrices are needed")?;
    weighed_sum(cx, matmul(cx.input(1)?, cx.input(2)?)?)
}
