//! Sums and other reductions along dimensions, and running ones.

use super::super::args::Cx;
use super::super::calls::{call, full, sizes};
use super::logic::{through_bytes, yes};
use super::{Operator, one};
use crate::functional::{abs, exp, flip, log, mul, slice, sqrt, to};
use crate::{Attr, DType, Result, Tensor, functional};

pub(super) static ALL: &[Operator] = &[
    one("ArgMax", |cx| place(cx, "argmax")),
    one("ArgMin", |cx| place(cx, "argmin")),
    one("CumProd", |cx| running(cx, "cumprod", 1.0)),
    one("CumSum", |cx| running(cx, "cumsum", 0.0)),
    one("ReduceL1", |cx| reduce(cx, 0.0, |x, by| by.sum(&abs(x)?))),
    one("ReduceL2", |cx| reduce(cx, 0.0, |x, by| root(&by.sum(&mul(x, x)?)?, x))),
    one("ReduceLogSum", |cx| reduce(cx, f64::NEG_INFINITY, |x, by| log(&by.sum(x)?))),
    one("ReduceLogSumExp", |cx| reduce(cx, f64::NEG_INFINITY, log_sum_exp)),
    one("ReduceMax", |cx| reduce(cx, f64::NEG_INFINITY, |x, by| extreme(x, by, "amax"))),
    one("ReduceMean", |cx| reduce(cx, f64::NAN, average)),
    one("ReduceMin", |cx| reduce(cx, f64::INFINITY, |x, by| extreme(x, by, "amin"))),
    one("ReduceProd", |cx| reduce(cx, 1.0, product)),
    one("ReduceSum", |cx| reduce(cx, 0.0, |x, by| by.sum(x))),
    one("ReduceSumSquare", |cx| reduce(cx, 0.0, |x, by| by.sum(&mul(x, x)?))),
];

/// Along which dimensions; none at all leaves every element for itself.
struct Along {
    dims: Vec<i64>,
    keep: bool,
}

impl Along {
    fn attrs(&self) -> [Attr; 2] {
        [Attr::ints(&self.dims), yes(self.keep)]
    }

    fn sum(&self, x: &Tensor) -> Result<Tensor> {
        if self.dims.is_empty() {
            return Ok(x.clone());
        }
        let [dims, keep] = self.attrs();
        call("sum", &[x], &[dims, keep, Attr::DType(x.dtype())])
    }
}

/// A reduction; `empty` is what it gives of no elements.
fn reduce(cx: &Cx<'_>, empty: f64, body: fn(&Tensor, &Along) -> Result<Tensor>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axes = cx.ints_of("axes", 1)?.unwrap_or_default();
    let mut dims = axes.iter().map(|&it| cx.dim(it, x.rank())).collect::<Result<Vec<usize>>>()?;
    if dims.is_empty() && !cx.flag("noop_with_empty_axes") {
        dims = (0..x.rank()).collect();
    }
    let keep = cx.int("keepdims", 1) != 0;
    if x.numel() == 0 {
        let kept = |(dim, &size): (usize, &usize)| match dims.contains(&dim) {
            true => keep.then_some(1),
            false => Some(size),
        };
        let shape: Vec<usize> = x.shape().iter().enumerate().filter_map(kept).collect();
        return full(&shape, in_range(empty, x.dtype()), x.dtype());
    }
    body(x, &Along { dims: sizes(&dims), keep })
}

/// The number, or the nearest that a dtype holds.
fn in_range(number: f64, dtype: DType) -> f64 {
    match dtype.int_range() {
        Some((low, high)) => number.clamp(low as f64, high as f64),
        None if dtype == DType::Bool => f64::from(u8::from(number > 0.0)),
        None => number,
    }
}

fn root(x: &Tensor, like: &Tensor) -> Result<Tensor> {
    to(&sqrt(x)?, like.dtype())
}

fn log_sum_exp(x: &Tensor, by: &Along) -> Result<Tensor> {
    if by.dims.is_empty() {
        return log(&exp(x)?);
    }
    call("logsumexp", &[x], &by.attrs())
}

fn extreme(x: &Tensor, by: &Along, name: &'static str) -> Result<Tensor> {
    if by.dims.is_empty() {
        return Ok(x.clone());
    }
    through_bytes(x, |x| call(name, &[x], &by.attrs()))
}

fn average(x: &Tensor, by: &Along) -> Result<Tensor> {
    if by.dims.is_empty() {
        return Ok(x.clone());
    }
    if x.dtype().is_float() {
        return call("mean", &[x], &by.attrs());
    }
    let count: usize = by.dims.iter().map(|&it| x.shape()[it as usize]).product();
    super::elementwise::quotient(&by.sum(x)?, &full(&[], count as f64, x.dtype())?)
}

fn product(x: &Tensor, by: &Along) -> Result<Tensor> {
    if by.dims.is_empty() {
        return Ok(x.clone());
    }
    let [dims, keep] = by.attrs();
    call("prod", &[x], &[dims, keep, Attr::DType(x.dtype())])
}

fn place(cx: &Cx<'_>, name: &'static str) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axis = cx.axis("axis", 0, x.rank())?;
    let attrs = [Attr::Int(axis as i64), yes(cx.int("keepdims", 1) != 0)];
    if !cx.flag("select_last_index") {
        return call(name, &[x], &attrs);
    }
    let at = call(name, &[&flip(x, &[axis as i64])?], &attrs)?;
    functional::sub(&super::super::calls::scalar(x.shape()[axis] as i64 - 1)?, &at)
}

fn running(cx: &Cx<'_>, name: &'static str, start: f64) -> Result<Tensor> {
    let x = cx.input(0)?;
    let axis = cx.int_at(1)?.ok_or_else(|| cx.bad("its input 1, the axis, is missing"))?;
    let dim = cx.dim(axis, x.rank())? as i64;
    let reverse = cx.flag("reverse");
    let ordered = if reverse { flip(x, &[dim])? } else { x.clone() };
    let mut sums = call(name, &[&ordered], &[Attr::Int(dim), Attr::DType(x.dtype())])?;
    if cx.flag("exclusive") && x.shape()[dim as usize] > 0 {
        let mut first = x.shape().to_vec();
        let n = first[dim as usize] as i64;
        first[dim as usize] = 1;
        let rest = slice(&sums, dim, 0, n - 1, 1)?;
        sums = functional::cat(&[full(&first, start, x.dtype())?, rest], dim)?;
    }
    if reverse { flip(&sums, &[dim]) } else { Ok(sums) }
}
