//! How ops on shapes are written in ONNX.

use super::{Span, span_of};
use crate::attr::Attr;
use crate::cpu::strided;
use crate::op::{NodeCx, Wire, attr};
use crate::{Result, Shape};

/// Another shape of the same elements.
pub(super) fn reshaped(cx: &mut NodeCx<'_>) -> Result<()> {
    let sizes = NodeCx::sizes(&cx.output(0).shape);
    let wire = cx.reshape(&cx.input(0), &sizes)?;
    cx.give(wire)
}

pub(super) fn permute(cx: &mut NodeCx<'_>) -> Result<()> {
    let rank = cx.rank(0);
    let dims = cx.ints(0).unwrap_or_default();
    let perm: Vec<i64> = dims.iter().map(|&it| cx.nonnegative(it, rank)).collect();
    let wire = cx.node("Transpose", &[&cx.input(0)], vec![attr::ints("perm", &perm)]);
    cx.give(wire)
}

pub(super) fn transpose(cx: &mut NodeCx<'_>) -> Result<()> {
    let mut perm: Vec<i64> = (0..cx.rank(0) as i64).collect();
    let (a, b) = (cx.dim(0) as usize, cx.dim(1) as usize);
    if !perm.is_empty() {
        perm.swap(a, b);
    }
    let wire = cx.node("Transpose", &[&cx.input(0)], vec![attr::ints("perm", &perm)]);
    cx.give(wire)
}

pub(super) fn squeeze(cx: &mut NodeCx<'_>) -> Result<()> {
    let (from, to) = (cx.shape(0).clone(), cx.output(0).shape.clone());
    let dims: Vec<i64> = match cx.ints(0) {
        Some(dims) => dims.iter().map(|&it| cx.nonnegative(it, from.rank())).collect(),
        None => (0..from.rank() as i64).collect(),
    };
    let mut dims: Vec<i64> =
        dims.into_iter().filter(|&it| from.get(it as usize) == Some(&1)).collect();
    dims.sort_unstable();
    dims.dedup();
    if dims.is_empty() || dims.len() + to.rank() != from.rank() {
        return reshaped(cx);
    }
    let axes = cx.constant(&dims)?;
    let wire = cx.node("Squeeze", &[&cx.input(0), &axes], Vec::new());
    cx.give(wire)
}

pub(super) fn unsqueeze(cx: &mut NodeCx<'_>) -> Result<()> {
    let dim = cx.nonnegative(cx.int(0), cx.rank(0) + 1);
    let axes = cx.constant(&[dim])?;
    let wire = cx.node("Unsqueeze", &[&cx.input(0), &axes], Vec::new());
    cx.give(wire)
}

pub(super) fn select(cx: &mut NodeCx<'_>) -> Result<()> {
    let (dim, index) = (cx.dim(0), cx.int(1));
    let index = cx.index(index)?;
    let wire = cx.node("Gather", &[&cx.input(0), &index], vec![attr::int("axis", dim)]);
    cx.give(wire)
}

pub(super) fn expand(cx: &mut NodeCx<'_>) -> Result<()> {
    let shape = cx.constant(&NodeCx::sizes(&cx.output(0).shape))?;
    let wire = cx.node("Expand", &[&cx.input(0), &shape], Vec::new());
    cx.give(wire)
}

/// What a slice along a dimension selects of so many elements, by the attributes from 1 on.
fn span(cx: &NodeCx<'_>, size: usize) -> Result<Span> {
    span_of(cx.op.name, size, &cx.attrs[1], &cx.attrs[2], cx.int(3))
}

pub(super) fn slice(cx: &mut NodeCx<'_>) -> Result<()> {
    let dim = cx.dim(0);
    let size = cx.shape(0)[dim as usize];
    let Span { start, len, step } = span(cx, size)?;
    let (start, step) = (start as i64, step as i64);
    // ONNX counts negative bounds from the end: before the first element is far below.
    let stop = match start.saturating_add(step.saturating_mul(len as i64)) {
        0.. if len == 0 => start,
        stop @ 0.. => stop.min(size as i64),
        _ => i64::MIN + 1,
    };
    let wire = cx.slice(&cx.input(0), &[(dim, start, stop, step)])?;
    cx.give(wire)
}

pub(super) fn flip(cx: &mut NodeCx<'_>) -> Result<()> {
    let rank = cx.rank(0);
    let dims = cx.ints(0).unwrap_or_default();
    let parts: Vec<_> =
        dims.iter().map(|&it| (cx.nonnegative(it, rank), -1, i64::MIN + 1, -1)).collect();
    let wire = if parts.is_empty() || rank == 0 {
        cx.node("Identity", &[&cx.input(0)], Vec::new())
    } else {
        cx.slice(&cx.input(0), &parts)?
    };
    cx.give(wire)
}

/// Along a dimension the places that a slice takes, in the shape of `like`.
fn places(cx: &mut NodeCx<'_>, like: &Shape, dim: i64, span: Span) -> Result<String> {
    let Span { start, len, step } = span;
    let count = len as i64;
    let indices: Vec<i64> = (0..count).map(|it| start as i64 + it * step as i64).collect();
    let mut sizes = vec![1; like.rank()];
    sizes[dim as usize] = count;
    let (flat, sizes) = (cx.constant(&indices)?, cx.constant(&sizes)?);
    let line = cx.node("Reshape", &[&flat, &sizes], Vec::new());
    let shape = cx.constant(&NodeCx::sizes(like))?;
    Ok(cx.node("Expand", &[&line, &shape], Vec::new()))
}

pub(super) fn slice_scatter(cx: &mut NodeCx<'_>) -> Result<()> {
    let dim = cx.dim(0);
    let span = span(cx, cx.shape(0)[dim as usize])?;
    let like = cx.shape(1).clone();
    let indices = places(cx, &like, dim, span)?;
    let (data, values) = (cx.input(0), cx.input(1));
    let wire =
        cx.node("ScatterElements", &[&data, &indices, &values], vec![attr::int("axis", dim)]);
    cx.give(wire)
}

pub(super) fn as_strided_scatter(cx: &mut NodeCx<'_>) -> Result<()> {
    let part = super::_as_strided::lies(cx.attrs, cx.shape(1));
    let all: Vec<i64> = (0..part.reach().unwrap_or(0) as i64).collect();
    let indices = strided::gather(&all, &part);
    let flat = cx.constant(&[-1])?;
    let shape = cx.constant(&NodeCx::sizes(cx.shape(0)))?;
    let indices = cx.constant(&indices)?;
    let (data, values) = (cx.input(0), cx.input(1));
    let data = cx.node("Reshape", &[&data, &flat], Vec::new());
    let values = cx.node("Reshape", &[&values, &flat], Vec::new());
    let placed =
        cx.node("ScatterElements", &[&data, &indices, &values], vec![attr::int("axis", 0)]);
    let wire = cx.node("Reshape", &[&placed, &shape], Vec::new());
    cx.give(wire)
}

pub(super) fn slice_backward(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = among_zeros(cx, 0)?;
    cx.give(wire)
}

pub(super) fn slice_add(cx: &mut NodeCx<'_>) -> Result<()> {
    let (sum, part) = (cx.input(0), among_zeros(cx, 1)?);
    let wire = cx.node("Add", &[&sum, &part], vec![]);
    cx.give(wire)
}

/// Operand `idx` in the slice that the attributes say, and zeros.
fn among_zeros(cx: &mut NodeCx<'_>, idx: usize) -> Result<Wire> {
    let shape = cx.output(0).shape.clone();
    let dim = cx.nonnegative(cx.int(0), shape.rank());
    let span = span(cx, shape[dim as usize])?;
    let like = cx.shape(idx).clone();
    let indices = places(cx, &like, dim, span)?;
    let zeros = cx.filled(&shape, 0.0)?;
    let values = cx.input(idx);
    Ok(cx.node("ScatterElements", &[&zeros, &indices, &values], vec![attr::int("axis", dim)]))
}

pub(super) fn pad(cx: &mut NodeCx<'_>) -> Result<()> {
    let (rank, dtype) = (cx.rank(0), cx.dtype(0));
    let given = cx.ints(0).unwrap_or_default();
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (at, pair) in given.chunks(2).enumerate() {
        (before[rank - 1 - at], after[rank - 1 - at]) = (pair[0], pair[1]);
    }
    let mode = match cx.attrs.get(1) {
        Some(Attr::Str("reflect")) => "reflect",
        Some(Attr::Str("replicate" | "edge")) => "edge",
        Some(Attr::Str("circular")) => {
            cx.needs_opset(19)?;
            "wrap"
        }
        _ => "constant",
    };
    let value = cx.float(2);
    let (pads, value) = (cx.constant(&[before, after].concat())?, cx.number(value, dtype)?);
    let mut inputs = vec![cx.input(0), pads];
    if mode == "constant" {
        inputs.push(value);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let wire = cx.node("Pad", &inputs, vec![attr::text("mode", mode)]);
    cx.give(wire)
}

pub(super) fn cat(cx: &mut NodeCx<'_>) -> Result<()> {
    let dtype = cx.output(0).dtype;
    // An empty tensor of one dimension may stand beside others of any shape.
    let rank = cx.output(0).shape.rank();
    let takes = |it: &usize| cx.rank(*it) == rank;
    let parts: Vec<usize> = (0..cx.n_inputs()).filter(takes).collect();
    let inputs: Vec<String> = parts.iter().map(|&it| cx.input_as(it, dtype)).collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let dim = cx.nonnegative(cx.int(0), rank);
    let wire = cx.node("Concat", &inputs, vec![attr::int("axis", dim)]);
    cx.give(wire)
}

fn triangle(cx: &mut NodeCx<'_>, upper: bool) -> Result<()> {
    let diagonal = cx.int(0);
    let k = cx.index(diagonal)?;
    let attrs = vec![attr::int("upper", i64::from(upper))];
    let wire = cx.node("Trilu", &[&cx.input(0), &k], attrs);
    cx.give(wire)
}

pub(super) fn tril(cx: &mut NodeCx<'_>) -> Result<()> {
    triangle(cx, false)
}

pub(super) fn triu(cx: &mut NodeCx<'_>) -> Result<()> {
    triangle(cx, true)
}

/// Gathers `[windows, size]` in place of the dimension, then moves `size` to the end.
pub(super) fn sliding_windows(cx: &mut NodeCx<'_>) -> Result<()> {
    let (dim, size, step) = (cx.dim(0), cx.int(1), cx.int(2));
    let count = cx.output(0).shape[dim as usize] as i64;
    let starts = 0..count;
    let indices: Vec<i64> = starts.flat_map(|it| (0..size).map(move |at| it * step + at)).collect();
    let flat = cx.constant(&indices)?;
    let table = cx.reshape(&flat, &[count, size])?;
    let wide = cx.node("Gather", &[&cx.input(0), &table], vec![attr::int("axis", dim)]);
    let rank = cx.rank(0) as i64 + 1;
    let perm: Vec<i64> = (0..rank).filter(|it| *it != dim + 1).chain([dim + 1]).collect();
    let wire = cx.node("Transpose", &[&wide], vec![attr::ints("perm", &perm)]);
    cx.give(wire)
}
