//! Whole numbers. Convolutions: for each place of the kernel the products of what lies below it, which wrap around. Pools: in float64.

use smallvec::smallvec;

use super::Steps;
use crate::functional::{add, matmul, reshape, select, slice, to};
use crate::op::{ComposedCx, InferCx};
use crate::ops::shape::pad;
use crate::{Attr, Attrs, DType, Error, Outputs, Result, Shape, Tensor, apply, apply_one};

/// The convolution of a batch, with its bias; inputs and attributes are those of `convolution`.
pub(super) fn convolved(inputs: &[Tensor], attrs: &Attrs) -> Result<Tensor> {
    let op = &super::convolution::OP;
    let steps = Steps::from_attrs(op.name, attrs, 0)?;
    let shape = (op.infer)(&InferCx { op, inputs, attrs })?[0].shape.clone();
    let (x, weight) = (padded(&inputs[0], steps.padding)?, &inputs[1]);
    let (groups, size) = (steps.groups, shape[2] * shape[3]);
    let (n, channels, kernels) = (shape[0], weight.shape()[1], shape[1] / groups);
    let mut total: Option<Tensor> = None;
    for row in 0..weight.shape()[2] {
        for column in 0..weight.shape()[3] {
            let seen = below(&below(&x, 2, row, &steps, shape[2])?, 3, column, &steps, shape[3])?;
            let seen = reshape(&seen, &Shape::from([n, groups, channels, size]))?;
            let tap = select(&select(weight, -1, column as i64)?, -1, row as i64)?;
            let tap = reshape(&tap, &Shape::from([groups, kernels, channels]))?;
            let part = matmul(&tap, &seen)?;
            total = Some(total.map_or(Ok(part.clone()), |it| add(&it, &part))?);
        }
    }
    let total = total.ok_or(Error::Arity { op: op.name, expected: 2, got: inputs.len() })?;
    let y = reshape(&total, &shape)?;
    match inputs.get(2) {
        Some(bias) => add(&y, &reshape(bias, &Shape::from([bias.numel(), 1, 1]))?),
        None => Ok(y),
    }
}

/// What lies below a place of the kernel, as far as it moves along a dimension.
fn below(x: &Tensor, dim: i64, place: usize, steps: &Steps, count: usize) -> Result<Tensor> {
    let axis = dim as usize - 2;
    let (start, step) = (place * steps.dilation[axis], steps.stride[axis]);
    let end = start + step * (count - 1) + 1;
    slice(x, dim, start as i64, end as i64, step as i64)
}

fn padded(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    if rows + columns == 0 {
        return Ok(x.clone());
    }
    let sides = Attr::sizes(&[columns, columns, rows, rows]);
    let attrs = smallvec![sides, Attr::Str("constant"), Attr::Float(0.0)];
    apply_one(&pad::OP, std::slice::from_ref(x), &attrs)
}

/// A pool: its first result is a whole number again, rounded towards 0.
pub(super) fn pooled(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    if x.dtype() == DType::Bool {
        return Err(Error::DType { op: cx.op.name, dtype: DType::Bool, allowed: "numbers" });
    }
    // Whole numbers beyond 2^53 are rounded there.
    let mut outputs = apply(cx.op, &[to(x, DType::F64)?], cx.attrs)?;
    outputs[0] = to(&outputs[0], x.dtype())?;
    Ok(outputs)
}

/// As [`pooled`], of int64 alone, as in PyTorch.
pub(super) fn averaged(cx: &ComposedCx<'_>) -> Result<Outputs> {
    match cx.input(0)?.dtype() {
        DType::I64 => pooled(cx),
        dtype => Err(Error::DType { op: cx.op.name, dtype, allowed: "floats, or int64" }),
    }
}
