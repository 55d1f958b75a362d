//! Autocast: products are computed in a half and losses in float32, whatever dtype their operands have. What an op wants is a field
//! of its row ([`Autocast`]).

use std::cell::Cell;

use smallvec::SmallVec;

use crate::op::Autocast;
use crate::{Attrs, DType, Error, OpDef, Result, Tensor, functional};

thread_local! {
    static HALVES: Cell<[Option<DType>; 2]> = const { Cell::new([None; 2]) };
}

/// Where ops are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Cpu,
    Gpu,
}

/// The dtype in which products of this thread are computed there, if they are not left alone.
pub fn half(on: On) -> Option<DType> {
    HALVES.get()[on as usize]
}

/// Sets the dtype in which products are computed from here on, or leaves them alone; gives what was set before.
pub fn set_half(on: On, half: Option<DType>) -> Option<DType> {
    let mut halves = HALVES.get();
    let before = std::mem::replace(&mut halves[on as usize], half);
    HALVES.set(halves);
    before
}

/// What [`half()`] says of all devices.
pub fn halves() -> [Option<DType>; 2] {
    HALVES.get()
}

/// Sets what [`halves`] says.
pub fn set_halves(halves: [Option<DType>; 2]) {
    HALVES.set(halves);
}

/// Runs `body` with all ops in the dtypes of their operands.
pub(crate) fn left_alone<R>(body: impl FnOnce() -> R) -> R {
    let before = HALVES.replace([None; 2]);
    let res = body();
    HALVES.set(before);
    res
}

/// The dtype to which an op's operands are converted now.
#[inline]
pub(super) fn wanted<'a>(
    op: &'static OpDef,
    attrs: &Attrs,
    operands: impl IntoIterator<Item = &'a Tensor>,
) -> Option<DType> {
    let halves = HALVES.get();
    if halves == [None; 2] {
        return None;
    }
    let mut dtypes = SmallVec::<[DType; 4]>::new();
    let mut on = On::Cpu;
    for it in operands {
        dtypes.push(it.dtype());
        if it.is_on_gpu() {
            on = On::Gpu;
        }
    }
    let half = halves[on as usize]?;
    match op.surface.autocast {
        Autocast::Keep => None,
        Autocast::Half => Some(half),
        Autocast::Float32 => Some(DType::F32),
        Autocast::Float32Where(is_such) => is_such(attrs).then_some(DType::F32),
        // Where halves do not go together, `cast` says so.
        Autocast::Widest => Some(widest(half, &dtypes).unwrap_or(half)),
    }
}

/// What joined operands are converted to: float32 from the first one on, before that the half alone; else the half that is another one.
/// As in PyTorch (`at::autocast::prioritize`), float64 has no say, and the order counts.
fn widest(half: DType, dtypes: &[DType]) -> std::result::Result<DType, DType> {
    let mut floats = dtypes.iter().copied().filter(|it| it.is_float() && *it != DType::F64);
    floats.try_fold(half, |found, it| {
        if found == DType::F32 {
            return Ok(found);
        }
        if it == DType::F32 || it == half { Ok(it.promote(half)) } else { Err(it) }
    })
}

/// The operands as the op wants them: floats other than float64 are converted, which the tape and a trace see.
pub(super) fn cast(
    op: &'static OpDef,
    inputs: &[Option<Tensor>],
    wanted: DType,
) -> Result<SmallVec<[Option<Tensor>; 3]>> {
    if wanted.is_half() && matches!(op.surface.autocast, Autocast::Widest) {
        let dtypes: Vec<_> = inputs.iter().flatten().map(Tensor::dtype).collect();
        let other = |other| Error::Attr {
            op: op.name,
            name: "tensors",
            problem: format!(
                "has one of {other}, and autocast computes in {wanted}: convert it with .to(), or leave autocast for this line"
            ),
        };
        widest(wanted, &dtypes).map_err(other)?;
    }
    let is_cast =
        |it: &Tensor| it.dtype().is_float() && ![DType::F64, wanted].contains(&it.dtype());
    let one = |it: &Option<Tensor>| match it {
        Some(it) if is_cast(it) => functional::to(it, wanted).map(Some),
        it => Ok(it.clone()),
    };
    inputs.iter().map(one).collect()
}
