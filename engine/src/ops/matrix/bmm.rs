//! `bmm`: the products of two batches of matrices, one by one.

use smallvec::smallvec;

use super::{ranks, same_batch};
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "bmm",
    doc: "The products of two batches of matrices, one by one.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("mat2")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "BmmBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[B, N, K] @ [B, K, M] gives [B, N, M]",
        cuts: &[Cut::new(3, &[Some(3), Some(3)]), Cut::new(2, &[Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.bmm"],
    examples: &[
        ("bmm(tensor([[[1.0, 2.0]]]), tensor([[[3.0], [4.0]]]))", "tensor([[[11.]]])"),
        (
            "bmm(tensor([[[2]], [[3]]]), tensor([[[4]], [[5]]]))",
            "tensor([[[ 8]],\n\n        [[15]]])",
        ),
        ("bmm(ones(0, 2, 3), ones(0, 3, 4)).shape", "torch.Size([0, 2, 4])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(
        cx,
        &[3, 3],
        "two batches of matrices of one size are needed; `@` takes other shapes as well",
    )?;
    same_batch(cx)?;
    Ok(smallvec![matmul(cx.input(0)?, cx.input(1)?)?])
}
