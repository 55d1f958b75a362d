//! Softmax and normalisation.

use smallvec::smallvec;

use crate::OpDef;
use crate::cpu::softmax::{self as kernel, Form};
use crate::cpu::strided;
use crate::meaning::{Array, MeaningCx, along, log_sum_exp};
use crate::op::{InferCx, KernelCx};
use crate::ops::reduce::lines_near;
use crate::shape::resolve_dim;
use crate::{
    Attr, Attrs, DType, Error, Meta, Metas, Result, Shape, Tensor, functional, with_float,
};

pub mod batch_norm;
pub mod cosine_similarity;
mod cuda;
mod cuda_batch;
pub mod dropout;
pub mod group_norm;
pub mod layer_norm;
pub mod log_softmax;
pub mod log_softmax_backward;
pub mod native_batch_norm;
pub mod native_batch_norm_backward;
pub mod native_layer_norm;
pub mod native_layer_norm_backward;
pub mod normalize;
mod onnx;
pub mod softmax;
pub mod softmax_backward;
pub mod standardize;
pub mod standardize_backward;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &batch_norm::OP,
    &cosine_similarity::OP,
    &dropout::OP,
    &group_norm::OP,
    &layer_norm::OP,
    &log_softmax::OP,
    &log_softmax_backward::OP,
    &native_batch_norm::OP,
    &native_batch_norm_backward::OP,
    &native_layer_norm::OP,
    &native_layer_norm_backward::OP,
    &normalize::OP,
    &softmax::OP,
    &softmax_backward::OP,
    &standardize::OP,
    &standardize_backward::OP,
];

/// The dimension named by attribute 0; absent it is 0 for rank 0, 1 and 3, else 1 (PyTorch's choice).
pub(crate) fn default_dim(op: &'static str, attrs: &Attrs, rank: usize) -> Result<usize> {
    match attrs.first() {
        Some(Attr::Int(dim)) => resolve_dim(op, *dim, rank),
        _ => Ok(usize::from(!matches!(rank, 0 | 1 | 3))),
    }
}

/// Infer of `softmax` and its logarithm: (dim, dtype).
fn infer_softmax(cx: &InferCx<'_>) -> Result<Metas> {
    default_dim(cx.op.name, cx.attrs, cx.shape(0).rank())?;
    let dtype = match cx.attrs.get(1) {
        Some(Attr::DType(dtype)) => *dtype,
        _ => cx.dtype(0),
    };
    if !dtype.is_float() {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "floats" });
    }
    Ok(smallvec![Meta::new(cx.shape(0).clone(), dtype)])
}

/// Whole lines are read more than once: a prologue makes them where they stay near.
fn softmax_prologue(cx: &InferCx<'_>) -> Option<DType> {
    let dim = default_dim(cx.op.name, cx.attrs, cx.shape(0).rank()).ok()?;
    let (_, n, inner) = strided::around(cx.shape(0), dim);
    let out = infer_softmax(cx).ok()?.pop()?.dtype;
    lines_near(n, inner).then(|| out.computed())
}

fn run_softmax(cx: &mut KernelCx<'_, '_>, form: Form) -> Result<()> {
    let input = cx.operand();
    let dim = default_dim(cx.op.name, cx.attrs, input.shape().rank())?;
    let (_, n, inner) = strided::around(input.shape(), dim);
    with_float!(cx.op.name, cx.outputs[0].dtype(), T => {
        let out = cx.outputs[0].as_mut_slice();
        kernel::softmax(form, &input.pieces::<T>(), (n, inner), out, cx.part);
        Ok(())
    })
}

/// What `softmax` and its logarithm mean: a function of each element and `log(sum(exp(x)))` over its line.
fn shares(cx: &MeaningCx<'_>, of: fn(f64, f64) -> f64) -> Array {
    let x = cx.input(0).rounded(cx.dtypes[0]).floats();
    let dim = match cx.opt_int(0) {
        Some(_) => cx.dim(0, x.ndim()),
        None => usize::from(!matches!(x.ndim(), 0 | 1 | 3)),
    };
    let n = x.shape().get(dim).copied().unwrap_or(1);
    along(&x, dim, n, |line| {
        // The largest is subtracted first, and infinity less infinity is NaN.
        let log_sum = Some(log_sum_exp(line)).filter(|it| it.is_finite()).unwrap_or(f64::NAN);
        line.iter().map(|x| of(*x, log_sum)).collect()
    })
    .into()
}

/// The sum of those terms of a gradient that there are.
fn total(terms: impl IntoIterator<Item = Option<Tensor>>) -> Result<Option<Tensor>> {
    let mut terms = terms.into_iter().flatten();
    let Some(first) = terms.next() else { return Ok(None) };
    terms.try_fold(first, |sum, it| functional::add(&sum, &it)).map(Some)
}

/// Numbers of channels (dimension 1) in a shape of so many dimensions, so that they broadcast.
fn per_channel(it: &Tensor, rank: usize) -> Result<Tensor> {
    let n = it.numel();
    let shape: Shape = (1..rank).map(|dim| if dim == 1 { n } else { 1 }).collect();
    functional::reshape(it, &shape)
}

/// `x * weight + bias`, each where it is given, under `shape` so that they broadcast.
pub(crate) fn affine(
    x: Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    shape: &Shape,
) -> Result<Tensor> {
    let spread = |it: &Tensor| functional::reshape(it, shape);
    match (weight, bias) {
        (Some(weight), Some(bias)) => {
            let operands = [spread(bias)?, x, spread(weight)?];
            crate::apply_one(&super::binary::addcmul::OP, &operands, &smallvec![Attr::Float(1.0)])
        }
        (Some(weight), None) => functional::mul(&x, &spread(weight)?),
        (None, Some(bias)) => functional::add(&x, &spread(bias)?),
        (None, None) => Ok(x),
    }
}
