//! The op list: one folder per family, one file per op, one list per family.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::apply::apply_in_place;
use crate::functional::full;
use crate::op::GradCx;
use crate::sync::OnceLock;
use crate::{Attrs, OpDef, Result, Tensor, apply_one};

pub mod binary;
pub mod compare;
pub mod complex;
pub mod control;
pub mod conv;
pub mod create;
pub mod fourier;
pub mod index;
pub mod linalg;
pub mod loss;
pub mod matrix;
pub mod norm;
pub mod random;
pub mod reduce;
pub mod shape;
pub mod sort;
pub mod unary;

#[cfg(test)]
mod finishing;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod meanings;
// Kernels of the emulated GPU switch stacks, which sanitizers do not follow.
#[cfg(test)]
#[cfg(not(sanitized))]
mod gpu_attention;
#[cfg(test)]
#[cfg(not(sanitized))]
mod gpu_sizes;
#[cfg(test)]
#[cfg(not(sanitized))]
pub(crate) mod gpus;
#[cfg(test)]
mod odd_sizes;
#[cfg(test)]
mod prologues;
#[cfg(test)]
mod refusals;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod walk;

/// The gradient of input `idx` of a row with [`Grad::Onto`](crate::op::Grad::Onto): what had come to it before, else zeros, and added to by
/// `op`, whose first operand it is. It is written where it lies if nobody else sees it.
fn added_to(
    cx: &mut GradCx<'_>,
    idx: usize,
    op: &'static OpDef,
    others: &[Tensor],
    attrs: &Attrs,
) -> Result<Tensor> {
    let mut sum = match cx.take_sum(idx) {
        Some(sum) => sum,
        None => full(cx.input(idx).shape(), 0.0, cx.input(idx).dtype())?,
    };
    if apply_in_place(op, &mut sum, None, others, attrs)? {
        return Ok(sum);
    }
    let operands: SmallVec<[Tensor; 4]> =
        std::iter::once(sum).chain(others.iter().cloned()).collect();
    apply_one(op, &operands, attrs)
}

/// The lists of all families.
pub static FAMILIES: &[&[&OpDef]] = &[
    binary::ALL,
    compare::ALL,
    complex::ALL,
    control::ALL,
    conv::ALL,
    create::ALL,
    fourier::ALL,
    index::ALL,
    linalg::ALL,
    loss::ALL,
    matrix::ALL,
    norm::ALL,
    random::ALL,
    reduce::ALL,
    shape::ALL,
    sort::ALL,
    unary::ALL,
];

/// Every op, family by family.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    FAMILIES.iter().flat_map(|it| it.iter().copied())
}

/// The ops that users see, in the order of `all`.
pub fn public() -> impl Iterator<Item = &'static OpDef> {
    all().filter(|it| !it.internal)
}

/// Looks an op up by its name. The gradients of elementwise ops are made when first looked up: `mul.grad0`.
pub fn find(name: &str) -> Option<&'static OpDef> {
    static BY_NAME: OnceLock<HashMap<&'static str, &'static OpDef>> = OnceLock::new();
    let listed = BY_NAME.get_or_init(|| all().map(|it| (it.name, it)).collect()).get(name).copied();
    listed.or_else(|| crate::lane::grad::find(name, find))
}
