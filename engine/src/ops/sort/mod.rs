//! Sorting, ranking and counting.

use std::cmp::Ordering;

use crate::OpDef;
use crate::cpu::interrupt;
use crate::cpu::number::Num;
use crate::cpu::order::Lines;
use crate::cpu::strided;
use crate::meaning::{Array, MeaningCx, along, in_order, of_kind, picked};
use crate::op::{GradCx, KernelCx};
use crate::shape::resolve_dim;
use crate::{Error, Result, Tensor, functional, with_dtype, with_size};

pub mod argsort;
pub mod bincount;
mod cuda;
mod cuda_lines;
pub mod histc;
pub mod median;
pub mod middle;
pub mod nanmedian;
mod onnx;
pub mod searchsorted;
#[expect(
    clippy::module_inception,
    reason = "a file is named after its op, also where the family has its name"
)]
pub mod sort;
pub mod topk;
pub mod unique;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &argsort::OP,
    &bincount::OP,
    &histc::OP,
    &median::OP,
    &middle::OP,
    &nanmedian::OP,
    &searchsorted::OP,
    &sort::OP,
    &topk::OP,
    &unique::OP,
];

/// The total order of sorting: NaN is the largest, -0.0 equals 0.0.
pub(crate) fn ascending<T: Num>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Sorts the lines of input 0 along `dim`: the first `k` elements of each (all where absent) go to output 0, and where they
/// came from to output 1.
pub(crate) fn sort_lines(
    cx: &mut KernelCx<'_, '_>,
    dim: i64,
    k: Option<usize>,
    descending: bool,
) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, dim, input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    // A scalar is a line of one, however many are asked for.
    let k = if input.shape().rank() == 0 { 1 } else { k.unwrap_or(n) };
    let lines = Lines { n, inner, k, descending };
    let [values, places] = cx.outputs else { return Ok(()) };
    let places = places.as_mut_slice::<i64>();
    with_dtype!(input.dtype(), T => lines.places(&input.to_slice::<T>(), places));
    if interrupt::was_left_out() {
        return Err(Error::Interrupted);
    }
    with_size!(input.dtype(), T => lines.pick(&input.to_slice::<T>(), places, values.as_mut_slice()));
    Ok(())
}

/// What [`sort_lines`] means; attribute `dim` names the dimension.
fn firsts(cx: &MeaningCx<'_>, dim: usize, k: Option<usize>, descending: bool) -> Vec<Array> {
    let (x, dim) = (cx.input(0), cx.dim(dim, cx.input(0).rank()));
    let n = x.shape().get(dim).map_or(1, |size| k.unwrap_or(*size));
    let places = of_kind!(x, x => along(x, dim, n, |line| {
        in_order(line, descending).into_iter().take(n).map(|it| it as i64).collect()
    }));
    vec![of_kind!(x, x => picked(x, dim, &places.ints())), places]
}

/// The gradient of picked values, put back where output 1 says that they came from, along `dim`.
pub(crate) fn back_to_places(cx: &GradCx<'_>, dim: i64) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let zeros = functional::full(cx.input(0).shape(), 0.0, dy.dtype())?;
    if dy.rank() == 0 {
        return Ok(vec![Some(dy)]);
    }
    Ok(vec![Some(functional::scatter_add(&zeros, dim, cx.output(1), &dy)?)])
}
