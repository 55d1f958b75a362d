//! `baddbmm`: `beta * input + alpha * (batch1 @ batch2)` for batches of matrices.

use super::{ALPHA, BETA, ranks, same_batch, weighed_sum};
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "baddbmm",
    doc: "`beta * input + alpha * (batch1 @ batch2)` for batches of matrices.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("batch1"),
        Param::tensor("batch2"),
        BETA,
        ALPHA,
    ],
    dtypes: DTypeRule::Same,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "BaddbmmBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[B, N, K] @ [B, K, M] gives [B, N, M]; the first input is broadcast to it",
        in_place: true,
        cuts: &[Cut::new(3, &[Some(3), Some(3), Some(3)]), Cut::new(2, &[Some(2), Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("baddbmm(tensor([[[1.0]]]), tensor([[[2.0]]]), tensor([[[3.0]]]))", "tensor([[[7.]]])"),
        (
            "baddbmm(tensor([1, 2]), tensor([[[2]]]), tensor([[[3, 4]]]), beta=2, alpha=-1)",
            "tensor([[[-4, -4]]])",
        ),
        (
            "baddbmm(tensor([[[inf]]]), tensor([[[2.0]]]), tensor([[[3.0]]]), beta=0)",
            "tensor([[[6.]]])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[3, 3], "after the input, two batches of matrices are needed")?;
    same_batch(cx)?;
    weighed_sum(cx, matmul(cx.input(1)?, cx.input(2)?)?)
}
