//! Autocast: products are computed in a half and losses in float32, whatever dtype their operands have. What an op wants is a field
//! of its row ([`Autocast`]).

use std::cell::Cell;

use smallvec::SmallVec;

use crate::op::Autocast;
use crate::{DType, OpDef, Result, Tensor, functional};

thread_local! {
    static HALF: Cell<Option<DType>> = const { Cell::new(None) };
}

/// The dtype in which products of this thread are computed, if they are not left alone.
pub fn half() -> Option<DType> {
    HALF.get()
}

/// Sets the dtype in which products are computed from here on, or leaves them alone; gives what was set before.
pub fn set_half(half: Option<DType>) -> Option<DType> {
    HALF.replace(half)
}

/// Runs `body` with all ops in the dtypes of their operands.
pub(crate) fn left_alone<R>(body: impl FnOnce() -> R) -> R {
    let before = set_half(None);
    let res = body();
    set_half(before);
    res
}

/// The dtype to which an op's operands are converted now.
#[inline]
pub(super) fn wanted(op: &'static OpDef) -> Option<DType> {
    let half = HALF.get()?;
    match op.surface.autocast {
        Autocast::Keep => None,
        Autocast::Half => Some(half),
        Autocast::Float32 => Some(DType::F32),
    }
}

/// The operands as the op wants them: floats other than float64 are converted, which the tape and a trace see.
pub(super) fn cast(
    inputs: &[Option<Tensor>],
    wanted: DType,
) -> Result<SmallVec<[Option<Tensor>; 3]>> {
    let is_cast =
        |it: &Tensor| it.dtype().is_float() && ![DType::F64, wanted].contains(&it.dtype());
    let one = |it: &Option<Tensor>| match it {
        Some(it) if is_cast(it) => functional::to(it, wanted).map(Some),
        it => Ok(it.clone()),
    };
    inputs.iter().map(one).collect()
}
