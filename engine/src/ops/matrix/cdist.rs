//! `cdist`: the distance of each row of one matrix from each row of another.

use smallvec::smallvec;

use crate::functional::{
    abs, add, eq, gt, logical_and, lt, matmul, matrix_transpose, mul, num, select_where, sqrt,
    squeeze, sub, sum, unsqueeze,
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
    let p = cx.float(0);
    if p < 0.0 {
        let problem = format!("is {p}: cdist only supports non-negative p values");
        return Err(Error::Attr { op: cx.op.name, name: "p", problem });
    }
    if p == 2.0 && a.shape()[a.rank() - 2].max(b.shape()[b.rank() - 2]) > MANY {
        return Ok(smallvec![by_products(a, b)?]);
    }
    let gaps = sub(&unsqueeze(a, -2)?, &unsqueeze(b, -3)?)?;
    if p == f64::INFINITY {
        return Ok(smallvec![largest(&gaps)?]);
    }
    let attrs = smallvec![Attr::Float(p), Attr::ints(&[-1]), Attr::Bool(false)];
    Ok(smallvec![apply_one(&crate::ops::reduce::norm::OP, &[gaps], &attrs)?])
}

/// The largest gap of each row. Where several are as large each gets the gradient, as in PyTorch, and not a part of it.
fn largest(gaps: &Tensor) -> Result<Tensor> {
    let sizes = abs(gaps)?;
    let attrs = smallvec![Attr::Float(f64::INFINITY), Attr::ints(&[-1]), Attr::Bool(true)];
    let found = apply_one(&crate::ops::reduce::norm::OP, &[gaps.detach()], &attrs)?;
    let is_finite = lt(&found, &num(f64::INFINITY))?;
    let is_largest = logical_and(&eq(&sizes.detach(), &found)?, &is_finite)?;
    let ways = sum(&select_where(&is_largest, &sizes, &num(0.0))?, &[-1], true)?;
    squeeze(&add(&found, &sub(&ways, &ways.detach())?)?, -1)
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
