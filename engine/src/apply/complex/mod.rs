//! Ops on complex numbers, and on whole ones where kernels take floats alone: composed of ops on their real and imaginary parts, so that kernels, gradients and plans know real numbers
//! alone. Gradients come out as PyTorch's, the derivative by the real part plus j times that by the imaginary part.

mod expression;
mod inverse;
mod pair;
mod parts;

pub(crate) use parts::{absolute, added_up, by_parts, by_truth, in_pairs};

use smallvec::SmallVec;

use crate::op::{Body, ComposedCx};
use crate::{Attr, Attrs, DType, Error, OpDef, Outputs, Result, Tensor};

pub(crate) use pair::{Pair, parts_of};

/// Whether an op meets complex numbers here, among its operands or as the dtype that is asked for.
#[inline]
pub(super) fn occurs(inputs: &[Tensor], attrs: &Attrs) -> bool {
    inputs.iter().any(|it| it.dtype().is_complex())
        || attrs.iter().any(|it| matches!(it, Attr::DType(it) if it.is_complex()))
}

/// Whether an op on these operands is composed of ops on the parts, or on floats.
pub(crate) fn is_composed(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> bool {
    occurs(inputs, attrs) && !takes_as_they_are(op) || on_whole(op, inputs)
}

/// Whether whole numbers meet an op that says what it does with them.
fn on_whole(op: &OpDef, inputs: &[Tensor]) -> bool {
    op.surface.whole.is_some() && inputs.first().is_some_and(|it| !it.dtype().is_differentiable())
}

/// Whether the op only looks where elements are, or is composed of others in any case.
fn takes_as_they_are(op: &OpDef) -> bool {
    let moves = match op.body {
        Body::View(_) | Body::Control(_) | Body::Composed(_) => true,
        Body::Kernels(kernels) => kernels.iter().all(|it| it.moves),
        _ => false,
    };
    moves && op.surface.complex.is_none()
}

/// The op on parts, or why there is none.
pub(super) fn composed(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    let whole = op.surface.whole.filter(|_| on_whole(op, inputs));
    if let Some(body) = whole.or(op.surface.complex) {
        let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
        return body(&ComposedCx { op, inputs: &inputs, attrs });
    }
    match op.body.is_elementwise() && inputs.iter().any(|it| it.dtype().is_complex()) {
        true => expression::evaluate(op, inputs, attrs),
        false => Err(refused(op, inputs, attrs)),
    }
}

/// What an op says that has no meaning for complex numbers.
pub(super) fn refused(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Error {
    let named = |it: &Attr| if let Attr::DType(it) = it { Some(*it) } else { None };
    let dtypes = inputs.iter().map(Tensor::dtype).chain(attrs.iter().filter_map(named));
    let dtype = dtypes.into_iter().find(|it| it.is_complex()).unwrap_or(DType::C64);
    Error::DType { op: op.name, dtype, allowed: "real numbers; take x.real, x.imag or x.abs()" }
}
