//! Whole numbers. Convolutions: for each place of the kernel the products of what lies below it, which wrap around; transposed ones go
//! by these. Pools: in float64.

use smallvec::smallvec;

use super::Steps;
use crate::functional::{add, flip, matmul, reshape, select, slice, to, transpose};
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

/// The transposed convolution of a batch, without its bias, which has this size: the images with zeros between their elements,
/// convolved with the kernels turned round.
pub(super) fn spread(
    x: &Tensor,
    weight: &Tensor,
    size: [usize; 2],
    steps: &Steps,
) -> Result<Tensor> {
    let ([n, c, height, width], [_, kernels, rows, columns]) =
        (&x.shape()[..], &weight.shape()[..])
    else {
        return Err(Error::Arity { op: super::conv_transpose2d::OP.name, expected: 2, got: 0 });
    };
    let [down, right] = steps.stride;
    let apart = reshape(x, &Shape::from([*n, *c, *height, 1, *width, 1]))?;
    let apart = with_zeros(&apart, &[0, right as i64 - 1, 0, 0, 0, down as i64 - 1])?;
    let apart = reshape(&apart, &Shape::from([*n, *c, height * down, width * right]))?;
    let mut sides = Vec::new();
    for (axis, (taps, from)) in [(columns, width * right), (rows, height * down)].iter().enumerate()
    {
        let axis = 1 - axis;
        let reach = (steps.dilation[axis] * (*taps - 1)) as i64;
        let before = reach - steps.padding[axis] as i64;
        sides.extend([before, size[axis] as i64 + reach - before - *from as i64]);
    }
    let apart = with_zeros(&apart, &sides)?;
    let groups = steps.groups;
    let turned = reshape(weight, &Shape::from([groups, c / groups, *kernels, *rows, *columns]))?;
    let turned = transpose(&turned, 1, 2)?;
    let turned = reshape(&turned, &Shape::from([groups * kernels, c / groups, *rows, *columns]))?;
    let attrs = smallvec![
        Attr::ints(&[1]),
        Attr::ints(&[0]),
        Attr::sizes(&steps.dilation),
        Attr::Int(groups as i64)
    ];
    convolved(&[apart, flip(&turned, &[2, 3])?], &attrs)
}

fn padded(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let [rows, columns] = [rows as i64, columns as i64];
    with_zeros(x, &[columns, columns, rows, rows])
}

/// Padded with zeros from the last dimension on, or cut where a number is below 0.
fn with_zeros(x: &Tensor, sides: &[i64]) -> Result<Tensor> {
    if sides.iter().all(|it| *it == 0) {
        return Ok(x.clone());
    }
    let attrs = smallvec![Attr::ints(sides), Attr::Str("constant"), Attr::Float(0.0)];
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
    let dtype = cx.input(0)?.dtype();
    if dtype != DType::I64 {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "floats, or int64" });
    }
    pooled(cx)
}
