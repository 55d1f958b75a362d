//! Sorting on a GPU.

use crate::cuda::driver::Grid;
use crate::cuda::parameters::Parameters;
use crate::op::CudaCx;
use crate::ops::create;
use crate::shape::resolve_dim;
use crate::tensor::on_gpu::copy;
use crate::{DType, Layout, Number, Result, Shape, Tensor, functional};

use super::cuda_lines::{Lines, THREADS, defines};

const SEARCH: &str = concat!(include_str!("keys.cu"), include_str!("searchsorted.cu"));

/// Sorts the lines of operand 0 along a dimension: all of each go to result 0, and where they came from to result 1.
pub(super) fn sort_lines(cx: &CudaCx<'_>, dim: i64, descending: bool) -> Result<()> {
    lines(cx, dim, descending)?.map_or(Ok(()), |it| it.sort())
}

/// As [`sort_lines`], of which only the first elements are wanted: as many as result 0 has along the dimension.
pub(super) fn first_of_lines(cx: &CudaCx<'_>, dim: i64, descending: bool) -> Result<()> {
    lines(cx, dim, descending)?.map_or(Ok(()), |it| it.first())
}

/// The lines of operand 0 along a dimension, of which a scalar has none.
fn lines<'a>(cx: &'a CudaCx<'a>, dim: i64, descending: bool) -> Result<Option<Lines<'a>>> {
    let dim = resolve_dim(cx.op.name, dim, cx.shape(0).rank())?;
    let dims: &[usize] = if cx.shape(0).rank() == 0 { &[] } else { &[dim] };
    let out = (&cx.outputs[0], Some(cx.output(1)?));
    Lines::of(cx, &cx.inputs[0], dims, descending, out)
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
    let defines = defines(cx.dtype(0), false, THREADS);
    cx.run("searchsorted", SEARCH, &defines, Grid::each(total), &parameters)
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
    if let Some(lines) = Lines::of(cx, &flat, &[0], false, (&sorted, None))? {
        lines.sort()?;
    }
    let picked = sorted.layout().slice(0, place, 1, 1);
    copy(&sorted.with_layout(picked), cx.output(0)?, &Layout::contiguous(Shape::from([1])))
}
