//! `mv`: the product of a matrix and a vector.

use smallvec::smallvec;

use super::ranks;
use crate::apply::autocast;
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "mv",
    doc: "The product of a matrix and a vector.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("vec")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "MvBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N, K] @ [K] gives [N]",
        cuts: &[Cut::new(1, &[Some(2), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("mv(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([1.0, -1.0]))", "tensor([-1., -1.])"),
        ("mv(tensor([[1, 2]]), tensor([3, 4]))", "tensor([11])"),
        ("mv(ones(2, 0), ones(0))", "tensor([0., 0.])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[2, 1], "a matrix and a vector are needed; `@` takes other shapes as well")?;
    let (matrix, vector) = (cx.input(0)?, cx.input(1)?);
    // Autocast leaves it in its dtype, as PyTorch does.
    Ok(smallvec![autocast::left_alone(|| matmul(matrix, vector))?])
}
