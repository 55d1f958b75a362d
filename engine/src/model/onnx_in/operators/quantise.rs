//! Whole numbers that stand for floats by a scale and a zero point.

use super::super::args::Cx;
use super::super::calls::{call, full, reshape};
use super::super::value::Value;
use super::conv::{Steps, convolved, groups, image_of, per_channel};
use super::logic::yes;
use super::{Operator, many, one, values};
use crate::functional::{add, div, matmul, maximum, minimum, mul, select_where, slice, sub, to};
use crate::model::onnx_in::tensors::dtype_of;
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("ConvInteger", conv_integer),
    one("DequantizeLinear", dequantize),
    many("DynamicQuantizeLinear", quantize_by_range),
    one("MatMulInteger", matmul_integer),
    one("QLinearConv", q_conv),
    one("QLinearMatMul", q_matmul),
    one("QuantizeLinear", quantize),
];

/// A scale or zero point beside `x`: one for all, one for each place along an axis, or one for each block.
fn beside(cx: &Cx<'_>, it: &Tensor, x: &Tensor) -> Result<Tensor> {
    if it.numel() == 1 {
        return reshape(it, &[]);
    }
    let axis = cx.axis("axis", 1, x.rank())?;
    let n = x.shape()[axis];
    if it.rank() == 1 && it.numel() == n && cx.int("block_size", 0) == 0 {
        let mut sizes = vec![1; x.rank()];
        sizes[axis] = n;
        return reshape(it, &sizes);
    }
    let block = cx.int("block_size", 0);
    if block < 1 || it.rank() != x.rank() {
        return Err(cx.bad(format!(
            "scales or zero points {} do not fit {}",
            it.shape(),
            x.shape()
        )));
    }
    let attrs = [Attr::Int(block.min(n as i64)), Attr::Int(axis as i64)];
    let wide = call("repeat_interleave", &[it], &attrs)?;
    let cut = slice(&wide, axis as i64, 0, n as i64, 1)?;
    match cut.shape() == x.shape() {
        true => Ok(cut),
        false => Err(cx.bad(format!("blocks {} do not make up {}", it.shape(), x.shape()))),
    }
}

/// The nearest whole numbers, moved by the zero point, as far as the dtype reaches.
fn rounded(cx: &Cx<'_>, x: &Tensor, zero: Option<&Tensor>, dtype: DType) -> Result<Tensor> {
    let Some((low, high)) = dtype.int_range() else {
        return Err(cx.bad(format!("{} is no dtype of whole numbers", dtype.short())));
    };
    let mut whole = to(&call("round", &[x], &[])?, DType::F64)?;
    if let Some(it) = zero {
        whole = add(&whole, &to(it, DType::F64)?)?;
    }
    let limit = |it: f64| full(&[], it, DType::F64);
    let inside = minimum(&maximum(&whole, &limit(low as f64)?)?, &limit(high as f64)?)?;
    to(&inside, dtype)
}

fn quantize(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    let zero = cx.opt_input(2).map(|it| beside(cx, it, x)).transpose()?;
    let dtype = match (&zero, cx.int("output_dtype", 0)) {
        (Some(it), _) => it.dtype(),
        (None, 0) => DType::U8,
        (None, it) => dtype_of(it as i32)?,
    };
    let precision = match cx.int("precision", 0) {
        0 if x.dtype().is_float() => scale.dtype(),
        0 => DType::F32,
        it => dtype_of(it as i32)?,
    };
    let quotient = div(&to(x, precision)?, &to(&beside(cx, scale, x)?, precision)?)?;
    rounded(cx, &quotient, zero.as_ref(), dtype)
}

fn dequantize(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    let mut wide = to(x, DType::F32)?;
    if let Some(zero) = cx.opt_input(2) {
        if zero.dtype() != x.dtype() {
            let (a, b) = (x.dtype().short(), zero.dtype().short());
            return Err(cx.bad(format!("its input is {a}, its zero point {b}")));
        }
        // Differences of whole numbers that float32 may not hold are taken before they become floats.
        let exact = x.dtype().is_int() && x.dtype().size() >= DType::F32.size();
        let between = if exact { DType::I64 } else { DType::F32 };
        wide = sub(&to(x, between)?, &to(&beside(cx, zero, x)?, between)?)?;
        wide = to(&wide, DType::F32)?;
    }
    let dtype = match cx.int("output_dtype", 0) {
        0 => scale.dtype(),
        it => dtype_of(it as i32)?,
    };
    to(&mul(&wide, &to(&beside(cx, scale, x)?, DType::F32)?)?, dtype)
}

/// To bytes, by the scale and zero point at which the smallest and largest element, and 0, just fit.
fn quantize_by_range(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let all: Vec<i64> = (0..x.rank() as i64).collect();
    let zero = full(&[], 0.0, x.dtype())?;
    let extreme = |name| match all.is_empty() {
        true => Ok(x.clone()),
        false => call(name, &[x], &[Attr::ints(&all), yes(false)]),
    };
    let high = maximum(&extreme("amax")?, &zero)?;
    let low = minimum(&extreme("amin")?, &zero)?;
    let range = sub(&high, &low)?;
    let one = full(&[], 1.0, x.dtype())?;
    let range = select_where(&crate::functional::eq(&range, &zero)?, &one, &range)?;
    let scale = div(&range, &full(&[], 255.0, x.dtype())?)?;
    let point = rounded(cx, &sub(&zero, &div(&low, &scale)?)?, None, DType::U8)?;
    let y = rounded(cx, &div(x, &scale)?, Some(&point), DType::U8)?;
    Ok(values([y, scale, point]))
}

/// Whole numbers less their zero point, in floats that hold their products and sums.
fn centered(x: &Tensor, zero: Option<Tensor>) -> Result<Tensor> {
    let x = to(x, DType::F64)?;
    zero.map_or_else(|| Ok(x.clone()), |it| sub(&x, &to(&it, DType::F64)?))
}

/// Scales or zero points of the rows of a matrix, if there is more than one.
fn of_rows(it: &Tensor) -> Result<Tensor> {
    match it.rank() {
        1 if it.numel() > 1 => crate::functional::unsqueeze(it, -1),
        _ if it.numel() == 1 => reshape(it, &[]),
        _ => Ok(it.clone()),
    }
}

/// Scales or zero points of the columns of a matrix.
fn of_columns(it: &Tensor) -> Result<Tensor> {
    if it.numel() == 1 { reshape(it, &[]) } else { Ok(it.clone()) }
}

fn matmul_integer(cx: &Cx<'_>) -> Result<Tensor> {
    let a = centered(cx.input(0)?, cx.opt_input(2).map(of_rows).transpose()?)?;
    let b = centered(cx.input(1)?, cx.opt_input(3).map(of_columns).transpose()?)?;
    to(&matmul(&a, &b)?, DType::I32)
}

fn q_matmul(cx: &Cx<'_>) -> Result<Tensor> {
    let a = centered(cx.input(0)?, Some(of_rows(cx.input(2)?)?))?;
    let b = centered(cx.input(3)?, Some(of_columns(cx.input(5)?)?))?;
    let factor = mul(&of_rows(cx.input(1)?)?, &of_columns(cx.input(4)?)?)?;
    let factor = div(&factor, &of_rows(cx.input(6)?)?)?;
    let zero = of_rows(cx.input(7)?)?;
    rescaled(cx, &matmul(&a, &b)?, &factor, &zero)
}

/// A product of whole numbers by a scale, as the nearest numbers of the zero point's dtype.
fn rescaled(cx: &Cx<'_>, product: &Tensor, factor: &Tensor, zero: &Tensor) -> Result<Tensor> {
    rounded(cx, &mul(product, &to(factor, DType::F64)?)?, Some(zero), zero.dtype())
}

/// One for all channels, or one for each along dimension `dim`.
fn of_channels(it: &Tensor, rank: usize, dim: usize) -> Result<Tensor> {
    let mut sizes = vec![1; if it.numel() == 1 { 0 } else { rank }];
    if it.numel() != 1 {
        sizes[dim] = it.numel();
    }
    reshape(it, &sizes)
}

/// A convolution of whole numbers `[x, weight]`, each less its zero point.
fn whole_conv(
    cx: &Cx<'_>,
    [x, weight]: [&Tensor; 2],
    [x_zero, w_zero]: [Option<&Tensor>; 2],
    bias: Option<&Tensor>,
) -> Result<Tensor> {
    let kernel = image_of(cx, weight)?.to_vec();
    let steps = Steps::of(cx, image_of(cx, x)?, kernel)?;
    let x = centered(x, x_zero.map(|it| of_channels(it, x.rank(), 0)).transpose()?)?;
    let zero = w_zero.map(|it| of_channels(it, weight.rank(), 0)).transpose()?;
    let y = convolved(&x, &centered(weight, zero)?, None, &steps, groups(cx)?)?;
    bias.map_or_else(|| Ok(y.clone()), |it| add(&y, &per_channel(&to(it, DType::F64)?, y.rank())?))
}

fn conv_integer(cx: &Cx<'_>) -> Result<Tensor> {
    let zeros = [cx.opt_input(2), cx.opt_input(3)];
    to(&whole_conv(cx, [cx.input(0)?, cx.input(1)?], zeros, None)?, DType::I32)
}

fn q_conv(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, weight) = (cx.input(0)?, cx.input(3)?);
    let zeros = [Some(cx.input(2)?), Some(cx.input(5)?)];
    let y = whole_conv(cx, [x, weight], zeros, cx.opt_input(8))?;
    let of_weight = of_channels(cx.input(4)?, x.rank(), 1)?;
    let scales = mul(&reshape(cx.input(1)?, &[])?, &of_weight)?;
    let factor = div(&scales, &reshape(cx.input(6)?, &[])?)?;
    rescaled(cx, &y, &factor, &reshape(cx.input(7)?, &[])?)
}
