//! `mm`: the product of two matrices.

use smallvec::smallvec;

use super::ranks;
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Autocast, Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "mm",
    doc: "The product of two matrices.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("mat2")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "MmBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[N, K] @ [K, M] gives [N, M]",
        cuts: &[Cut::new(2, &[Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "mm(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[1.0], [1.0]]))",
            "tensor([[3.],\n        [7.]])",
        ),
        ("mm(tensor([[1, 2]]), tensor([[3], [4]]))", "tensor([[11]])"),
        ("mm(ones(1, 0), ones(0, 2))", "tensor([[0., 0.]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[2, 2], "two matrices are needed; `@` takes vectors and batches as well")?;
    Ok(smallvec![matmul(cx.input(0)?, cx.input(1)?)?])
}
