//! Softmax and normalisation on a GPU: a block folds a line of elements, and makes another of it.

use std::borrow::Cow;

use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::ops::reduce::cuda::{columns, lines};
use crate::ops::reduce::dims_attr;
use crate::{Layout, Result};

const HELD: &str = include_str!("held.cu");

/// Elements of a line that its threads can hold.
const MOST_HELD: usize = 8192;

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
    let notes = match cx.outputs.len() {
        3 => [cx.output(1)?, cx.output(2)?],
        _ => [0, 0],
    };
    let is_plain = |it: &Dims| matches!((&it.sizes[..], &it.strides[..]), ([_], [1]));
    if n > 1 && n <= MOST_HELD && is_plain(&line) && is_plain(&out_line) {
        return held(cx, map, (outer, n), [&kept, &out_kept], notes, number);
    }
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

/// Lines that lie in a row, which their threads hold: a warp each, or a block where they are long.
fn held(
    cx: &CudaCx<'_>,
    map: &'static str,
    (outer, n): (usize, usize),
    kept: [&Dims; 2],
    notes: [Address; 2],
    number: f64,
) -> Result<()> {
    let (from, to) = (cx.dtype(0), cx.outputs[0].dtype());
    let (input, output) = (cx.input(0)?, cx.output(0)?);
    let width = if n <= 1024 { 32 } else { 256 };
    let aligned = |it: &Dims, at: Address, size: usize, pack: usize| {
        let steps = it.strides.iter().map(|it| it.unsigned_abs() as usize);
        at.is_multiple_of((size * pack) as u64)
            && steps.into_iter().all(|it| it.is_multiple_of(pack))
    };
    let most = 16 / from.size().max(to.size());
    let fits = |pack: &usize| {
        n.is_multiple_of(*pack)
            && aligned(kept[0], input, from.size(), *pack)
            && aligned(kept[1], output, to.size(), *pack)
    };
    let pack = [8, 4, 2].into_iter().filter(|it| *it <= most).find(fits).unwrap_or(1);
    let packs = n.div_ceil(width * pack).next_power_of_two();
    let flag = |it: bool| Cow::Borrowed(if it { "1" } else { "0" });
    let defines = [
        ("T", Cow::Borrowed(type_of(from))),
        ("C", computed(to).into()),
        ("O0", type_of(to).into()),
        ("WIDTH", number_text(width)),
        ("PACK", number_text(pack)),
        ("PACKS", number_text(packs)),
        ("STANDARDIZE", flag(map == "ng_standardize")),
        ("LOGARITHM", flag(map == "ng_log_softmax")),
    ];
    let parameters = Parameters::default()
        .long(outer)
        .long(n)
        .address(input)
        .dims(kept[0])
        .address(output)
        .dims(kept[1])
        .addresses(notes)
        .double(number);
    let blocks = outer.div_ceil(256 / width).min(1 << 20);
    cx.run("held", HELD, &defines, Grid::blocks(blocks, 256), &parameters)
}

/// A power of two as text.
fn number_text(number: usize) -> Cow<'static, str> {
    const TEXTS: [&str; 9] = ["1", "2", "4", "8", "16", "32", "64", "128", "256"];
    match TEXTS.get(number.trailing_zeros() as usize) {
        Some(text) if number.is_power_of_two() => (*text).into(),
        _ => number.to_string().into(),
    }
}
