//! Orders: the largest elements, distinct ones, those that are not zero.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::super::args::Cx;
use super::super::calls::{call, call_all, count, of_ints, reshape, whole_numbers};
use super::super::value::Value;
use super::logic::yes;
use super::{Operator, many, one, values};
use crate::functional::{matrix_transpose, permute};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("Compress", compress),
    one("NonZero", |cx| matrix_transpose(&call("nonzero", &[cx.input(0)?], &[])?)),
    many("TopK", top_k),
    many("Unique", unique),
];

fn top_k(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let axis = cx.axis("axis", -1, x.rank())?;
    let k = match cx.opt_int("k") {
        Some(it) => it,
        None => cx.int_at(1)?.ok_or_else(|| cx.bad("its input 1, k, is missing"))?,
    };
    if k < 0 || k as usize > x.shape()[axis] {
        return Err(cx.bad(format!("k is {k}, the axis has {} elements", x.shape()[axis])));
    }
    // Of equal elements the first comes first, as in a stable order.
    let descending = cx.int("largest", 1) != 0;
    let attrs = [Attr::Int(axis as i64), yes(descending), yes(true)];
    let sorted = call_all("sort", &[x], &attrs)?;
    let cut = |it: &Tensor| crate::functional::slice(it, axis as i64, 0, k, 1);
    Ok(values(sorted.iter().map(cut).collect::<Result<Vec<_>>>()?))
}

fn compress(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let kept: Vec<i64> = whole_numbers(cx.input(1)?)?
        .iter()
        .enumerate()
        .filter(|it| *it.1 != 0)
        .map(|it| it.0 as i64)
        .collect();
    let (x, axis) = match cx.opt_int("axis") {
        Some(axis) => (x.clone(), cx.dim(axis, x.rank())?),
        None => (reshape(x, &[x.numel()])?, 0),
    };
    call_select(&x, axis, &kept)
}

/// The slices at these places of a dimension.
pub(super) fn call_select(x: &Tensor, axis: usize, places: &[i64]) -> Result<Tensor> {
    let op = crate::ops::find("index_select").ok_or(crate::Error::Arity {
        op: "index_select",
        expected: 1,
        got: 0,
    })?;
    let attrs = [Attr::Int(axis as i64)].into_iter().collect();
    crate::apply_one(op, &[x.clone(), of_ints(places)?], &attrs)
}

/// Elements, or slices along an axis, as numbers that are in the same order; equal ones are the same element.
fn keys(x: &Tensor) -> Result<Vec<i64>> {
    if !x.dtype().is_float() {
        return whole_numbers(x);
    }
    let key = |it: f64| {
        let bits = (if it == 0.0 { 0.0 } else { it }).to_bits() as i64;
        bits ^ (((bits >> 63) as u64) >> 1) as i64
    };
    Ok(x.to_f64_vec()?.into_iter().map(key).collect())
}

fn unique(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let (lines, axis) = match cx.opt_int("axis") {
        None => (reshape(x, &[x.numel(), 1])?, None),
        Some(axis) => {
            let axis = cx.dim(axis, x.rank())?;
            let rest = (0..x.rank()).filter(|it| *it != axis);
            let order: Vec<i64> = std::iter::once(axis).chain(rest).map(|it| it as i64).collect();
            let n = x.shape()[axis];
            let width = x.numel().checked_div(n).unwrap_or(0);
            (reshape(&permute(x, &order)?, &[n, width])?, Some(axis))
        }
    };
    let (n, width) = (lines.shape()[0], lines.shape()[1].max(1));
    let keys = keys(&lines)?;
    let lines: Vec<&[i64]> = keys.chunks(width).collect();
    let mut first: Vec<usize> = Vec::new();
    let mut known: HashMap<&[i64], usize> = HashMap::new();
    let mut class = Vec::with_capacity(n);
    for (at, line) in lines.iter().enumerate() {
        let next = first.len();
        let it = *known.entry(line).or_insert(next);
        if it == next {
            first.push(at);
        }
        class.push(it);
    }
    let mut order: Vec<usize> = (0..first.len()).collect();
    if cx.int("sorted", 1) != 0 {
        order.sort_by(|&a, &b| match lines[first[a]].cmp(lines[first[b]]) {
            Ordering::Equal => first[a].cmp(&first[b]),
            other => other,
        });
    }
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &it)| rank[it] = at);
    let mut counts = vec![0_i64; order.len()];
    class.iter().for_each(|&it| counts[rank[it]] += 1);
    let indices: Vec<i64> = order.iter().map(|&it| first[it] as i64).collect();
    let inverse: Vec<i64> = class.iter().map(|&it| rank[it] as i64).collect();
    let distinct = match axis {
        Some(axis) => call_select(x, axis, &indices)?,
        None => call_select(&reshape(x, &[x.numel()])?, 0, &indices)?,
    };
    Ok(values([distinct, of_ints(&indices)?, of_ints(&inverse)?, of_ints(&counts)?]))
}

/// Whole numbers below `n` beside a tensor, as a dimension of it.
pub(super) fn numbered(n: usize, axis: usize, rank: usize, dtype: DType) -> Result<Tensor> {
    let mut sizes = vec![1; rank];
    sizes[axis] = n;
    crate::functional::to(&reshape(&count(n)?, &sizes)?, dtype)
}
