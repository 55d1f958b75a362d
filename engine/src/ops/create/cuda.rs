//! Tensors from numbers alone, on a GPU.

use std::borrow::Cow;

use crate::Result;
use crate::cuda::driver::Grid;
use crate::cuda::parameters::Parameters;
use crate::cuda::source::{bits_of, type_of};
use crate::dtype::Number;
use crate::op::CudaCx;
use crate::storage;

const FILL: &str = include_str!("fill.cu");
const SEQUENCES: &str = include_str!("sequences.cu");

/// Sets every element of result 0 to the number, converted to its dtype.
pub(crate) fn fill(cx: &CudaCx<'_>, number: Number) -> Result<()> {
    let (out, n) = (&cx.outputs[0], cx.outputs[0].numel());
    let (bits, size) = (storage::bits_of(number, out.dtype()), out.dtype().size());
    if bits == 0 || n == 0 {
        return if n == 0 { Ok(()) } else { cx.gpu.clear(cx.output(0)?, n * size) };
    }
    let defines = [("T", Cow::Borrowed(bits_of(out.dtype())))];
    let parameters = Parameters::default().long(n).address(cx.output(0)?).bits(bits, size);
    cx.run("fill", FILL, &defines, Grid::each(n), &parameters)
}

fn run(cx: &CudaCx<'_>, name: &'static str, numbers: Parameters) -> Result<()> {
    let n = cx.outputs[0].numel();
    if n == 0 {
        return Ok(());
    }
    let defines = [("T", Cow::Borrowed(type_of(cx.outputs[0].dtype())))];
    cx.run(name, SEQUENCES, &defines, Grid::each(n), &numbers)
}

fn begun(cx: &CudaCx<'_>) -> Result<Parameters> {
    let n = cx.outputs[0].numel();
    Ok(Parameters::default().long(n).address(if n == 0 { 0 } else { cx.output(0)? }))
}

/// Numbers in equal steps.
pub(super) fn steps(cx: &CudaCx<'_>, start: Number, step: Number) -> Result<()> {
    match (start, step) {
        (Number::Int(start), Number::Int(step)) => {
            run(cx, "whole_steps", begun(cx)?.signed(start).signed(step))
        }
        _ => run(cx, "steps", begun(cx)?.double(start.as_f64()).double(step.as_f64())),
    }
}

/// Numbers from one to another, both included.
pub(super) fn spaced(cx: &CudaCx<'_>, start: f64, end: f64) -> Result<()> {
    run(cx, "spaced", begun(cx)?.double(start).double(end))
}

/// Ones on the diagonal of a matrix.
pub(super) fn diagonal(cx: &CudaCx<'_>) -> Result<()> {
    let columns = cx.outputs[0].shape()[1].max(1);
    run(cx, "diagonal", begun(cx)?.long(columns))
}
