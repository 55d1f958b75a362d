//! Losses of rows of scores on a GPU.

use std::borrow::Cow;

use super::{Reduction, reduction};
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::Parameters;
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::{Error, Result};

const LOSS: &str = include_str!("loss.cu");

fn defines(cx: &CudaCx<'_>, how: &'static str) -> [(&'static str, Cow<'static, str>); 4] {
    let classes = cx.inputs.get(1).map_or("ng_i64", |it| type_of(it.dtype()));
    [
        ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
        ("I", classes.into()),
        ("C", computed(cx.dtype(0)).into()),
        ("HOW", how.into()),
    ]
}

/// What all kernels of rows begin with: sizes, scores and classes, and the class that is left out.
fn rows(cx: &CudaCx<'_>) -> Result<Parameters> {
    let (scores, target) = (cx.layout(0), cx.layout(1));
    let at = |idx: usize| -> Result<Address> {
        if cx.inputs[idx].numel() == 0 { Ok(0) } else { cx.input(idx) }
    };
    Ok(Parameters::default()
        .long(scores.shape[0])
        .long(scores.shape[1])
        .address(at(0)?)
        .signed(scores.strides[0] as i64)
        .signed(scores.strides[1] as i64)
        .address(at(1)?)
        .signed(target.strides[0] as i64)
        .signed(cx.int(0)))
}

fn class_fault(cx: &CudaCx<'_>) -> Result<Address> {
    let (op, n_classes) = (cx.op.name, cx.shape(0)[1]);
    cx.faults(move |_, class| Error::Class { op, class, n_classes })
}

/// The cross entropy, and what a mean divides by.
pub(super) fn cross_entropy(cx: &CudaCx<'_>) -> Result<()> {
    let how = match reduction(cx.op.name, cx.attrs, 1)? {
        Reduction::None => "0",
        Reduction::Sum => "1",
        Reduction::Mean => "2",
    };
    let (defines, n) = (defines(cx, how), cx.shape(0)[0]);
    let size = if cx.dtype(0).size() == 8 { 8 } else { 4 };
    let (losses, counts) = (cx.scratch(n * size)?, cx.scratch(n * size)?);
    let noted = [losses.address(), counts.address()];
    if n > 0 {
        let parameters = rows(cx)?.addresses(noted).address(class_fault(cx)?);
        let grid = Grid::blocks(n.min(1 << 20), 256);
        cx.run("cross_entropy", LOSS, &defines, grid, &parameters)?;
    }
    let parameters =
        Parameters::default().long(n).addresses(noted).addresses([cx.output(0)?, cx.output(1)?]);
    cx.run("cross_entropy_total", LOSS, &defines, Grid::blocks(1, 256), &parameters)
}

/// The gradient of the scores.
pub(super) fn cross_entropy_backward(cx: &CudaCx<'_>) -> Result<()> {
    let n = cx.shape(0)[0];
    if cx.outputs[0].numel() == 0 {
        return Ok(());
    }
    let scale = cx.layout(2);
    let step = if scale.shape.numel() == 1 { 0 } else { scale.strides[0] as i64 };
    let parameters = rows(cx)?
        .address(cx.input(2)?)
        .signed(step)
        .address(cx.output(0)?)
        .address(class_fault(cx)?);
    let grid = Grid::blocks(n.min(1 << 20), 256);
    cx.run("cross_entropy_backward", LOSS, &defines(cx, "0"), grid, &parameters)
}

/// The score of each row's class.
pub(super) fn pick_class(cx: &CudaCx<'_>) -> Result<()> {
    let n = cx.shape(0)[0];
    if n == 0 {
        return Ok(());
    }
    let parameters = rows(cx)?.address(cx.output(0)?).address(class_fault(cx)?);
    cx.run("pick_class", LOSS, &defines(cx, "0"), Grid::each(n), &parameters)
}

/// A number of each row at its class, among zeros.
pub(super) fn pick_class_backward(cx: &CudaCx<'_>) -> Result<()> {
    let (n, n_classes) = (cx.shape(0)[0], cx.int(0) as usize);
    if n * n_classes == 0 {
        return Ok(());
    }
    let op = cx.op.name;
    let parameters = Parameters::default()
        .long(n)
        .long(n_classes)
        .address(cx.input(0)?)
        .signed(cx.layout(0).strides[0] as i64)
        .address(cx.input(1)?)
        .signed(cx.layout(1).strides[0] as i64)
        .signed(cx.int(1))
        .address(cx.output(0)?)
        .address(cx.faults(move |_, class| Error::Class { op, class, n_classes })?);
    let grid = Grid::each(n * n_classes);
    cx.run("pick_class_backward", LOSS, &defines(cx, "0"), grid, &parameters)
}

/// Operand 0, whose elements must lie between 0 and 1: else the error that `refusal` gives.
pub(super) fn probabilities(cx: &CudaCx<'_>, refusal: Error) -> Result<()> {
    let (n, input) = (cx.inputs[0].numel(), cx.plain(0)?);
    if n == 0 {
        return Ok(());
    }
    let parameters = Parameters::default()
        .long(n)
        .addresses([input.address()?, cx.output(0)?])
        .address(cx.faults(move |_, _| refusal.clone())?);
    cx.run("probabilities", LOSS, &defines(cx, "0"), Grid::each(n), &parameters)
}
