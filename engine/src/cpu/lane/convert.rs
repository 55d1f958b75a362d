//! Kernels that convert between what memory holds and what lanes hold, and that wrap integers.

use super::super::elements::Elements;
use super::super::features::{Isa, isa};
use super::super::number::Num;
use super::super::pool::{self, Shared};
use super::super::view::View;
use super::Lane;
use super::loops::{Kern, lanes};
use crate::{DType, with_size};

/// The type of the elements in memory or in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mem {
    U8,
    I32,
    I64,
    F32,
    F64,
}

impl Mem {
    /// What a tensor of a dtype consists of.
    pub(crate) fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool | DType::U8 => Self::U8,
            DType::I32 => Self::I32,
            DType::I64 => Self::I64,
            DType::F32 => Self::F32,
            DType::F64 => Self::F64,
        }
    }

    /// Bytes of one element.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

impl From<Lane> for Mem {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::F32 => Self::F32,
            Lane::F64 => Self::F64,
            Lane::I64 => Self::I64,
        }
    }
}

/// The elements of a view in row-major order, converted to `T`; copied only where that is needed.
pub(crate) fn cast<'a, T: Num>(view: &View<'a>) -> Elements<'a, T> {
    let (from, to) = (Mem::of(view.dtype()), Mem::of(T::DTYPE));
    if from == to {
        return view.to_slice();
    }
    let kern = convert(from, to, false, isa());
    with_size!(view.dtype(), S => {
        let src = view.to_slice::<S>();
        Elements::written(src.len(), |out: &mut [T]| {
            let dst = Shared(out.as_mut_ptr().cast::<u8>());
            pool::for_each_chunk(src.len().div_ceil(CAST_CHUNK), &|chunk| {
                let start = chunk * CAST_CHUNK;
                let part = &src[start..(start + CAST_CHUNK).min(src.len())];
                // SAFETY: there are as many elements as in the view, and each chunk writes its own.
                unsafe {
                    let dst = dst.get().add(start * size_of::<T>());
                    (kern.run)(dst, &[part.as_ptr().cast(); 4], part.len());
                }
            });
        })
    })
}

/// Elements of one claim of a thread.
const CAST_CHUNK: usize = 1 << 16;

/// The kernel that converts `from` to `to`. With `truth` the result is 1 where the number is not 0.
///
/// Floats are truncated to integers, saturating at the range of 64 bits; integers keep their low bits.
pub(crate) fn convert(from: Mem, to: Mem, truth: bool, isa: Isa) -> Kern {
    macro_rules! to {
        ($a:ty, $r:ty, $zero:expr) => {
            if truth {
                lanes!(narrow isa, $a => $r, |x| u8::from(x != $zero) as $r)
            } else {
                lanes!(narrow isa, $a => $r, |x| x as $r)
            }
        };
    }
    // Through 64 bits, so that large floats wrap as they do when converted twice.
    macro_rules! narrow {
        ($a:ty, $r:ty) => {
            if truth {
                lanes!(narrow isa, $a => $r, |x| u8::from(x != 0.0) as $r)
            } else {
                lanes!(narrow isa, $a => $r, |x| x as i64 as $r)
            }
        };
    }
    macro_rules! from_int {
        ($a:ty) => {
            match to {
                Mem::U8 => to!($a, u8, 0),
                Mem::I32 => to!($a, i32, 0),
                Mem::I64 => to!($a, i64, 0),
                Mem::F32 => to!($a, f32, 0),
                Mem::F64 => to!($a, f64, 0),
            }
        };
    }
    macro_rules! from_float {
        ($a:ty) => {
            match to {
                Mem::U8 => narrow!($a, u8),
                Mem::I32 => narrow!($a, i32),
                Mem::I64 => to!($a, i64, 0.0),
                Mem::F32 => to!($a, f32, 0.0),
                Mem::F64 => to!($a, f64, 0.0),
            }
        };
    }
    match from {
        Mem::U8 => from_int!(u8),
        Mem::I32 => from_int!(i32),
        Mem::I64 => from_int!(i64),
        Mem::F32 => from_float!(f32),
        Mem::F64 => from_float!(f64),
    }
}

/// The kernel that brings an `I64` lane into the range of an integer dtype; `None` where every value is in range.
pub(crate) fn wrap(dtype: DType, isa: Isa) -> Option<Kern> {
    Some(match dtype {
        DType::Bool => lanes!(narrow isa, i64, |x| i64::from(x != 0)),
        DType::U8 => lanes!(narrow isa, i64, |x| x & 0xff),
        DType::I32 => lanes!(narrow isa, i64, |x| i64::from(x as i32)),
        DType::I64 | DType::F32 | DType::F64 => return None,
    })
}
