//! What `max`, `min`, `amax`, `amin`, `argmax`, `argmin`, `cummax` and `cummin` share: a largest or smallest element, and where it is.

use smallvec::{SmallVec, smallvec};

use super::cuda::{Fold as CudaFold, fold_over, one_or_all};
use super::{
    Rows, dims_attr, fold_into, kept_shape, n_reduced, one_dim, reduced_shape, rows, spread,
};
use crate::cpu::{extremes, reduce, scan, strided};
use crate::functional::{div, eq, mul, reshape, scatter_add, sum, to};
use crate::meaning::{Array, MeaningCx, Scalar, along, best, of_kind, over, picked};
use crate::op::{CudaCx, GradCx, InferCx, KernelCx};
use crate::shape::resolve_dim;
use crate::{
    Attr, DType, Error, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, functional,
    with_dtype,
};

/// Whether the largest element is meant, or the smallest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Largest,
    Smallest,
}

fn nothing(cx: &InferCx<'_>) -> Error {
    cx.bad_shapes("nothing to choose from: a reduced dimension has size 0")
}

fn no_elements(cx: &InferCx<'_>) -> Error {
    Error::NoElements { op: cx.op.name, shape: cx.shape(0).clone() }
}

/// One dimension, or all of them.
fn dims_of(dim: Option<usize>, shape: &Shape) -> SmallVec<[usize; 4]> {
    match dim {
        Some(dim) => (0..shape.rank()).filter(|&it| it == dim).collect(),
        None => (0..shape.rank()).collect(),
    }
}

/// Infer of `max` and `min`: (dim, keepdim). With a dimension there are two outputs.
pub(super) fn infer_best(cx: &InferCx<'_>) -> Result<Metas> {
    let dim = one_dim(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    let dims = dims_of(dim, cx.shape(0));
    if n_reduced(cx.shape(0), &dims) == 0 {
        return Err(if dim.is_some() { no_elements(cx) } else { nothing(cx) });
    }
    let shape = reduced_shape(cx.shape(0), &dims, dim.is_some() && cx.flag(1));
    let mut metas: Metas = smallvec![Meta::new(shape.clone(), cx.dtype(0))];
    metas.extend(dim.map(|_| Meta::new(shape, DType::I64)));
    Ok(metas)
}

pub(super) fn run_best(cx: &mut KernelCx<'_, '_>, side: Side) -> Result<()> {
    if cx.outputs.len() < 2 {
        return run_over(cx, side);
    }
    let shape = cx.inputs[0].shape();
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, shape.rank())?, shape);
    with_dtype!(cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.operand(), &dims);
        if let [values, indices] = cx.outputs {
            let (values, indices) = (values.as_mut_slice::<T>(), indices.as_mut_slice::<i64>());
            extremes::best(side == Side::Largest, &data, (n, inner), values, indices, cx.part);
        }
    });
    Ok(())
}

/// The same on a GPU, by a fold of `folds.cu`: of one dimension or all.
pub(super) fn best_on_cuda(cx: &CudaCx<'_>, fold: &'static str) -> Result<()> {
    fold_over(cx, &one_or_all(cx, 0)?, &CudaFold::best(fold, cx.dtype(0)))
}

/// Along a dimension the element that was chosen has the gradient; over all, equal ones share it. `over` is the row that
/// gives the same value over all elements.
pub(super) fn grad_best(cx: &GradCx<'_>, over: &'static OpDef) -> Result<Vec<Option<Tensor>>> {
    let (x, dy) = (cx.input(0), cx.output_grad()?);
    let Some(dim) = one_dim(cx.op.name, cx.attrs, 0, x.rank())? else {
        let attrs = smallvec![Attr::None, Attr::Bool(false)];
        let hit = to(&eq(x, &apply_one(over, &[x.detach()], &attrs)?)?, x.dtype())?;
        return Ok(vec![Some(mul(&dy, &div(&hit, &sum(&hit, &[], false)?)?)?)]);
    };
    let kept = kept_shape(x.shape(), &dims_of(Some(dim), x.shape()));
    let zeros = functional::full(x.shape(), 0.0, dy.dtype())?;
    let index = reshape(cx.output(1), &kept)?;
    Ok(vec![Some(scatter_add(&zeros, dim as i64, &index, &reshape(&dy, &kept)?)?)])
}

/// Infer of `argmax` and `argmin`: (dim, keepdim).
pub(super) fn infer_place(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?, cx.shape(0));
    if n_reduced(cx.shape(0), &dims) == 0 {
        return Err(no_elements(cx));
    }
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), DType::I64)])
}

pub(super) fn run_place(cx: &mut KernelCx<'_, '_>, side: Side) -> Result<()> {
    let shape = cx.inputs[0].shape();
    let dims = dims_of(one_dim(cx.op.name, cx.attrs, 0, shape.rank())?, shape);
    with_dtype!(cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.operand(), &dims);
        let indices = cx.outputs[0].as_mut_slice::<i64>();
        let mut values = vec![T::default(); indices.len()];
        extremes::best(side == Side::Largest, &data, (n, inner), &mut values, indices, cx.part);
    });
    Ok(())
}

/// Infer of `amax` and `amin`: (dims, keepdim).
pub(super) fn infer_over(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    if n_reduced(cx.shape(0), &dims) == 0 {
        let are_named = cx.ints(0).is_some_and(|it| !it.is_empty());
        return Err(if are_named { no_elements(cx) } else { nothing(cx) });
    }
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(1)), cx.dtype(0))])
}

pub(super) fn run_over(cx: &mut KernelCx<'_, '_>, side: Side) -> Result<()> {
    with_dtype!(cx.inputs[0].dtype(), T => match side {
        Side::Largest => fold_into::<T, _, T>(cx, 0, reduce::Max, |x| x),
        Side::Smallest => fold_into::<T, _, T>(cx, 0, reduce::Min, |x| x),
    })
}

/// Equal extremes share the gradient.
pub(super) fn grad_over(cx: &GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, y) = (cx.input(0), cx.output(0));
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let hit = to(&eq(x, &spread(y, x.shape(), &dims)?)?, x.dtype())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    let share = match at.is_empty() {
        true => hit,
        false => div(&hit, &sum(&hit, &at, true)?)?,
    };
    Ok(vec![Some(mul(&spread(&cx.output_grad()?, x.shape(), &dims)?, &share)?)])
}

/// Infer of `cummax` and `cummin`: (dim).
pub(super) fn infer_running(cx: &InferCx<'_>) -> Result<Metas> {
    resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    Ok(smallvec![cx.inputs[0].meta(), Meta::new(cx.shape(0).clone(), DType::I64)])
}

pub(super) fn run_running(cx: &mut KernelCx<'_, '_>, side: Side) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    let [values, indices] = cx.outputs else { return Ok(()) };
    with_dtype!(input.dtype(), T => {
        let (x, out) = (input.to_slice::<T>(), values.as_mut_slice::<T>());
        let places = indices.as_mut_slice::<i64>();
        scan::running_best(side == Side::Largest, &x, (n, inner), out, places);
    });
    Ok(())
}

/// Each gradient goes to the element that was the best.
pub(super) fn grad_running(cx: &GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    if dy.rank() == 0 {
        return Ok(vec![Some(dy)]);
    }
    let zeros = functional::full(cx.input(0).shape(), 0.0, dy.dtype())?;
    Ok(vec![Some(scatter_add(&zeros, cx.int(0), cx.output(1), &dy)?)])
}

/// What `amax` and `amin` mean.
pub(super) fn meaning_over(cx: &MeaningCx<'_>, side: Side) -> Array {
    let dims = cx.dims(0, cx.input(0).rank());
    of_kind!(cx.input(0), x => over(x, &dims, cx.flag(1), |all| all[best(all, side == Side::Largest)]))
}

/// What `argmax` and `argmin` mean: one dimension, or all.
pub(super) fn meaning_place(cx: &MeaningCx<'_>, side: Side) -> Array {
    let dims = cx.dims(0, cx.input(0).rank());
    of_kind!(cx.input(0), x => over(x, &dims, cx.flag(1), |all| best(all, side == Side::Largest) as i64))
}

/// What `max` and `min` mean. All elements have a largest, those along a dimension also a place.
pub(super) fn meaning_best(cx: &MeaningCx<'_>, side: Side) -> Vec<Array> {
    let value = meaning_over(cx, side);
    match cx.opt_int(0) {
        Some(_) => vec![value, meaning_place(cx, side)],
        None => vec![value],
    }
}

/// What `cummax` and `cummin` mean.
pub(super) fn meaning_running(cx: &MeaningCx<'_>, side: Side) -> Vec<Array> {
    let (x, dim) = (cx.input(0), cx.dim(0, cx.input(0).rank()));
    let n = x.shape().get(dim).copied().unwrap_or(1);
    let places = of_kind!(x, x => along(x, dim, n, |line| {
        let mut place = 0;
        let mut so_far = |at: usize| {
            let (x, most) = (line[at], line[place]);
            let wins = if side == Side::Largest { x >= most } else { x <= most };
            if x.is_no_number() || (!most.is_no_number() && wins) {
                place = at;
            }
            place as i64
        };
        (0..line.len()).map(&mut so_far).collect()
    }));
    vec![of_kind!(x, x => picked(x, dim, &places.ints())), places]
}
