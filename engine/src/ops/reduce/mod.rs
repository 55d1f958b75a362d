//! Reductions: sums, extremes, statistics and running sums over dimensions.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::OpDef;
use crate::cpu::number::Num;
use crate::cpu::view::View;
use crate::cpu::{reduce, strided};
use crate::op::{GradCx, KernelCx};
use crate::shape::resolve_dim;
use crate::{Attr, Attrs, Error, Result, Shape, Tensor, functional, with_float};

pub mod all;
pub mod amax;
pub mod amin;
pub mod any;
pub mod argmax;
pub mod argmin;
pub mod count_nonzero;
pub mod cumprod;
pub mod cumsum;
pub mod logsumexp;
pub mod max;
pub mod mean;
pub mod min;
pub mod norm;
pub mod prod;
pub mod std_;
pub mod sum;
pub mod var;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &all::OP,
    &amax::OP,
    &amin::OP,
    &any::OP,
    &argmax::OP,
    &argmin::OP,
    &count_nonzero::OP,
    &cumprod::OP,
    &cumsum::OP,
    &logsumexp::OP,
    &max::OP,
    &mean::OP,
    &min::OP,
    &norm::OP,
    &prod::OP,
    &std_::OP,
    &sum::OP,
    &var::OP,
];

/// Dimensions named by attribute `idx`, sorted; all of them when absent or empty. Naming one twice is an error.
pub(crate) fn dims_attr(
    op: &'static str,
    attrs: &Attrs,
    idx: usize,
    rank: usize,
) -> Result<SmallVec<[usize; 4]>> {
    let given = crate::op::ints(attrs, idx).unwrap_or_default();
    if given.is_empty() {
        return Ok((0..rank).collect());
    }
    let mut dims = given
        .iter()
        .map(|&it| resolve_dim(op, it, rank))
        .collect::<Result<SmallVec<[usize; 4]>>>()?;
    dims.sort_unstable();
    if dims.windows(2).any(|it| it[0] == it[1]) {
        return Err(Error::Attr { op, name: "dim", problem: "names a dimension twice".into() });
    }
    dims.retain(|it| *it < rank);
    Ok(dims)
}

/// `shape` with size 1 along `dims`.
pub(crate) fn kept_shape(shape: &Shape, dims: &[usize]) -> Shape {
    shape
        .iter()
        .enumerate()
        .map(|(dim, &size)| if dims.contains(&dim) { 1 } else { size })
        .collect()
}

/// `shape` without `dims`, or with size 1 there.
pub(crate) fn reduced_shape(shape: &Shape, dims: &[usize], keepdim: bool) -> Shape {
    if keepdim {
        return kept_shape(shape, dims);
    }
    shape.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|it| *it.1).collect()
}

/// Number of elements that go into one result.
pub(crate) fn n_reduced(shape: &Shape, dims: &[usize]) -> usize {
    dims.iter().map(|&it| shape[it]).product()
}

/// The result or its gradient under `shape`, to stand beside the input of the reduction.
pub(crate) fn spread(reduced: &Tensor, shape: &Shape, dims: &[usize]) -> Result<Tensor> {
    functional::expand(&functional::reshape(reduced, &kept_shape(shape, dims))?, shape)
}

/// The input of a reduction as a row-major block `[outer, n, inner]`, to be reduced along its middle axis.
pub(crate) struct Rows<'a, T: Clone> {
    pub(crate) data: Cow<'a, [T]>,
    pub(crate) n: usize,
    pub(crate) inner: usize,
}

/// Brings the dimensions to reduce together; copies only when they are apart or the view is strided.
pub(crate) fn rows<'a, T: Num>(view: &View<'a>, dims: &[usize]) -> Rows<'a, T> {
    let shape = view.shape();
    let n = n_reduced(shape, dims);
    let together = dims.windows(2).all(|it| it[1] == it[0] + 1);
    if let (true, Some(data)) = (together, view.as_slice::<T>()) {
        let inner = dims.last().map_or(1, |&it| shape[it + 1..].iter().product());
        return Rows { data: Cow::Borrowed(data), n, inner };
    }
    let kept = (0..shape.rank()).filter(|it| !dims.contains(it));
    let order: SmallVec<[usize; 6]> = kept.chain(dims.iter().copied()).collect();
    let data = strided::gather(view.buffer::<T>(), &view.layout().permute(&order));
    Rows { data: Cow::Owned(data), n, inner: 1 }
}

/// Folds input 0 along the dimensions of attribute `idx` into output 0.
pub(crate) fn fold_into<T, F, O>(
    cx: &mut KernelCx<'_, '_>,
    idx: usize,
    fold: F,
    finish: impl Fn(F::Total) -> O + Copy,
) -> Result<()>
where
    T: Num,
    F: reduce::Fold<T>,
    O: Num,
{
    let dims = dims_attr(cx.op.name, cx.attrs, idx, cx.inputs[0].shape().rank())?;
    let Rows { data, n, inner } = rows::<T>(&cx.inputs[0], &dims);
    reduce::fold(fold, &data, (n, inner), cx.outputs[0].as_mut_slice::<O>(), finish);
    Ok(())
}

/// The one dimension of an op that reduces a single dimension; `None` when it takes all elements.
pub(crate) fn one_dim(
    op: &'static str,
    attrs: &Attrs,
    idx: usize,
    rank: usize,
) -> Result<Option<usize>> {
    match attrs.get(idx) {
        Some(Attr::Int(it)) => resolve_dim(op, *it, rank).map(Some),
        _ => Ok(None),
    }
}

/// Variances of input 0 (dimensions: attribute 0, correction: attribute 1), in two passes and `f64`.
pub(crate) fn variances(cx: &mut KernelCx<'_, '_>, finish: fn(f64) -> f64) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.inputs[0].shape().rank())?;
    let correction = cx.float(1);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.inputs[0], &dims);
        let out = cx.outputs[0].as_mut_slice::<T>();
        let mut means = vec![0.0_f64; inner];
        let mut squares = vec![0.0_f64; inner];
        for (block, slots) in out.chunks_exact_mut(inner.max(1)).enumerate() {
            let block = &data[block * n * inner..(block + 1) * n * inner];
            means.fill(0.0);
            squares.fill(0.0);
            for row in block.chunks_exact(inner.max(1)) {
                row.iter().zip(&mut means).for_each(|(&x, sum)| *sum += x as f64);
            }
            means.iter_mut().for_each(|it| *it /= n as f64);
            for row in block.chunks_exact(inner.max(1)) {
                for ((&x, mean), square) in row.iter().zip(&means).zip(&mut squares) {
                    *square += (x as f64 - mean) * (x as f64 - mean);
                }
            }
            let divisor = (n as f64 - correction).max(0.0);
            slots.iter_mut().zip(&squares).for_each(|(slot, it)| *slot = finish(it / divisor) as T);
        }
        Ok(())
    })
}

/// `scale * 2 * (x - mean(x)) / (n - correction)`, where `scale` has the shape of the result.
pub(crate) fn variance_grad(cx: &GradCx<'_>, scale: &Tensor) -> Result<Tensor> {
    let x = cx.input(0);
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    let divisor = (n_reduced(x.shape(), &dims) as f64 - cx.float(1)).max(0.0);
    let centred = functional::sub(x, &functional::mean(x, &at, true)?)?;
    let factor = functional::mul(scale, &functional::num(2.0 / divisor))?;
    functional::mul(&spread(&factor, x.shape(), &dims)?, &centred)
}
