//! `addr`: `beta * input + alpha * outer(vec1, vec2)` for two vectors.

use super::{ALPHA, BETA, ranks, weighed_sum};
use crate::functional::{mul, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{Attr, Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "addr",
    doc: "`beta * input + alpha * outer(vec1, vec2)` for two vectors.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("vec1"), Param::tensor("vec2"), BETA, ALPHA],
    dtypes: DTypeRule::Promote,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "AddrBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N] and [M] give [N, M]; the first input is broadcast to it",
        in_place: true,
        cuts: &[Cut::new(2, &[Some(2), Some(1), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "addr(zeros(2, 2), tensor([1.0, 2.0]), tensor([3.0, 4.0]))",
            "tensor([[3., 4.],\n        [6., 8.]])",
        ),
        ("addr(tensor([[1]]), tensor([2]), tensor([3]), beta=2, alpha=3)", "tensor([[20]])"),
        ("addr(tensor([[nan]]), tensor([2.0]), tensor([3.0]), beta=0)", "tensor([[6.]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    ranks(cx, &[1, 1], "after the input, two vectors are needed")?;
    let product = mul(&unsqueeze(cx.input(1)?, 1)?, cx.input(2)?)?;
    let is_whole =
        !product.dtype().is_differentiable() && !cx.input(0)?.dtype().is_differentiable();
    for (at, name) in ["beta", "alpha"].into_iter().enumerate() {
        if is_whole && matches!(cx.attrs.get(at), Some(Attr::Float(_))) {
            let problem = "must be a whole number beside whole numbers; write 2 instead of 2.0, or convert with .float()";
            return Err(Error::Attr { op: cx.op.name, name, problem: problem.into() });
        }
    }
    weighed_sum(cx, product)
}
