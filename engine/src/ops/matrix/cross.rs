//! `cross`: the cross product of vectors of three numbers.

use smallvec::smallvec;

use crate::functional::{mul, sub};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Tensor, apply, rules};

pub static OP: OpDef = OpDef {
    name: "cross",
    doc: "The cross product of vectors of three numbers, which lie along `dim`, or else along the first dimension of size 3.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("other"),
        Param::with("dim", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: "shapes are broadcast; size 3 along dim", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("cross(tensor([1.0, 0.0, 0.0]), tensor([0.0, 1.0, 0.0]))", "tensor([0., 0., 1.])"),
        ("cross(tensor([[1, 2, 3]]), tensor([[4, 5, 6]]), 1)", "tensor([[-3,  6, -3]])"),
        (
            "cross(tensor([[1.0], [2.0], [3.0]]), tensor([[0.0], [1.0], [0.0]]), 0)",
            "tensor([[-3.],\n        [ 0.],\n        [ 1.]])",
        ),
    ],
};

/// With `r` for one step along the dimension: `r(a) * r(r(b)) - r(r(a)) * r(b)`.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    let dim = match cx.attrs.first() {
        None | Some(Attr::None) => match a.shape().iter().position(|it| *it == 3) {
            Some(first) => first as i64,
            None => {
                let (name, problem) = ("input", "has no dimension of size 3".into());
                return Err(Error::Attr { op: cx.op.name, name, problem });
            }
        },
        Some(_) => cx.int(0),
    };
    let sized = |it: &Tensor| -> Result<bool> {
        Ok(it.shape().get(resolve_dim(cx.op.name, dim, it.rank())?) == Some(&3))
    };
    if !sized(a)? || !sized(b)? {
        let shapes = vec![a.shape().clone(), b.shape().clone()];
        return Err(Error::Shapes { op: cx.op.name, shapes, rule: "dim must have size 3".into() });
    }
    let turned = |it: &Tensor, by: i64| -> Result<Tensor> {
        let attrs = smallvec![Attr::ints(&[-by]), Attr::ints(&[dim])];
        Ok(apply(&crate::ops::shape::roll::OP, std::slice::from_ref(it), &attrs)?[0].clone())
    };
    let left = mul(&turned(a, 1)?, &turned(b, 2)?)?;
    Ok(smallvec![sub(&left, &mul(&turned(a, 2)?, &turned(b, 1)?)?)?])
}
