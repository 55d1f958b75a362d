//! Normalisation, softmax and dropout.

use super::super::args::Cx;
use super::super::calls::{call, call_all, full, reshape, sizes};
use super::super::value::Value;
use super::conv::per_channel;
use super::logic::yes;
use super::slice::padded;
use super::{Operator, many, one, values};
use crate::functional::{abs, add, div, eq, mean, mul, num, pow, sqrt, sub, to};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    many("BatchNormalization", batch_norm),
    many("Dropout", dropout),
    one("GroupNormalization", group_norm),
    one("Hardmax", hardmax),
    one("InstanceNormalization", instance_norm),
    one("LRN", local_response),
    many("LayerNormalization", layer_norm),
    one("LogSoftmax", |cx| softmax(cx, "log_softmax")),
    one("LpNormalization", lp_norm),
    one("MeanVarianceNormalization", mean_variance),
    one("RMSNormalization", rms_norm),
    one("Softmax", |cx| softmax(cx, "softmax")),
];

/// `(x - mean) / sqrt(var + eps) * scale + bias`
fn normal(
    x: &Tensor,
    [mean, var]: [&Tensor; 2],
    [scale, bias]: [&Tensor; 2],
    eps: f64,
) -> Result<Tensor> {
    let factor = div(scale, &sqrt(&add(var, &num(eps))?)?)?;
    add(&mul(&sub(x, mean)?, &factor)?, bias)
}

fn batch_norm(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let eps = cx.float("epsilon", f64::from(1e-5_f32));
    let rank = x.rank().max(2);
    let per = |idx: usize| cx.input(idx).and_then(|it| per_channel(it, rank));
    let (scale, bias, mean_in, var_in) = (per(1)?, per(2)?, per(3)?, per(4)?);
    let trains = cx.flag("training_mode") || (cx.opset() < 7 && cx.opt_int("is_test") == Some(0));
    if !trains {
        let y = normal(x, [&mean_in, &var_in], [&scale, &bias], eps)?;
        return Ok(values([to(&y, x.dtype())?]));
    }
    let dims: Vec<i64> = (0..x.rank() as i64).filter(|it| *it != 1).collect();
    let wide = if x.dtype().is_half() { to(x, DType::F32)? } else { x.clone() };
    let center = mean(&wide, &dims, true)?;
    let apart = sub(&wide, &center)?;
    let var = mean(&mul(&apart, &apart)?, &dims, true)?;
    let y = normal(&wide, [&center, &var], [&scale, &bias], eps)?;
    let momentum = cx.float("momentum", f64::from(0.9_f32));
    let running = |old: &Tensor, new: &Tensor, idx: usize| {
        let mixed = add(&mul(old, &num(momentum))?, &mul(new, &num(1.0 - momentum))?)?;
        let like = cx.input(idx)?;
        to(&crate::functional::reshape(&mixed, like.shape())?, like.dtype())
    };
    let outputs = [to(&y, x.dtype())?, running(&mean_in, &center, 3)?, running(&var_in, &var, 4)?];
    Ok(values(outputs))
}

/// Without training the input as it is; in training some elements become 0, the others larger.
fn dropout(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let p = match cx.opt_float("ratio") {
        Some(it) => it,
        None => cx.float_at(1)?.unwrap_or(0.5),
    };
    let trains = cx.int_at(2)?.unwrap_or(0) != 0;
    let always = full(&[], 1.0, DType::Bool)?;
    let kept = crate::functional::expand(&always, x.shape())?;
    if !trains || p == 0.0 {
        return Ok(values([x.clone(), kept]));
    }
    let mask = call("dropout_mask", &[x], &[Attr::Float(p)])?;
    let kept = to(&mask, DType::Bool)?;
    let y = if mask.dtype() == DType::Bool {
        div(&mul(x, &to(&mask, x.dtype())?)?, &num(1.0 - p))?
    } else {
        mul(x, &mask)?
    };
    Ok(values([y, kept]))
}

fn group_norm(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, scale, bias) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let groups = cx.int("num_groups", 1);
    let channels = x.shape().get(1).copied().unwrap_or(0);
    if groups < 1 || channels % groups as usize != 0 {
        return Err(cx.bad(format!("{channels} channels are no multiple of {groups} groups")));
    }
    // Before opset 21 scale and bias stand once per group.
    let of_channel = |it: &Tensor| match it.numel() == channels {
        true => Ok(it.clone()),
        false => {
            let each = channels / groups as usize;
            let wide = call("repeat_interleave", &[it], &[Attr::Int(each as i64), Attr::Int(0)])?;
            reshape(&wide, &[channels])
        }
    };
    let (scale, bias) = (of_channel(scale)?, of_channel(bias)?);
    let eps = Attr::Float(cx.float("epsilon", f64::from(1e-5_f32)));
    call("group_norm", &[x, &scale, &bias], &[Attr::Int(groups), eps])
}

fn instance_norm(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let dims: Vec<i64> = (2..x.rank() as i64).collect();
    let center = mean(x, &dims, true)?;
    let apart = sub(x, &center)?;
    let var = mean(&mul(&apart, &apart)?, &dims, true)?;
    let (scale, bias) =
        (per_channel(cx.input(1)?, x.rank())?, per_channel(cx.input(2)?, x.rank())?);
    normal(x, [&center, &var], [&scale, &bias], cx.float("epsilon", f64::from(1e-5_f32)))
}

/// `x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta`
fn local_response(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let size = cx.int("size", 0);
    if size < 1 || x.rank() < 2 {
        return Err(cx.bad("its size must be positive, its input have channels"));
    }
    let mut pairs = vec![[0, 0]; x.rank()];
    pairs[1] = [(size - 1) / 2, size - 1 - (size - 1) / 2];
    let squares = padded(&mul(x, x)?, &pairs, "constant", 0.0)?;
    let windows =
        call("sliding_windows", &[&squares], &[Attr::Int(1), Attr::Int(size), Attr::Int(1)])?;
    let sums = crate::functional::sum(&windows, &[-1], false)?;
    let scaled = mul(&sums, &num(cx.float("alpha", f64::from(1e-4_f32)) / size as f64))?;
    let base = add(&scaled, &num(cx.float("bias", 1.0)))?;
    div(x, &pow(&base, &num(cx.float("beta", 0.75)))?)
}

/// The dimensions from an axis on.
fn trailing(cx: &Cx<'_>, x: &Tensor) -> Result<Vec<i64>> {
    let axis = cx.axis("axis", -1, x.rank())?;
    Ok((axis as i64..x.rank() as i64).collect())
}

fn layer_norm(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    let dims = trailing(cx, x)?;
    let eps = cx.float("epsilon", f64::from(1e-5_f32));
    let whole: Vec<usize> = dims.iter().map(|&it| x.shape()[it as usize]).collect();
    let fits = scale.shape()[..] == whole[..]
        && cx.opt_input(2).is_none_or(|it| it.shape()[..] == whole[..]);
    if fits && cx.n_outputs() == 1 {
        let inputs: Vec<&Tensor> = [x, scale].into_iter().chain(cx.opt_input(2)).collect();
        let attrs = [Attr::ints(&sizes(&whole)), Attr::Float(eps)];
        return Ok(values([call("layer_norm", &inputs, &attrs)?]));
    }
    let wide = if x.dtype().is_half() { to(x, DType::F32)? } else { x.clone() };
    let center = mean(&wide, &dims, true)?;
    let apart = sub(&wide, &center)?;
    let var = mean(&mul(&apart, &apart)?, &dims, true)?;
    let inverse = call("rsqrt", &[&add(&var, &num(eps))?], &[])?;
    let y = mul(&to(&mul(&apart, &inverse)?, x.dtype())?, scale)?;
    let y = cx.opt_input(2).map_or(Ok(y.clone()), |bias| add(&y, bias))?;
    Ok(values([y, center, inverse]))
}

fn rms_norm(cx: &Cx<'_>) -> Result<Tensor> {
    let (x, scale) = (cx.input(0)?, cx.input(1)?);
    let wide = if x.dtype().is_half() { to(x, DType::F32)? } else { x.clone() };
    let squares = mean(&mul(&wide, &wide)?, &trailing(cx, x)?, true)?;
    let eps = cx.float("epsilon", f64::from(1e-5_f32));
    let y = div(&wide, &sqrt(&add(&squares, &num(eps))?)?)?;
    to(&mul(&to(&y, x.dtype())?, scale)?, scale.dtype())
}

fn lp_norm(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axis = cx.axis("axis", -1, x.rank())? as i64;
    let size = match cx.int("p", 2) {
        1 => crate::functional::sum(&abs(x)?, &[axis], true)?,
        2 => sqrt(&crate::functional::sum(&mul(x, x)?, &[axis], true)?)?,
        p => return Err(cx.bad(format!("the norm of order {p} is neither 1 nor 2"))),
    };
    let zero = full(&[], 0.0, x.dtype())?;
    let nothing = eq(&size, &zero)?;
    let size = crate::functional::select_where(&nothing, &full(&[], 1.0, x.dtype())?, &size)?;
    div(x, &size)
}

fn mean_variance(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axes = cx.ints("axes").unwrap_or(&[0, 2, 3]);
    let apart = sub(x, &mean(x, axes, true)?)?;
    let deviation = sqrt(&mean(&mul(&apart, &apart)?, axes, true)?)?;
    div(&apart, &add(&deviation, &num(1e-9))?)
}

/// Before opset 13 all dimensions from the axis on count as one.
fn softmax(cx: &Cx<'_>, name: &'static str) -> Result<Tensor> {
    let x = cx.input(0)?;
    if cx.opset() >= 13 {
        let axis = cx.axis("axis", -1, x.rank())?;
        return call(name, &[x], &[Attr::Int(axis as i64)]);
    }
    let (rows, _) = as_rows(cx, x)?;
    crate::functional::reshape(&call(name, &[&rows], &[Attr::Int(1)])?, x.shape())
}

/// The dimensions before an axis as one, and those from it on.
fn as_rows(cx: &Cx<'_>, x: &Tensor) -> Result<(Tensor, usize)> {
    let axis = cx.axis("axis", 1, x.rank())?;
    let (rows, columns) = x.shape().split_at(axis);
    Ok((reshape(x, &[rows.iter().product(), columns.iter().product()])?, axis))
}

/// 1 at the first largest element, 0 elsewhere.
fn hardmax(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let (lines, axis) = match cx.opset() {
        13.. => (x.clone(), cx.axis("axis", -1, x.rank())?),
        _ => (as_rows(cx, x)?.0, 1),
    };
    let found = call_all("max", &[&lines], &[Attr::Int(axis as i64), yes(true)])?;
    let all = super::sort::numbered(lines.shape()[axis], axis, lines.rank(), DType::I64)?;
    crate::functional::reshape(&to(&eq(&found[1], &all)?, x.dtype())?, x.shape())
}
