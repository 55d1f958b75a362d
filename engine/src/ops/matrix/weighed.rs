//! What products of fixed ranks share: their checks, and `beta * input + alpha * product`.

use smallvec::smallvec;

use crate::functional::{add, full, mul, num, select_where};
use crate::op::{ComposedCx, Default, Param, ParamKind};
use crate::{Attr, DType, Error, Outputs, Result, Shape, Tensor};

/// What the input counts for; attribute 0.
pub(super) const BETA: Param = Param::with("beta", ParamKind::Float, Default::Int(1));

/// What the product counts for; attribute 1.
pub(super) const ALPHA: Param = Param::with("alpha", ParamKind::Float, Default::Int(1));

/// The two factors, which are the last operands.
fn factors<'a>(cx: &'a ComposedCx<'_>) -> Result<[&'a Tensor; 2]> {
    let n_inputs = cx.inputs.len();
    Ok([cx.input(n_inputs.saturating_sub(2))?, cx.input(n_inputs.saturating_sub(1))?])
}

fn bad_shapes(cx: &ComposedCx<'_>, rule: &str) -> Error {
    let shapes = cx.inputs.iter().flatten().map(|it| it.shape().clone()).collect();
    Error::Shapes { op: cx.op.name, shapes, rule: rule.into() }
}

/// Checks the ranks of the factors.
pub(super) fn ranks(cx: &ComposedCx<'_>, ranks: &[usize; 2], rule: &str) -> Result<()> {
    let fit = factors(cx)?.iter().map(|it| it.rank()).eq(ranks.iter().copied());
    if fit { Ok(()) } else { Err(bad_shapes(cx, rule)) }
}

/// Checks that the factors are batches of one size: they do not broadcast.
pub(super) fn same_batch(cx: &ComposedCx<'_>) -> Result<()> {
    let [a, b] = factors(cx)?;
    if a.shape().first() == b.shape().first() {
        return Ok(());
    }
    Err(bad_shapes(cx, "both batches must have one size; `@` broadcasts them"))
}

/// `beta * input + alpha * product`; attributes 0 and 1 are `beta` and `alpha`. With `beta` 0 the input counts for nothing, whatever it holds.
pub(super) fn weighed_sum(cx: &ComposedCx<'_>, product: Tensor) -> Result<Outputs> {
    let input = cx.input(0)?;
    if input.shape().broadcast(product.shape()).as_ref() != Some(product.shape()) {
        return Err(bad_shapes(cx, "the input must broadcast to the shape of the product"));
    }
    let product = scaled(cx, product, 1)?;
    if cx.float(0) == 0.0 {
        let always = full(&Shape::default(), 1.0, DType::Bool)?;
        return Ok(smallvec![select_where(&always, &product, input)?]);
    }
    Ok(smallvec![add(&scaled(cx, input.clone(), 0)?, &product)?])
}

/// The tensor times attribute `idx`; whole numbers stay whole, and take the whole part of it as in PyTorch.
fn scaled(cx: &ComposedCx<'_>, x: Tensor, idx: usize) -> Result<Tensor> {
    let by = cx.float(idx);
    if by == 1.0 {
        return Ok(x);
    }
    if x.dtype().is_differentiable() {
        return mul(&x, &num(by));
    }
    match cx.attrs.get(idx) {
        Some(Attr::Int(by)) => mul(&x, &Tensor::int_number(*by)),
        _ => mul(&x, &Tensor::int_number(by as i64)),
    }
}
