//! How reductions and scans are written in ONNX.

use crate::attr::Attr;
use crate::op::{NodeCx, Wire, attr};
use crate::{DType, Result};

/// The dimensions in attribute `idx`, or all of them.
fn dims(cx: &NodeCx<'_>, idx: usize) -> Vec<i64> {
    let rank = cx.rank(0);
    match cx.ints(idx) {
        Some(dims) if !dims.is_empty() => {
            dims.iter().map(|&it| cx.nonnegative(it, rank)).filter(|it| *it < rank as i64).collect()
        }
        _ => (0..rank as i64).collect(),
    }
}

/// A reduction of all given dimensions; `compute` is the dtype it runs in.
fn fold(cx: &mut NodeCx<'_>, op_type: &str, compute: DType, keep: bool) -> Result<()> {
    let x = cx.input_as(0, compute);
    let dims = dims(cx, 0);
    let wire = cx.reduce(op_type, &x, &dims, keep)?;
    cx.give_as(&wire, compute);
    Ok(())
}

pub(super) fn sum(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceSum", cx.output(0).dtype, cx.flag(1))
}

pub(super) fn mean(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceMean", cx.output(0).dtype, cx.flag(1))
}

pub(super) fn prod(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceProd", cx.output(0).dtype, cx.flag(1))
}

pub(super) fn amax(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceMax", cx.dtype(0).at_least_i32(), cx.flag(1))
}

pub(super) fn amin(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceMin", cx.dtype(0).at_least_i32(), cx.flag(1))
}

pub(super) fn logsumexp(cx: &mut NodeCx<'_>) -> Result<()> {
    fold(cx, "ReduceLogSumExp", cx.output(0).dtype, cx.flag(1))
}

/// Whether elements are not 0, as 0 and 1.
fn truths(cx: &mut NodeCx<'_>, dtype: DType) -> Wire {
    let truth = cx.input_as(0, DType::Bool);
    cx.cast(&truth, DType::Bool, dtype)
}

fn logic(cx: &mut NodeCx<'_>, op_type: &str) -> Result<()> {
    let (x, dims, keep) = (truths(cx, DType::I32), dims(cx, 0), cx.flag(1));
    let wire = cx.reduce(op_type, &x, &dims, keep)?;
    cx.give_as(&wire, DType::I32);
    Ok(())
}

pub(super) fn all(cx: &mut NodeCx<'_>) -> Result<()> {
    logic(cx, "ReduceMin")
}

pub(super) fn any(cx: &mut NodeCx<'_>) -> Result<()> {
    logic(cx, "ReduceMax")
}

pub(super) fn count_nonzero(cx: &mut NodeCx<'_>) -> Result<()> {
    let (x, dims) = (truths(cx, DType::I64), dims(cx, 0));
    let wire = cx.reduce("ReduceSum", &x, &dims, false)?;
    cx.give(wire)
}

/// Where the largest or smallest element is: along a dimension, or among all of them.
fn place(cx: &mut NodeCx<'_>, op_type: &str, keep: bool) -> Result<Wire> {
    let x = cx.input_as(0, cx.dtype(0).at_least_i32());
    if cx.ints(0).is_none() || cx.rank(0) == 0 {
        let flat = cx.reshape(&x, &[-1])?;
        let attrs = vec![attr::int("axis", 0), attr::int("keepdims", 0)];
        let place = cx.node(op_type, &[&flat], attrs);
        return match keep {
            true => cx.reshape(&place, &vec![1; cx.rank(0)]),
            false => Ok(place),
        };
    }
    let attrs = vec![attr::int("axis", cx.dim(0)), attr::int("keepdims", i64::from(keep))];
    Ok(cx.node(op_type, &[&x], attrs))
}

pub(super) fn argmax(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = place(cx, "ArgMax", cx.flag(1))?;
    cx.give(wire)
}

pub(super) fn argmin(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = place(cx, "ArgMin", cx.flag(1))?;
    cx.give(wire)
}

/// The largest or smallest elements, and where they are along a dimension.
fn extremes(cx: &mut NodeCx<'_>, op_type: &str, place_type: &str) -> Result<()> {
    fold(cx, op_type, cx.dtype(0).at_least_i32(), cx.flag(1))?;
    if cx.is_used(1) {
        let wire = place(cx, place_type, cx.flag(1))?;
        cx.give(wire)?;
    }
    Ok(())
}

pub(super) fn max(cx: &mut NodeCx<'_>) -> Result<()> {
    extremes(cx, "ReduceMax", "ArgMax")
}

pub(super) fn min(cx: &mut NodeCx<'_>) -> Result<()> {
    extremes(cx, "ReduceMin", "ArgMin")
}

pub(super) fn norm(cx: &mut NodeCx<'_>) -> Result<()> {
    let (p, dtype, keep) = (cx.float(0), cx.dtype(0), cx.flag(2));
    let (x, dims) = (cx.input(0), dims(cx, 1));
    let wire = match p {
        2.0 => cx.reduce("ReduceL2", &x, &dims, keep)?,
        1.0 => cx.reduce("ReduceL1", &x, &dims, keep)?,
        0.0 => {
            let x = truths(cx, dtype);
            cx.reduce("ReduceSum", &x, &dims, keep)?
        }
        _ => {
            let abs = cx.node("Abs", &[&x], Vec::new());
            if p.is_infinite() {
                let op_type = if p > 0.0 { "ReduceMax" } else { "ReduceMin" };
                cx.reduce(op_type, &abs, &dims, keep)?
            } else {
                let (power, root) = (cx.number(p, dtype)?, cx.number(1.0 / p, dtype)?);
                let powers = cx.node("Pow", &[&abs, &power], Vec::new());
                let sum = cx.reduce("ReduceSum", &powers, &dims, keep)?;
                cx.node("Pow", &[&sum, &root], Vec::new())
            }
        }
    };
    cx.give(wire)
}

/// The variance over the dimensions in attribute 0, with the correction in attribute 1.
fn variance(cx: &mut NodeCx<'_>) -> Result<Wire> {
    let (dtype, keep) = (cx.dtype(0), cx.flag(2));
    let (x, dims) = (cx.input(0), dims(cx, 0));
    let correction = match cx.attrs.get(1) {
        Some(Attr::None) | None => 1.0,
        _ => cx.float(1),
    };
    let count: usize = dims.iter().map(|&it| cx.shape(0)[it as usize]).product();
    let mean = cx.reduce("ReduceMean", &x, &dims, true)?;
    let centred = cx.node("Sub", &[&x, &mean], Vec::new());
    let square = cx.node("Mul", &[&centred, &centred], Vec::new());
    let sum = cx.reduce("ReduceSum", &square, &dims, keep)?;
    let divisor = cx.number((count as f64 - correction).max(0.0), dtype)?;
    Ok(cx.node("Div", &[&sum, &divisor], Vec::new()))
}

pub(super) fn var(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = variance(cx)?;
    cx.give(wire)
}

pub(super) fn std(cx: &mut NodeCx<'_>) -> Result<()> {
    let variance = variance(cx)?;
    let wire = cx.node("Sqrt", &[&variance], Vec::new());
    cx.give(wire)
}

pub(super) fn cumsum(cx: &mut NodeCx<'_>) -> Result<()> {
    let dtype = cx.output(0).dtype;
    let x = cx.input_as(0, dtype);
    if cx.rank(0) == 0 {
        return cx.give(x);
    }
    let axis = cx.index(cx.dim(0))?;
    let wire = cx.node("CumSum", &[&x, &axis], Vec::new());
    cx.give(wire)
}
