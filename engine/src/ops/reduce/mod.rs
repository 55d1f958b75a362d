//! Reductions: sums, extremes, statistics and running sums over dimensions.

use smallvec::{SmallVec, smallvec};

use crate::OpDef;
use crate::cpu::lane::{Input, Pieces};
use crate::cpu::local::Held;
use crate::cpu::number::Num;
use crate::cpu::reduce::{self, Fold};
use crate::cpu::typed::Plain;
use crate::cpu::{strips, variances};
use crate::dtype::Arithmetic;
use crate::dtype::Number;
use crate::meaning::{Array, MeaningCx, Scalar, over};
use crate::op::{ComposedCx, GradCx, InferCx, KernelCx};
use crate::shape::resolve_dim;
use crate::{
    Attr, Attrs, DType, Error, Meta, Metas, Outputs, Result, Shape, Tensor, apply_one, functional,
    with_float,
};

pub mod all;
pub mod amax;
pub mod amin;
pub mod any;
pub mod argmax;
pub mod argmin;
pub mod count_nonzero;
pub(crate) mod cuda;
pub mod cummax;
pub mod cummin;
pub mod cumprod;
pub mod cumsum;
mod extremes;
pub mod linear_scan;
pub mod logcumsumexp;
pub mod logsumexp;
pub mod max;
pub mod mean;
pub mod min;
pub mod norm;
mod onnx;
pub mod prod;
pub mod refuse_where;
mod running;
pub mod std_;
pub mod std_mean;
pub mod sum;
pub mod var;
pub mod var_mean;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &all::OP,
    &amax::OP,
    &amin::OP,
    &any::OP,
    &argmax::OP,
    &argmin::OP,
    &count_nonzero::OP,
    &cummax::OP,
    &cummin::OP,
    &cumprod::OP,
    &cumsum::OP,
    &linear_scan::OP,
    &logcumsumexp::OP,
    &logsumexp::OP,
    &max::OP,
    &mean::OP,
    &min::OP,
    &norm::OP,
    &prod::OP,
    &refuse_where::OP,
    &std_::OP,
    &std_mean::OP,
    &sum::OP,
    &var::OP,
    &var_mean::OP,
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
pub(crate) struct Rows<'a, T: Plain> {
    pub(crate) data: Pieces<'a, T>,
    pub(crate) n: usize,
    pub(crate) inner: usize,
}

/// Brings the dimensions to reduce together and converts to `T`; copies only when they are apart, the view is strided or
/// the dtype is another. What a prologue makes is never copied.
pub(crate) fn rows<'a, T: Num>(input: &Input<'a>, dims: &[usize]) -> Rows<'a, T> {
    let shape = input.shape();
    if together(dims) && input.is_contiguous() {
        let (n, inner) = around(shape, dims);
        return Rows { data: input.pieces(), n, inner };
    }
    let kept = (0..shape.rank()).filter(|it| !dims.contains(it));
    let order: SmallVec<[usize; 6]> = kept.chain(dims.iter().copied()).collect();
    Rows { data: input.permuted(&order), n: n_reduced(shape, dims), inner: 1 }
}

fn together(dims: &[usize]) -> bool {
    dims.windows(2).all(|it| it[1] == it[0] + 1)
}

/// How many elements go into a result, and how many lie behind the last of the dimensions.
fn around(shape: &Shape, dims: &[usize]) -> (usize, usize) {
    (n_reduced(shape, dims), dims.last().map_or(1, |&it| shape[it + 1..].iter().product()))
}

/// Elements of a line that a prologue makes for kernels which read it more than once, as a whole.
const NEAR: usize = 1 << 16;

/// Whether so many elements, made for one thread, stay near.
pub(crate) fn near(len: usize) -> bool {
    len <= NEAR
}

/// Whether lines of `n` elements stay near, `inner` of them side by side, of which a kernel has some columns made at a time.
pub(crate) fn lines_near(n: usize, inner: usize) -> bool {
    if inner == 1 { near(n) } else { strips::are_near(n, inner) }
}

/// The prologue of reductions that read elements as they are, and never more at a time than stays near: they take any.
pub(crate) fn streamed(cx: &InferCx<'_>) -> Option<DType> {
    Some(cx.dtype(0).computed())
}

/// The prologue of sums and products: what [`accumulate`] converts first comes converted.
pub(crate) fn accumulated(cx: &InferCx<'_>) -> Option<DType> {
    let (from, to) = (cx.dtype(0).computed(), accumulated_dtype(cx, 2).computed());
    if to.is_float() {
        return Some(to);
    }
    Some(if from.is_float() || to != DType::I64 { DType::I64 } else { from })
}

/// Folds input 0 along the dimensions of attribute `idx` into output 0.
pub(crate) fn fold_into<T, F, O>(
    cx: &mut KernelCx<'_, '_>,
    idx: usize,
    fold: F,
    finish: impl Fn(F::Total) -> O + Sync,
) -> Result<()>
where
    T: Num,
    F: reduce::Fold<T>,
    O: Num,
{
    let input = cx.operand();
    let dims = dims_attr(cx.op.name, cx.attrs, idx, input.shape().rank())?;
    let out = cx.outputs[0].as_mut_slice::<O>();
    if let Some(axes) = apart(&input, &dims) {
        let n_totals = out.len() * axes[1..].iter().map(|it| it.0).product::<usize>();
        let _room = Held::new(n_totals.saturating_mul(size_of::<F::Total>()))?;
        reduce::fold_apart(fold, &input.pieces(), &axes, out, finish, cx.part);
        return Ok(());
    }
    let Rows { data, n, inner } = rows::<T>(&input, &dims);
    reduce::fold(fold, &data, (n, inner), out, finish, cx.part);
    Ok(())
}

/// Dimensions of a row-major input that lie apart, as [`reduce::fold_apart`] takes them; `None` where they do not, or there are
/// no elements.
fn apart(input: &Input<'_>, dims: &[usize]) -> Option<SmallVec<[(usize, usize); 4]>> {
    let shape = input.shape();
    if together(dims) || !input.is_contiguous() || shape.numel() == 0 {
        return None;
    }
    let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    let mut inner = 1;
    for dim in (0..shape.rank()).rev() {
        match (dims.contains(&dim), dims.contains(&(dim + 1))) {
            (false, _) => inner *= shape[dim],
            (true, true) => axes.last_mut()?.0 *= shape[dim],
            (true, false) => axes.push((shape[dim], inner)),
        }
    }
    Some(axes)
}

/// A fold of whole numbers in `i64` and of floats in `f64`.
pub(crate) trait Accumulate:
    Fold<u8, Total = i64>
    + Fold<i32, Total = i64>
    + Fold<i64, Total = i64>
    + Fold<f32, Total = f64>
    + Fold<f64, Total = f64>
{
}

impl Accumulate for reduce::Sum {}
impl Accumulate for reduce::Product {}

/// The dtype of a sum or product: that of attribute `idx`, else int64 for integers and bools.
fn accumulated_dtype(cx: &InferCx<'_>, idx: usize) -> DType {
    match cx.attrs.get(idx) {
        Some(Attr::DType(dtype)) => *dtype,
        _ if cx.dtype(0).is_float() => cx.dtype(0),
        _ => DType::I64,
    }
}

/// The shape and dtype of sums and products: dimensions, keepdim and dtype are the first three attributes.
pub(crate) fn infer_accumulated(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    let shape = reduced_shape(cx.shape(0), &dims, cx.flag(1));
    Ok(smallvec![Meta::new(shape, accumulated_dtype(cx, 2))])
}

/// Sums or multiplies input 0 along the dimensions of attribute 0, in the dtype of the output.
pub(crate) fn accumulate(cx: &mut KernelCx<'_, '_>, fold: impl Accumulate) -> Result<()> {
    let (from, to) = (cx.inputs[0].dtype(), cx.outputs[0].dtype());
    // Floats that end as integers are converted first, as is everything that ends as a float.
    match to.arithmetic() {
        Arithmetic::F32 => fold_into::<f32, _, f32>(cx, 0, fold, |x| x as f32),
        Arithmetic::F64 => fold_into::<f64, _, f64>(cx, 0, fold, |x| x),
        Arithmetic::I64 => match from.arithmetic() {
            Arithmetic::U8 => fold_into::<u8, _, i64>(cx, 0, fold, |x| x),
            Arithmetic::I32 => fold_into::<i32, _, i64>(cx, 0, fold, |x| x),
            Arithmetic::I64 | Arithmetic::F32 | Arithmetic::F64 => {
                fold_into::<i64, _, i64>(cx, 0, fold, |x| x)
            }
        },
        Arithmetic::I32 => fold_into::<i64, _, i32>(cx, 0, fold, |x| x as i32),
        Arithmetic::U8 if to.is_bool() => {
            fold_into::<i64, _, u8>(cx, 0, fold, |x| u8::from(x != 0))
        }
        Arithmetic::U8 => fold_into::<i64, _, u8>(cx, 0, fold, |x| x as u8),
    }
}

/// Counts the elements of input 0 that are not zero along the dimensions of attribute 0; `finish` gets their number and
/// that of all elements, and gives 0 or 1 where the output is bool.
pub(crate) fn count(cx: &mut KernelCx<'_, '_>, finish: fn(i64, i64) -> i64) -> Result<()> {
    let input = cx.operand();
    let dims = dims_attr(cx.op.name, cx.attrs, 0, input.shape().rank())?;
    let n_all = n_reduced(input.shape(), &dims) as i64;
    let kept = if input.dtype().is_float() { i64::MAX } else { -1 };
    let finish = |it| finish(it, n_all);
    match input.dtype().arithmetic() {
        Arithmetic::U8 => count_as(cx, &dims, reduce::CountOf(u8::MAX), &finish),
        Arithmetic::I32 | Arithmetic::F32 => {
            count_as(cx, &dims, reduce::CountOf((kept >> 32) as i32), &finish);
        }
        Arithmetic::I64 | Arithmetic::F64 => count_as(cx, &dims, reduce::CountOf(kept), &finish),
    }
    Ok(())
}

/// The dtype of truths about elements: that of bytes for bytes, which were once what truths are.
fn truth_of(dtype: DType) -> DType {
    if dtype == DType::U8 { DType::U8 } else { DType::Bool }
}

fn count_as<T: Num>(
    cx: &mut KernelCx<'_, '_>,
    dims: &[usize],
    fold: impl Fold<T, Total = i64>,
    finish: &(dyn Fn(i64) -> i64 + Sync),
) {
    let Rows { data, n, inner } = rows::<T>(&cx.operand().as_bits(), dims);
    let part = cx.part;
    match cx.outputs[0].dtype().is_mask() {
        true => {
            let out = cx.outputs[0].as_mut_slice::<u8>();
            reduce::fold(fold, &data, (n, inner), out, |x| finish(x) as u8, part);
        }
        false => {
            let out = cx.outputs[0].as_mut_slice::<i64>();
            reduce::fold(fold, &data, (n, inner), out, finish, part);
        }
    }
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

/// The shape of variances: dimensions in attribute 0, keepdim in attribute 2.
pub(crate) fn infer_variances(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    Ok(smallvec![Meta::new(reduced_shape(cx.shape(0), &dims, cx.flag(2)), cx.dtype(0))])
}

/// What an op of variances gives, and the mean over the same dimensions.
pub(crate) fn with_mean(cx: &ComposedCx<'_>, op: &'static OpDef) -> Result<Outputs> {
    let input = cx.input(0)?;
    let spread = apply_one(op, std::slice::from_ref(input), cx.attrs)?;
    let mean = functional::mean(input, &cx.ints(0).unwrap_or_default(), cx.flag(2))?;
    Ok(smallvec![spread, mean])
}

/// Variances of input 0 (dimensions: attribute 0, correction: attribute 1), in two passes and `f64`.
pub(crate) fn variances(cx: &mut KernelCx<'_, '_>, finish: fn(f64) -> f64) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.inputs[0].shape().rank())?;
    let correction = correction(cx.attrs);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let Rows { data, n, inner } = rows::<T>(&cx.operand(), &dims);
        let out = cx.outputs[0].as_mut_slice::<T>();
        let divisor = (n as f64 - correction).max(0.0);
        variances::squares(&data, (n, inner), out, &|sum| finish(sum / divisor) as T, cx.part);
        Ok(())
    })
}

/// What is taken off the number of elements before squares are divided by it: 1 unless another is given.
fn correction(attrs: &Attrs) -> f64 {
    match attrs.get(1) {
        None | Some(Attr::None) => 1.0,
        Some(_) => crate::op::float(attrs, 1),
    }
}

/// `scale * 2 * (x - mean(x)) / (n - correction)`, where `scale` has the shape of the result.
pub(crate) fn variance_grad(cx: &GradCx<'_>, scale: &Tensor) -> Result<Tensor> {
    let x = cx.input(0);
    let dims = dims_attr(cx.op.name, cx.attrs, 0, x.rank())?;
    let at: Vec<i64> = dims.iter().map(|&it| it as i64).collect();
    let divisor = n_reduced(x.shape(), &dims) as f64 - correction(cx.attrs);
    let centred = functional::sub(x, &functional::mean(x, &at, true)?)?;
    let factor = functional::mul(scale, &functional::num(2.0 / divisor))?;
    functional::mul(&spread(&factor, x.shape(), &dims)?, &centred)
}

/// What [`count`] means: keepdim is attribute 1.
fn counted(cx: &MeaningCx<'_>, finish: fn(i64, i64) -> i64) -> Array {
    let truths = cx.input(0).truths();
    let counted = |all: &[bool]| all.iter().filter(|it| **it).count() as i64;
    let count = |all: &[bool]| finish(counted(all), all.len() as i64);
    over(&truths, &cx.dims(0, truths.ndim()), cx.flag(1), count).into()
}

/// What [`variances`] means.
fn spreads(cx: &MeaningCx<'_>, finish: fn(f64) -> f64) -> Array {
    let x = cx.input(0).floats();
    let correction = cx.number(1, Number::Int(1)).as_f64();
    let spread = |all: &[f64]| {
        let (n, mean) = (all.len() as f64, f64::total(all) / all.len() as f64);
        let squares: Vec<f64> = all.iter().map(|x| (x - mean) * (x - mean)).collect();
        finish(f64::total(&squares) / (n - correction).max(0.0))
    };
    over(&x, &cx.dims(0, x.ndim()), cx.flag(2), spread).into()
}
