//! `addbmm`: `beta * input + alpha * sum(batch1 @ batch2)`, the products of a batch added up.

use super::{ALPHA, BETA, ranks, same_batch, weighed_sum};
use crate::functional::{matmul, sum, to};
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "addbmm",
    doc: "`beta * input + alpha * sum(batch1 @ batch2)`, the products of a batch added up.",
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
    step: Some(|_| "AddbmmBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[B, N, K] @ [B, K, M] gives [N, M]; the first input is broadcast to it",
        in_place: true,
        cuts: &[Cut::new(2, &[Some(2), Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "addbmm(tensor([[1.0]]), tensor([[[2.0]], [[3.0]]]), tensor([[[4.0]], [[5.0]]]))",
            "tensor([[24.]])",
        ),
        (
            "addbmm(tensor([[1]]), tensor([[[2]]]), tensor([[[3]]]), beta=2, alpha=3)",
            "tensor([[20]])",
        ),
        ("addbmm(tensor([[nan]]), ones(0, 1, 2), ones(0, 2, 1), beta=0)", "tensor([[0.]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[3, 3], "after the input, two batches of matrices are needed")?;
    same_batch(cx)?;
    let products = matmul(cx.input(1)?, cx.input(2)?)?;
    // Whole numbers add up in int64, and wrap around in their dtype.
    weighed_sum(cx, to(&sum(&products, &[0], false)?, products.dtype())?)
}
