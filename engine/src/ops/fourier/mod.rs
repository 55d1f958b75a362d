//! Discrete Fourier transforms: `X[k] = sum_j x[j] exp(-2 pi i j k / n)` forward, with `+` backward, times a scale.
//!
//! The rows that compute know real numbers alone: complex numbers are pairs of floats in a last dimension of size 2, as
//! `view_as_real` shows them. Those on complex numbers have PyTorch's names and are composed of them.

use smallvec::SmallVec;

use crate::cpu::Bytes;
use crate::cpu::fourier::{Lines, Transform, Wave};
use crate::cpu::number::Num;
use crate::cpu::pool;
use crate::op::{ComposedCx, InferCx, KernelCx, Ready};
use crate::shape::resolve_dim;
use crate::{Error, OpDef, Result, Shape};

pub mod _fft_c2c;
pub mod _fft_c2r;
pub mod _fft_r2c;
pub mod fft_half;
pub mod fft_pairs;
pub mod fft_whole;
mod products;

/// The rows of this family.
pub static ALL: &[&OpDef] =
    &[&_fft_c2c::OP, &_fft_c2r::OP, &_fft_r2c::OP, &fft_half::OP, &fft_pairs::OP, &fft_whole::OP];

/// The rows on complex numbers, which `tests/torch/fft.py` compares with PyTorch.
#[cfg(test)]
pub(super) static ON_COMPLEX: &[&OpDef] = &[&_fft_c2c::OP, &_fft_c2r::OP, &_fft_r2c::OP];

/// Refuses what is no float32 or float64.
fn check_dtype(cx: &InferCx<'_>) -> Result<()> {
    if !cx.dtype(0).is_full_float() {
        let (op, dtype) = (cx.op.name, cx.dtype(0));
        return Err(Error::DType { op, dtype, allowed: "float32, float64 or complex" });
    }
    Ok(())
}

/// The sizes without those of the pairs.
fn without_pairs<'a>(cx: &InferCx<'a>) -> Result<&'a [usize]> {
    match cx.inputs[0].shape().split_last() {
        Some((2, sizes)) => Ok(sizes),
        _ => Err(cx.bad_shapes("complex numbers are pairs in a last dimension of size 2")),
    }
}

/// The dimensions that an attribute names, each of which has elements.
fn dims_of(cx: &InferCx<'_>, sizes: &[usize], dims: &[i64]) -> Result<SmallVec<[usize; 4]>> {
    let resolve = |dim: &i64| {
        let dim = resolve_dim(cx.op.name, *dim, sizes.len())?;
        match sizes.get(dim) {
            Some(0) => Err(cx.bad_shapes("a dimension without elements has no transform")),
            Some(_) => Ok(dim),
            None => Err(cx.bad_shapes("a tensor without dimensions has no transform")),
        }
    };
    dims.iter().map(resolve).collect()
}

/// The dimensions that an attribute of a composed op names, each once.
fn resolved(cx: &ComposedCx<'_>, attr: usize) -> Result<Vec<usize>> {
    let rank = cx.input(0)?.rank();
    let dims = cx.ints(attr).unwrap_or_default();
    let dims =
        dims.iter().map(|it| resolve_dim(cx.op.name, *it, rank)).collect::<Result<Vec<_>>>()?;
    let is_again = |at: &usize| dims[..*at].contains(&dims[*at]);
    if (0..dims.len()).any(|at| is_again(&at)) {
        let problem = "names a dimension twice".to_owned();
        return Err(Error::Attr { op: cx.op.name, name: "dim", problem });
    }
    Ok(dims)
}

/// The factor that a normalization of `n` numbers means.
fn scale(cx: &ComposedCx<'_>, attr: usize, n: usize) -> Result<f64> {
    match cx.int(attr) {
        0 => Ok(1.0),
        1 => Ok(1.0 / (n as f64).sqrt()),
        2 => Ok(1.0 / n as f64),
        _ => {
            let problem = "is 0 (none), 1 (by the root of the size) or 2 (by the size)".to_owned();
            Err(Error::Attr { op: cx.op.name, name: "normalization", problem })
        }
    }
}

/// The lines along a dimension.
fn lines(sizes: &[usize], dim: usize) -> Lines {
    Lines { outer: sizes[..dim].iter().product(), inner: sizes[dim + 1..].iter().product() }
}

/// Transforms along some dimensions, one after the other.
struct Planned<T> {
    steps: Vec<(Lines, Transform<T>)>,
    scale: f64,
}

impl<T: Wave> Ready for Planned<T> {
    fn workspace(&self) -> usize {
        let each = self.steps.iter().map(|(lines, it)| it.workspace(*lines, pool::threads()));
        each.max().unwrap_or(0)
    }

    fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        // The libraries ask for scratch themselves; here it is counted, and refused where there is too little.
        let _counted = Bytes::uninit(self.workspace())?;
        let from = cx.inputs[0].to_slice::<T>();
        let to = cx.outputs[0].as_mut_slice::<T>();
        let scale = <T as Num>::from_f64(self.scale);
        let Some(((lines, first), others)) = self.steps.split_first() else {
            to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from * scale);
            return Ok(());
        };
        first.run(*lines, &from, to, scale);
        others.iter().for_each(|(lines, it)| it.run_in_place(*lines, to, T::ONE));
        Ok(())
    }
}

/// The shape with another size at a dimension.
fn with_size(sizes: &[usize], dim: usize, size: usize) -> Shape {
    let size_at = |(at, it): (usize, &usize)| if at == dim { size } else { *it };
    sizes.iter().enumerate().map(size_at).collect()
}
