//! Joining, padding and cutting on a GPU.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{dim_attr, span_of};
use crate::cuda::driver::Grid;
use crate::cuda::parameters::{Dims, Parameters, RANK};
use crate::cuda::source::bits_of;
use crate::op::CudaCx;
use crate::tensor::on_gpu::copy;
use crate::{Error, Layout, Result, functional};

const SHAPE: &str = include_str!("shape.cu");

/// How one dimension is padded: sizes of the result and of the input, what comes before, and what cutting leaves.
#[derive(Clone)]
pub(super) struct Padded {
    pub(super) to: i64,
    pub(super) from: i64,
    pub(super) before: i64,
    pub(super) kept: std::ops::Range<i64>,
}

/// Operand 0 padded in each dimension as said, by the mode of this number (`shape.cu`), with `bits` where nothing comes from it.
pub(super) fn pad(cx: &CudaCx<'_>, dims: &[Padded], mode: &'static str, bits: u128) -> Result<()> {
    let n = cx.outputs[0].numel();
    if n == 0 {
        return Ok(());
    }
    if dims.len() > RANK {
        return Err(Error::TooManyDims { op: cx.op.name, rank: dims.len() });
    }
    let pairs = |of: fn(&Padded) -> (i64, i64)| Dims {
        sizes: dims.iter().map(|it| of(it).0).collect(),
        strides: dims.iter().map(|it| of(it).1).collect(),
    };
    let strides: SmallVec<[i64; 6]> = cx.layout(0).strides.iter().map(|it| *it as i64).collect();
    let size = cx.dtype(0).size();
    let parameters = Parameters::default()
        .long(n)
        .address(if cx.inputs[0].numel() == 0 { 0 } else { cx.input(0)? })
        .dims(&Dims { strides, ..pairs(|it| (it.to, 0)) })
        .dims(&pairs(|it| (it.from, it.before)))
        .dims(&pairs(|it| (it.kept.start, it.kept.end)))
        .address(cx.output(0)?)
        .bits(bits, size);
    let defines = [("T", Cow::Borrowed(bits_of(cx.dtype(0)))), ("MODE", mode.into())];
    cx.run("pad", SHAPE, &defines, Grid::each(n), &parameters)
}

/// The lower or upper triangle of matrices.
pub(super) fn triangle(cx: &CudaCx<'_>, is_lower: bool) -> Result<()> {
    let (n, rank, input) = (cx.outputs[0].numel(), cx.shape(0).rank(), cx.plain(0)?);
    if n == 0 {
        return Ok(());
    }
    let parameters = Parameters::default()
        .long(n)
        .addresses([input.address()?, cx.output(0)?])
        .long(cx.shape(0)[rank - 2])
        .long(cx.shape(0)[rank - 1])
        .signed(cx.int(0))
        .int(i32::from(is_lower));
    let defines = [("T", Cow::Borrowed(bits_of(cx.dtype(0)))), ("MODE", "0".into())];
    cx.run("triangle", SHAPE, &defines, Grid::each(n), &parameters)
}

/// Operands joined along the dimension of attribute 0.
pub(super) fn cat(cx: &CudaCx<'_>) -> Result<()> {
    let (whole, to) = (cx.outputs[0].layout(), cx.outputs[0].dtype());
    if whole.shape.rank() == 0 {
        // One number, which a plan copies.
        return copy(&cx.inputs[0], cx.output(0)?, whole);
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, whole.shape.rank())?;
    let mut start = 0;
    for input in cx.inputs.iter().filter(|it| !super::cat::skipped(it.shape())) {
        let len = input.shape()[dim];
        let part = whole.slice(dim, start, len, 1);
        start += len;
        if input.numel() == 0 {
            continue;
        }
        let input = if input.dtype() == to { input.clone() } else { functional::to(input, to)? };
        copy(&input, cx.output(0)?, &part)?;
    }
    Ok(())
}

/// Where the slice lies that attributes 0 to 3 name in result 0.
fn sliced(cx: &CudaCx<'_>) -> Result<Layout> {
    let whole = cx.outputs[0].layout();
    let dim = dim_attr(cx.op.name, cx.attrs, 0, whole.shape.rank())?;
    let span = span_of(cx.op.name, whole.shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?;
    Ok(whole.slice(dim, span.start, span.len, span.step))
}

/// Operand 0 with operand 1 in place of a slice.
pub(super) fn slice_scatter(cx: &CudaCx<'_>) -> Result<()> {
    let out = &cx.outputs[0];
    if out.numel() == 0 {
        return Ok(());
    }
    copy(&cx.inputs[0], cx.output(0)?, out.layout())?;
    copy(&cx.inputs[1], cx.output(0)?, &sliced(cx)?)
}

/// Operand 0 with operand 1 at a start and at steps from there.
pub(super) fn as_strided_scatter(cx: &CudaCx<'_>) -> Result<()> {
    let (out, src) = (&cx.outputs[0], &cx.inputs[1]);
    if out.numel() == 0 {
        return Ok(());
    }
    copy(&cx.inputs[0], cx.output(0)?, out.layout())?;
    copy(src, cx.output(0)?, &super::_as_strided::lies(cx.attrs, src.shape()))
}

/// Zeros with operand 0 in a slice.
pub(super) fn slice_backward(cx: &CudaCx<'_>) -> Result<()> {
    let out = &cx.outputs[0];
    if out.numel() == 0 {
        return Ok(());
    }
    cx.gpu.clear(cx.output(0)?, out.numel() * out.dtype().size())?;
    copy(&cx.inputs[0], cx.output(0)?, &sliced(cx)?)
}

/// Pairs of operands, one after the other. A number of the program may have another dtype.
pub(crate) fn pairs(cx: &CudaCx<'_>) -> Result<()> {
    let out = &cx.outputs[0];
    if out.numel() == 0 {
        return Ok(());
    }
    for (at, input) in cx.inputs.iter().enumerate() {
        let part = out.dtype().part();
        let input =
            if input.dtype() == part { input.clone() } else { functional::to(input, part)? };
        let strides = out.layout().strides.iter().map(|it| it * 2).collect();
        let target = Layout { shape: out.shape().clone(), strides, offset: at };
        let spread = input.layout().broadcast_to(out.shape()).ok_or_else(Error::outside_storage)?;
        copy(&input.with_layout(spread), cx.output(0)?, &target)?;
    }
    Ok(())
}
