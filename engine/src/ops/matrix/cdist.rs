//! `cdist`: the distance of each row of one matrix from each row of another.

use smallvec::smallvec;

use crate::functional::{
    add, gt, matmul, matrix_transpose, mul, num, select_where, sqrt, sub, sum, unsqueeze,
};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Is, Onnx, Param, ParamKind,
    Surface, When,
};
use crate::{Attr, Error, OpDef, Outputs, Result, Tensor, apply_one, rules};

/// More rows than this are compared by a matrix product (as PyTorch does), which needs no room for the differences of all pairs.
const MANY: usize = 25;

pub static OP: OpDef = OpDef {
    name: "cdist",
    doc: "The distance of each row of one matrix from each row of another, in the norm `p`; batches broadcast.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("x1"),
        Param::tensor("x2"),
        Param::with("p", ParamKind::Float, Default::Float(2.0)),
    ],
    dtypes: DTypeRule::SameFloats,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("cdist", When::At(3, "compute_mode", Is::Given))),
        shapes: "[..., P, M] and [..., R, M] give [..., P, R]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "cdist(tensor([[0.0, 0.0], [3.0, 4.0]]), tensor([[0.0, 0.0]]))",
            "tensor([[0.],\n        [5.]])",
        ),
        (
            "cdist(tensor([[0.0, 1.0]]), tensor([[2.0, 3.0], [0.0, 1.0]]), 1.0)",
            "tensor([[4., 0.]])",
        ),
        ("cdist(zeros(2, 0), zeros(3, 0))", "tensor([[0., 0., 0.],\n        [0., 0., 0.]])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (a, b) = (cx.input(0)?, cx.input(1)?);
    if a.rank() < 2 || b.rank() < 2 || a.shape().last() != b.shape().last() {
        let shapes = vec![a.shape().clone(), b.shape().clone()];
        let rule = "two matrices with as many columns are needed".into();
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    }
    if cx.float(0) == 2.0 && a.shape()[a.rank() - 2].max(b.shape()[b.rank() - 2]) > MANY {
        return Ok(smallvec![by_products(a, b)?]);
    }
    let gaps = sub(&unsqueeze(a, -2)?, &unsqueeze(b, -3)?)?;
    let attrs = smallvec![Attr::Float(cx.float(0)), Attr::ints(&[-1]), Attr::Bool(false)];
    Ok(smallvec![apply_one(&crate::ops::reduce::norm::OP, &[gaps], &attrs)?])
}

/// `|a - b|^2 = |a|^2 - 2 a b + |b|^2`. Where rounding leaves nothing or less the distance is 0, and so is its gradient.
fn by_products(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let squares = |it: &Tensor| sum(&mul(it, it)?, &[-1], true);
    let products = matmul(a, &matrix_transpose(b)?)?;
    let sums = add(&squares(a)?, &matrix_transpose(&squares(b)?)?)?;
    let gaps = sub(&sums, &mul(&products, &num(2.0))?)?;
    let apart = gt(&gaps, &num(0.0))?;
    select_where(&apart, &sqrt(&select_where(&apart, &gaps, &num(1.0))?)?, &num(0.0))
}
