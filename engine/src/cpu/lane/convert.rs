//! Kernels that convert between what memory holds and what lanes hold, and that bring numbers into the range of a dtype.

use smallvec::SmallVec;

use super::super::elements::Elements;
use super::super::features::{Isa, isa};
use super::super::number::Num;
use super::super::pool::{self, Shared};
use super::super::view::{OutView, View};
use super::Lane;
use super::loops::{Kern, lanes};
use crate::dtype::{Number, Width};
use crate::math::halves::{from_bf16, from_f16, to_bf16, to_f16};
use crate::math::whole;
use crate::{DType, with_size};

/// The type of the elements in memory or in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mem {
    U8,
    I8,
    I16,
    U16,
    I32,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Mem {
    /// What a tensor of a dtype consists of; complex numbers consist of their parts.
    pub(crate) fn of(dtype: DType) -> Self {
        match dtype {
            DType::Bool | DType::U8 => Self::U8,
            DType::I8 => Self::I8,
            DType::I16 => Self::I16,
            DType::U16 => Self::U16,
            DType::I32 => Self::I32,
            DType::I64 => Self::I64,
            DType::F16 => Self::F16,
            DType::BF16 => Self::BF16,
            DType::F32 | DType::C64 => Self::F32,
            DType::F64 | DType::C128 => Self::F64,
        }
    }

    /// How wide an element is.
    pub(crate) fn width(self) -> Width {
        match self {
            Self::U8 | Self::I8 => Width::W1,
            Self::I16 | Self::U16 | Self::F16 | Self::BF16 => Width::W2,
            Self::I32 | Self::F32 => Width::W4,
            Self::I64 | Self::F64 => Width::W8,
        }
    }

    /// Bytes of one element.
    pub(crate) fn size(self) -> usize {
        self.width().bytes()
    }

    /// The number as an element, in the low bytes.
    pub(crate) fn bits(self, number: Number) -> u64 {
        match self {
            Self::U8 | Self::I8 => u64::from(number.as_i64() as u8),
            Self::I16 | Self::U16 => u64::from(number.as_i64() as u16),
            Self::I32 => u64::from(number.as_i64() as u32),
            Self::I64 => number.as_i64() as u64,
            Self::F16 => to_f16(number.as_f64() as f32) as u64,
            Self::BF16 => to_bf16(number.as_f64() as f32) as u64,
            Self::F32 => u64::from((number.as_f64() as f32).to_bits()),
            Self::F64 => number.as_f64().to_bits(),
        }
    }

    /// The type through which elements are converted to and from others; `None` for those that know all of their kind.
    pub(crate) fn wider(self) -> Option<Self> {
        match self {
            Self::I8 | Self::I16 | Self::U16 => Some(Self::I64),
            Self::F16 | Self::BF16 => Some(Self::F32),
            Self::U8 | Self::I32 | Self::I64 | Self::F32 | Self::F64 => None,
        }
    }

    /// Where a conversion to another type stops on its way; `None` where one kernel does it.
    pub(crate) fn stop(self, to: Self) -> Option<Self> {
        let first = self.wider().filter(|&it| it != to && self != to);
        first.or_else(|| to.wider().filter(|&it| it != self && self != to))
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

/// A conversion of one kernel or several in a row.
struct Conversion {
    kerns: SmallVec<[Kern; 3]>,
}

/// Elements of a tile between two kernels.
const TILE: usize = 256;

#[repr(align(64))]
struct Tile([u64; TILE]);

impl Conversion {
    fn new(from: Mem, to: Mem) -> Self {
        let (mut kerns, mut at) = (SmallVec::new(), from);
        while let Some(next) = at.stop(to) {
            kerns.extend(convert(at, next, isa()));
            at = next;
        }
        kerns.extend(convert(at, to, isa()));
        Self { kerns }
    }

    /// # Safety
    /// `src` and `dst` are valid and aligned for `n` elements of their types, and do not overlap.
    unsafe fn run(&self, dst: *mut u8, src: *const u8, n: usize) {
        if let [only] = self.kerns[..] {
            // SAFETY: promised by the caller.
            return unsafe { (only.run)(dst, &[src; 4], n) };
        }
        let (mut even, mut odd) = (Tile([0; TILE]), Tile([0; TILE]));
        let last = self.kerns.len() - 1;
        for start in (0..n).step_by(TILE) {
            let count = TILE.min(n - start);
            let mut from = src.wrapping_add(start * self.kerns[0].operand);
            for (idx, kern) in self.kerns.iter().enumerate() {
                let tile = if idx % 2 == 0 { &mut even } else { &mut odd };
                let to = match idx == last {
                    true => dst.wrapping_add(start * kern.result),
                    false => tile.0.as_mut_ptr().cast(),
                };
                // SAFETY: a tile holds as many elements of any type; the rest is promised by the caller.
                unsafe { (kern.run)(to, &[from; 4], count) };
                from = to;
            }
        }
    }
}

/// The elements of a view in row-major order, converted to `T`; copied only where that is needed.
pub(crate) fn cast<'a, T: Num>(view: &View<'a>) -> Elements<'a, T> {
    let (from, to) = (Mem::of(view.dtype()), Mem::of(T::DTYPE));
    if from == to {
        return view.to_slice();
    }
    Elements::written(view.shape().numel(), |out: &mut [T]| {
        // SAFETY: there are as many elements as in the view.
        unsafe { write_converted(view, to, out.as_mut_ptr().cast()) }
    })
}

/// Writes the elements of a view of the same shape, each converted. Zeros stand in for a copy of the view that was refused
/// ([`super::super::elements`]).
pub(crate) fn cast_into(view: &View<'_>, output: &mut OutView<'_>) {
    debug_assert_eq!(view.shape(), output.shape());
    // SAFETY: the shapes are equal, and nobody else has the output.
    unsafe { write_converted(view, Mem::of(output.dtype()), output.region().as_ptr()) }
}

/// # Safety
/// `dst` is valid and aligned for as many elements of `to` as the view has, and nobody else has them.
unsafe fn write_converted(view: &View<'_>, to: Mem, dst: *mut u8) {
    let conversion = Conversion::new(Mem::of(view.dtype()), to);
    let dst = Shared(dst);
    with_size!(view.dtype(), S => {
        let src = view.to_slice::<S>();
        pool::for_each_chunk(src.len().div_ceil(CAST_CHUNK), &|chunk| {
            let start = chunk * CAST_CHUNK;
            let part = &src[start..(start + CAST_CHUNK).min(src.len())];
            // SAFETY: each chunk writes its own elements.
            unsafe { conversion.run(dst.get().add(start * to.size()), part.as_ptr().cast(), part.len()) };
        });
    });
}

/// Elements of one claim of a thread.
const CAST_CHUNK: usize = 1 << 16;

/// The kernel that converts `from` to `to`; `None` where there is a [`Mem::stop`] between them.
///
/// Floats are truncated to integers, saturating at the range of 64 bits; integers keep their low bits.
pub(crate) fn convert(from: Mem, to: Mem, isa: Isa) -> Option<Kern> {
    macro_rules! to {
        ($a:ty, $r:ty) => {
            lanes!(two isa, $a => $r, |x| x as $r)
        };
    }
    // Through 64 bits, so that large floats wrap as they do when converted twice.
    macro_rules! narrow {
        ($a:ty, $r:ty) => {
            lanes!(two isa, $a => $r, |x| x as i64 as $r)
        };
    }
    if from == to {
        return Some(copy(from.width(), isa));
    }
    Some(match from {
        Mem::U8 => match to {
            Mem::I32 => to!(u8, i32),
            Mem::I64 => to!(u8, i64),
            Mem::F32 => to!(u8, f32),
            Mem::F64 => to!(u8, f64),
            Mem::U8 | Mem::I8 | Mem::I16 | Mem::U16 | Mem::F16 | Mem::BF16 => return None,
        },
        Mem::I8 if to == Mem::I64 => to!(i8, i64),
        Mem::I16 if to == Mem::I64 => to!(i16, i64),
        Mem::U16 if to == Mem::I64 => to!(u16, i64),
        Mem::I32 => match to {
            Mem::U8 => to!(i32, u8),
            Mem::I64 => to!(i32, i64),
            Mem::F32 => to!(i32, f32),
            Mem::F64 => to!(i32, f64),
            Mem::I8 | Mem::I16 | Mem::U16 | Mem::I32 | Mem::F16 | Mem::BF16 => return None,
        },
        Mem::I64 => match to {
            Mem::U8 => to!(i64, u8),
            Mem::I8 => to!(i64, i8),
            Mem::I16 => to!(i64, i16),
            Mem::U16 => to!(i64, u16),
            Mem::I32 => to!(i64, i32),
            Mem::F32 => to!(i64, f32),
            Mem::F64 => to!(i64, f64),
            Mem::I64 | Mem::F16 | Mem::BF16 => return None,
        },
        Mem::F16 if to == Mem::F32 => lanes!(all isa, u16 => f32, |x| from_f16(i32::from(x))),
        Mem::BF16 if to == Mem::F32 => lanes!(all isa, u16 => f32, |x| from_bf16(i32::from(x))),
        Mem::F32 => match to {
            Mem::U8 => narrow!(f32, u8),
            Mem::I32 => narrow!(f32, i32),
            Mem::I64 => to!(f32, i64),
            Mem::F16 => lanes!(all isa, f32 => u16, |x| to_f16(x) as u16),
            Mem::BF16 => lanes!(all isa, f32 => u16, |x| to_bf16(x) as u16),
            Mem::F64 => to!(f32, f64),
            Mem::I8 | Mem::I16 | Mem::U16 | Mem::F32 => return None,
        },
        Mem::F64 => match to {
            Mem::U8 => narrow!(f64, u8),
            Mem::I32 => narrow!(f64, i32),
            Mem::I64 => to!(f64, i64),
            Mem::F32 => to!(f64, f32),
            Mem::I8 | Mem::I16 | Mem::U16 | Mem::F16 | Mem::BF16 | Mem::F64 => return None,
        },
        Mem::I8 | Mem::I16 | Mem::U16 | Mem::F16 | Mem::BF16 => return None,
    })
}

/// The kernel that gives 1 in an `I64` lane where the number is not 0, else 0; `None` for elements that have to be made wider first.
pub(crate) fn truth(from: Mem, isa: Isa) -> Option<Kern> {
    Some(match from {
        Mem::U8 => lanes!(two isa, u8 => i64, |x| i64::from(x != 0)),
        Mem::I32 => lanes!(two isa, i32 => i64, |x| i64::from(x != 0)),
        Mem::I64 => lanes!(two isa, i64 => i64, |x| i64::from(x != 0)),
        Mem::F32 => lanes!(two isa, f32 => i64, |x| i64::from(x != 0.0)),
        Mem::F64 => lanes!(two isa, f64 => i64, |x| i64::from(x != 0.0)),
        Mem::I8 | Mem::I16 | Mem::U16 | Mem::F16 | Mem::BF16 => return None,
    })
}

/// The kernel that gives the byte 1 where a float is not 0, else 0; `None` for other elements.
pub(crate) fn flag(from: Mem, isa: Isa) -> Option<Kern> {
    Some(match from {
        Mem::F32 => lanes!(all isa, f32 => u8, |x| u8::from(x != 0.0)),
        Mem::F64 => lanes!(all isa, f64 => u8, |x| u8::from(x != 0.0)),
        Mem::U8 | Mem::I8 | Mem::I16 | Mem::U16 | Mem::I32 | Mem::I64 => return None,
        Mem::F16 | Mem::BF16 => return None,
    })
}

/// The kernel that copies elements.
fn copy(width: Width, isa: Isa) -> Kern {
    match width {
        Width::W1 => lanes!(two isa, u8, |x| x),
        Width::W2 => lanes!(two isa, i16, |x| x),
        Width::W4 => lanes!(two isa, i32, |x| x),
        Width::W8 => lanes!(two isa, i64, |x| x),
        Width::W16 => lanes!(two isa, u128, |x| x),
    }
}

/// The kernel that brings a lane into the range of a dtype: wraps integers, rounds halves. `None` where every value is in range.
pub(crate) fn wrap(dtype: DType, isa: Isa) -> Option<Kern> {
    Some(match dtype {
        DType::Bool => lanes!(two isa, i64, |x| whole::truth(whole::is_true(x))),
        DType::U8 => lanes!(two isa, i64, |x| whole::unsigned::<_, 8>(x)),
        DType::I8 => lanes!(two isa, i64, |x| whole::signed::<_, 8>(x)),
        DType::I16 => lanes!(two isa, i64, |x| whole::signed::<_, 16>(x)),
        DType::U16 => lanes!(two isa, i64, |x| whole::unsigned::<_, 16>(x)),
        DType::I32 => lanes!(two isa, i64, |x| whole::signed::<_, 32>(x)),
        DType::F16 => lanes!(all isa, f32, |x| from_f16(to_f16(x))),
        DType::BF16 => lanes!(all isa, f32, |x| from_bf16(to_bf16(x))),
        DType::I64 | DType::F32 | DType::F64 | DType::C64 | DType::C128 => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_converted_to_every_other() {
        for (from, to) in DType::REAL.into_iter().flat_map(|a| DType::REAL.map(|b| (a, b))) {
            let (mut at, mut n_stops) = (Mem::of(from), 0);
            while let Some(next) = at.stop(Mem::of(to)) {
                assert!(convert(at, next, isa()).is_some(), "{at:?} to {next:?}");
                at = next;
                n_stops += 1;
            }
            assert!(convert(at, Mem::of(to), isa()).is_some(), "{at:?} to {to}");
            assert!(n_stops <= 2);
        }
    }
}
