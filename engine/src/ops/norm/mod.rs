//! Softmax and normalisation.

use crate::OpDef;
use crate::shape::resolve_dim;
use crate::{Attr, Attrs, Result, Shape, Tensor, functional};

pub mod batch_norm;
pub mod cosine_similarity;
pub mod dropout;
pub mod group_norm;
pub mod layer_norm;
pub mod log_softmax;
pub mod normalize;
pub mod softmax;
pub mod standardize;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &batch_norm::OP,
    &cosine_similarity::OP,
    &dropout::OP,
    &group_norm::OP,
    &layer_norm::OP,
    &log_softmax::OP,
    &normalize::OP,
    &softmax::OP,
    &standardize::OP,
];

/// The dimension named by attribute 0; absent it is 0 for rank 0, 1 and 3, else 1 (PyTorch's choice).
pub(crate) fn default_dim(op: &'static str, attrs: &Attrs, rank: usize) -> Result<usize> {
    match attrs.first() {
        Some(Attr::Int(dim)) => resolve_dim(op, *dim, rank),
        _ => Ok(usize::from(!matches!(rank, 0 | 1 | 3))),
    }
}

/// `x * weight + bias`, each where it is given, under `shape` so that they broadcast.
pub(crate) fn affine(
    x: Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    shape: &Shape,
) -> Result<Tensor> {
    let mut res = x;
    if let Some(weight) = weight {
        res = functional::mul(&res, &functional::reshape(weight, shape)?)?;
    }
    if let Some(bias) = bias {
        res = functional::add(&res, &functional::reshape(bias, shape)?)?;
    }
    Ok(res)
}
