//! Softmax and normalisation on a GPU: a block folds a line of elements, and makes another of it.

use std::borrow::Cow;

use crate::cuda::driver::Grid;
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::ops::reduce::cuda::{columns, lines};
use crate::ops::reduce::dims_attr;
use crate::{Layout, Result};

const LINES: &str = concat!(include_str!("../reduce/folds.cu"), include_str!("lines.cu"));

/// Softmax or its logarithm, by a structure of `lines.cu`.
pub(super) fn softmax(cx: &CudaCx<'_>, map: &'static str) -> Result<()> {
    let dim = super::default_dim(cx.op.name, cx.attrs, cx.shape(0).rank())?;
    let dims: &[usize] = if cx.shape(0).rank() == 0 { &[] } else { &[dim] };
    map_lines(cx, dims, ["ng_exponentials", map], 0.0)
}

/// The input less its mean, divided by its deviation, with both.
pub(super) fn standardize(cx: &CudaCx<'_>) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    map_lines(cx, &dims, ["ng_spread", "ng_standardize"], cx.float(1))
}

fn map_lines(
    cx: &CudaCx<'_>,
    dims: &[usize],
    [fold, map]: [&'static str; 2],
    number: f64,
) -> Result<()> {
    let (kept, line) = lines(cx.layout(0), dims);
    let (outer, n) = (kept.shape.numel(), line.shape.numel());
    if outer == 0 {
        return Ok(());
    }
    let plain = Layout::contiguous(cx.shape(0).clone());
    let (out_kept, out_line) = lines(&plain, dims);
    let op = cx.op.name;
    let [kept, out_kept] = Dims::together(op, &kept.shape, [&kept.strides, &out_kept.strides])?;
    let [line, out_line] = Dims::together(op, &line.shape, [&line.strides, &out_line.strides])?;
    let columns = columns(&kept, &line);
    let out = cx.outputs[0].dtype();
    let defines = [
        ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
        ("C", computed(out).into()),
        ("O0", type_of(out).into()),
        ("PLACES", "0".into()),
        ("FOLD", fold.into()),
        ("MAP", map.into()),
        ("COLUMNS", if columns == 32 { "32" } else { "1" }.into()),
        ("EVEN", if line.sizes.len() == 1 { "1" } else { "0" }.into()),
    ];
    let notes = match cx.outputs.len() {
        3 => [cx.output(1)?, cx.output(2)?],
        _ => [0, 0],
    };
    let parameters = Parameters::default()
        .long(outer)
        .long(n)
        .address(if n == 0 { 0 } else { cx.input(0)? })
        .dims(&kept)
        .dims(&line)
        .address(cx.output(0)?)
        .dims(&out_kept)
        .dims(&out_line)
        .addresses(notes)
        .double(number);
    let grid = Grid::blocks(outer.div_ceil(columns as usize).min(1 << 20), 256);
    cx.run("lines", LINES, &defines, grid, &parameters)
}
