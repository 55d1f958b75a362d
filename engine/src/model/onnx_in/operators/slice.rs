//! Parts of tensors, and tensors put together.

use super::super::args::Cx;
use super::super::calls::{call, of_ints, reshape, whole_numbers};
use super::super::value::Value;
use super::{Operator, many, one, values};
use crate::functional::{cat, expand, gather};
use crate::index::{self, Index};
use crate::{Attr, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("CenterCropPad", center_crop_pad),
    one("Concat", concat),
    one("Pad", pad),
    one("ReverseSequence", reverse_sequence),
    one("Slice", slice),
    many("Split", split),
];

fn concat(cx: &Cx<'_>) -> Result<Tensor> {
    let tensors = cx.all_inputs()?;
    let rank = tensors.first().map_or(0, Tensor::rank);
    let axis = cx.axis("axis", 1, rank)?;
    cat(&tensors, axis as i64)
}

/// The middle of dimensions, or zeros around them.
fn center_crop_pad(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let wanted = cx.ints_at(1)?.ok_or_else(|| cx.bad("its shape is missing"))?;
    let axes = cx.ints("axes").map_or_else(|| (0..x.rank() as i64).collect(), <[i64]>::to_vec);
    if axes.len() != wanted.len() || wanted.iter().any(|it| *it < 0) {
        return Err(cx.bad(format!("sizes {wanted:?} are given for {} axes", axes.len())));
    }
    let mut pairs = vec![[0, 0]; x.rank()];
    for (&axis, &size) in axes.iter().zip(&wanted) {
        let axis = cx.dim(axis, x.rank())?;
        let more = size.saturating_sub(x.shape()[axis] as i64);
        pairs[axis] = [more / 2, more - more / 2];
    }
    padded(x, &pairs, "constant", 0.0)
}

fn pad(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let given = match cx.ints("paddings") {
        Some(it) => it.to_vec(),
        None => cx.ints_of("pads", 1)?.ok_or_else(|| cx.bad("its pads are missing"))?,
    };
    let axes = match cx.ints_at(3)? {
        Some(it) => it,
        None => (0..x.rank() as i64).collect(),
    };
    if given.len() != 2 * axes.len() {
        return Err(cx.bad(format!("{} pads are given for {} axes", given.len(), axes.len())));
    }
    let mut pairs = vec![[0; 2]; x.rank()];
    for (at, &axis) in axes.iter().enumerate() {
        pairs[cx.dim(axis, x.rank())?] = [given[at], given[at + axes.len()]];
    }
    let value = match cx.opt_float("value") {
        Some(it) => it,
        None => cx.float_at(2)?.unwrap_or(0.0),
    };
    let mode = match cx.text("mode", "constant") {
        "constant" => "constant",
        "reflect" => "reflect",
        "edge" => "replicate",
        "wrap" => "circular",
        other => return Err(cx.bad(format!("its mode '{other}' is not known"))),
    };
    padded(x, &pairs, mode, value)
}

/// Padded by (before, after) in each dimension.
pub(super) fn padded(
    x: &Tensor,
    pairs: &[[i64; 2]],
    mode: &'static str,
    value: f64,
) -> Result<Tensor> {
    let first = pairs.iter().position(|it| *it != [0, 0]).unwrap_or(pairs.len());
    if first == pairs.len() {
        return Ok(x.clone());
    }
    let from_last: Vec<i64> = pairs[first..].iter().rev().flatten().copied().collect();
    call("pad", &[x], &[Attr::ints(&from_last), Attr::Str(mode), Attr::Float(value)])
}

/// The first elements of each sequence, in reverse.
fn reverse_sequence(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let lens = whole_numbers(cx.input(1)?)?;
    let (batch, time) = (cx.axis("batch_axis", 1, x.rank())?, cx.axis("time_axis", 0, x.rank())?);
    let (n, steps) = (x.shape()[batch], x.shape()[time]);
    if batch == time || lens.len() != n {
        return Err(cx.bad(format!("{} lengths are given for {n} sequences", lens.len())));
    }
    let mut places = Vec::with_capacity(n * steps);
    for &len in &lens {
        let turned = |at: i64| if at < len { len - 1 - at } else { at };
        places.extend((0..steps as i64).map(turned));
    }
    let mut sizes = vec![1; x.rank()];
    (sizes[batch], sizes[time]) = (n, steps);
    let places = reshape(&of_ints(&places)?, &[n, steps])?;
    let places = if batch < time { places } else { crate::functional::matrix_transpose(&places)? };
    gather(x, time as i64, &expand(&reshape(&places, &sizes)?, x.shape())?)
}

fn slice(cx: &Cx<'_>) -> Result<Tensor> {
    let x = cx.input(0)?;
    let missing = || cx.bad("its starts or ends are missing");
    let starts = cx.ints_of("starts", 1)?.ok_or_else(missing)?;
    let ends = cx.ints_of("ends", 2)?.ok_or_else(missing)?;
    let axes = cx.ints_of("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = cx.ints_at(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()].iter().any(|it| *it != starts.len()) {
        return Err(cx.bad("starts, ends, axes and steps differ in number"));
    }
    let whole = Index::Slice { start: None, stop: None, step: None };
    let mut index = vec![whole; x.rank()];
    for (at, &axis) in axes.iter().enumerate() {
        let dim = cx.dim(axis, x.rank())?;
        index[dim] =
            Index::Slice { start: Some(starts[at]), stop: Some(ends[at]), step: Some(steps[at]) };
    }
    index::get(x, &index)
}

fn split(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let axis = cx.axis("axis", 0, x.rank())?;
    let given = cx.ints_of("split", 1)?;
    let n = x.shape()[axis];
    let lens = match given {
        Some(it) => it,
        None => {
            let parts = cx.int("num_outputs", cx.n_outputs() as i64).max(1) as usize;
            let each = n.div_ceil(parts);
            (0..parts.min(n.max(cx.n_outputs()) + 1))
                .map(|at| n.saturating_sub(at * each).min(each) as i64)
                .collect()
        }
    };
    parts(cx, x, axis, &lens).map(values)
}

/// Parts of these lengths along a dimension, which they make up.
pub(super) fn parts(cx: &Cx<'_>, x: &Tensor, axis: usize, lens: &[i64]) -> Result<Vec<Tensor>> {
    let n = x.shape()[axis] as i64;
    let fits = lens.iter().all(|it| (0..=n).contains(it));
    if !fits || lens.iter().try_fold(0_i64, |sum, it| sum.checked_add(*it)) != Some(n) {
        return Err(cx.bad(format!("parts of {lens:?} do not make up a dimension of {n}")));
    }
    let mut start = 0;
    let part = |&len: &i64| {
        start += len;
        crate::functional::slice(x, axis as i64, start - len, start, 1)
    };
    lens.iter().map(part).collect()
}
