//! Sorting on a GPU.

use std::borrow::Cow;

use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::ops::create;
use crate::ops::reduce::cuda::lines;
use crate::shape::resolve_dim;
use crate::tensor::on_gpu::copy;
use crate::{DType, Error, Layout, Number, Result, Shape, Tensor, functional};

const SORT: &str = include_str!("sort.cu");

/// Elements of a run that one block sorts: `RUN`.
const RUN: usize = 1024;

fn defines(dtype: DType, descending: bool) -> [(&'static str, Cow<'static, str>); 4] {
    [
        ("T", Cow::Borrowed(type_of(dtype))),
        ("C", computed(dtype).into()),
        ("O1", "ng_i64".into()),
        ("DESCENDING", if descending { "1" } else { "0" }.into()),
    ]
}

/// Sorts the lines of operand 0 along a dimension: the first `k` of each go to result 0, and where they came from to result 1.
pub(super) fn sort_lines(
    cx: &CudaCx<'_>,
    dim: i64,
    k: Option<usize>,
    descending: bool,
) -> Result<()> {
    let dim = resolve_dim(cx.op.name, dim, cx.shape(0).rank())?;
    let dims: &[usize] = if cx.shape(0).rank() == 0 { &[] } else { &[dim] };
    let places = cx.output(1)?;
    first_of_lines(cx, &cx.inputs[0], dims, k, descending, (&cx.outputs[0], places))
}

/// As [`sort_lines`], of any tensor along these dimensions, of which there is one or none; `out` are values and the address of places.
fn first_of_lines(
    cx: &CudaCx<'_>,
    input: &Tensor,
    dims: &[usize],
    k: Option<usize>,
    descending: bool,
    (out, out_places): (&Tensor, Address),
) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let op = cx.op.name;
    let (kept, line) = lines(input.layout(), dims);
    let (out_kept, out_line) = lines(out.layout(), dims);
    let (outer, n) = (kept.shape.numel(), line.shape.numel());
    if n > i32::MAX as usize {
        return Err(Error::TooLarge { op, shape: input.shape().clone() });
    }
    let k = if dims.is_empty() { 1 } else { k.unwrap_or(n) };
    let step = |it: &Layout| it.strides.first().map_or(1, |it| *it as i64);
    let defines = defines(input.dtype(), descending);
    let key_size = if input.dtype().size() == 8 { 8 } else { 4 };
    let size = outer * n;
    // Keys and places, from which runs are merged to others.
    let buffers =
        || -> Result<[Block; 2]> { Ok([cx.scratch(size * key_size)?, cx.scratch(size * 4)?]) };
    let (mut from, mut to) = (buffers()?, buffers()?);
    let kept_dims = Dims::of(op, &kept)?;
    let parameters = Parameters::default()
        .long(outer)
        .long(n)
        .address(input.address()?)
        .dims(&kept_dims)
        .signed(step(&line))
        .addresses(from.each_ref().map(Block::address));
    let n_runs = (outer * n.div_ceil(RUN)).min(1 << 20);
    cx.run("sort_runs", SORT, &defines, Grid::blocks(n_runs, 256), &parameters)?;
    let mut run = RUN;
    while run < n {
        let parameters = Parameters::default()
            .long(outer)
            .long(n)
            .long(run)
            .addresses(from.iter().chain(&to).map(Block::address));
        cx.run("merge_runs", SORT, &defines, Grid::each(size), &parameters)?;
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    let parameters = Parameters::default()
        .long(outer * k)
        .long(n)
        .long(k)
        .address(from[1].address())
        .address(input.address()?)
        .dims(&kept_dims)
        .signed(step(&line))
        .addresses([out.address()?, out_places])
        .dims(&Dims::of(op, &out_kept)?)
        .signed(step(&out_line));
    cx.run("sorted", SORT, &defines, Grid::each(outer * k), &parameters)
}

/// Where each value would go in a sorted line.
pub(super) fn searchsorted(cx: &CudaCx<'_>) -> Result<()> {
    let (line, values) = (cx.plain(0)?, cx.plain(1)?);
    let total = values.numel();
    if total == 0 {
        return Ok(());
    }
    let each = match line.rank() {
        1 => usize::MAX >> 1,
        _ => values.shape().last().copied().unwrap_or(1),
    };
    let n = line.shape().last().copied().unwrap_or(0);
    let parameters = Parameters::default()
        .long(total)
        .long(n)
        .long(each)
        .address(if line.numel() == 0 { 0 } else { line.address()? })
        .address(values.address()?)
        .int(i32::from(cx.flag(0)))
        .address(cx.output(0)?);
    cx.run("searchsorted", SORT, &defines(cx.dtype(0), false), Grid::each(total), &parameters)
}

/// The median of all elements: they are sorted, and the host asks how many are NaN.
pub(super) fn middle(cx: &CudaCx<'_>) -> Result<()> {
    let n = cx.inputs[0].numel();
    let flat = functional::reshape(&cx.inputs[0], &Shape::from([n]))?;
    if n == 0 {
        return create::cuda::fill(cx, Number::Float(f64::NAN));
    }
    let nan = functional::to(&functional::ne(&flat, &flat)?, DType::I64)?;
    let n_nan = match flat.dtype().is_float() {
        true => functional::sum(&nan, &[], false)?.item()?.as_f64() as usize,
        false => 0,
    };
    let n_numbers = n - n_nan;
    let skip = cx.flag(0);
    let place = if n_nan > 0 && !skip { n_numbers } else { n_numbers.saturating_sub(1) / 2 };
    let block = cx.gpu.block_of(flat.shape(), flat.dtype())?;
    let sorted = Tensor::stored(block, Layout::contiguous(flat.shape().clone()), flat.dtype());
    first_of_lines(cx, &flat, &[0], None, false, (&sorted, 0))?;
    let picked = sorted.layout().slice(0, place, 1, 1);
    copy(&sorted.with_layout(picked), cx.output(0)?, &Layout::contiguous(Shape::from([1])))
}
