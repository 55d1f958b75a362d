//! From halves to float32 and back, without branches, so that loops over them become vector code.
//!
//! The integer tricks are those of F. Giesen, "half <-> float conversions" (public domain, 2012): a subtraction of floats
//! normalises what is subnormal. Rounding is to the nearest, ties to even; NaN stays NaN.

use super::{Float32, Scalar, Whole};

/// The bits of a binary32 that says infinity.
const INFINITY: i32 = 0xff << 23;

/// The value of a binary16, whose bits are the low ones, exactly.
#[inline(always)]
pub(crate) fn from_f16<F: Float32>(half: F::Int) -> F {
    const EXPONENT: i32 = 0x7c00 << 13;
    const MAGIC: f32 = f32::from_bits(113 << 23);
    let int = F::Int::of;
    let shifted = (half & int(0x7fff)) << 13;
    let exponent = shifted & int(EXPONENT);
    let rebased = shifted.wrapping_add(int((127 - 15) << 23));
    let special = rebased.wrapping_add(int((128 - 16) << 23));
    let small = F::from_bits(rebased.wrapping_add(int(1 << 23))) - F::of(MAGIC);
    let finite = F::Int::select(exponent.equals(int(0)), small.to_bits(), rebased);
    let bits = F::Int::select(exponent.equals(int(EXPONENT)), special, finite);
    F::from_bits(bits | (half & int(0x8000)) << 16)
}

/// The nearest binary16, in the low bits.
#[inline(always)]
pub(crate) fn to_f16<F: Float32>(x: F) -> F::Int {
    /// From here on the result is infinity: 2^16.
    const TOO_LARGE: i32 = (127 + 16) << 23;
    /// Below this the result is subnormal: 2^-14.
    const SMALLEST: i32 = (127 - 14) << 23;
    /// Adding it leaves the bits of a subnormal result in the low end: 2^-1.
    const MAGIC: i32 = 126 << 23;
    let int = F::Int::of;
    let bits = x.to_bits();
    let magnitude = bits & int(0x7fff_ffff);
    let special = F::Int::select(int(INFINITY).less(magnitude), int(0x7e00), int(0x7c00));
    let small = F::from_bits(magnitude) + F::from_bits(int(MAGIC));
    let small = small.to_bits().wrapping_sub(int(MAGIC));
    let odd = magnitude >> 13 & int(1);
    let rebased = magnitude.wrapping_sub(int((127 - 15) << 23));
    let normal = rebased.wrapping_add(int(0xfff).wrapping_add(odd)) >> 13;
    let finite = F::Int::select(magnitude.less(int(SMALLEST)), small, normal);
    let half = F::Int::select(int(TOO_LARGE).at_most(magnitude), special, finite);
    half | bits >> 16 & int(0x8000)
}

/// The value of a bfloat16, whose bits are the low ones, exactly.
#[inline(always)]
pub(crate) fn from_bf16<F: Float32>(half: F::Int) -> F {
    F::from_bits(half << 16)
}

/// The nearest bfloat16, in the low bits.
#[inline(always)]
pub(crate) fn to_bf16<F: Float32>(x: F) -> F::Int {
    let int = F::Int::of;
    let bits = x.to_bits();
    let upper = bits >> 16 & int(0xffff);
    let odd = upper & int(1);
    let rounded = bits.wrapping_add(int(0x7fff).wrapping_add(odd)) >> 16 & int(0xffff);
    let is_nan = int(INFINITY).less(bits & int(0x7fff_ffff));
    F::Int::select(is_nan, upper | int(0x40), rounded)
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn from_f16(bits: u16) -> f32 {
        super::from_f16(i32::from(bits))
    }

    fn from_bf16(bits: u16) -> f32 {
        super::from_bf16(i32::from(bits))
    }

    #[test]
    fn every_half_is_read_exactly() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(from_f16(bits).is_nan(), a.is_nan());
            assert!(a.is_nan() || from_f16(bits).to_bits() == a.to_f32().to_bits(), "{bits:x}");
            assert!(b.is_nan() || from_bf16(bits).to_bits() == b.to_f32().to_bits(), "{bits:x}");
        }
    }

    /// Numbers at, beside and between all halves, and a walk through all bit patterns.
    #[test]
    fn rounds_to_the_nearest_half() {
        let near =
            |it: f32| [-1, 0, 1].map(|step| f32::from_bits(it.to_bits().wrapping_add_signed(step)));
        let halves = (0..=u16::MAX).flat_map(|it| [from_f16(it), from_bf16(it)]);
        let between = (0..u16::MAX).flat_map(|it| {
            [(from_f16(it) + from_f16(it + 1)) / 2.0, (from_bf16(it) + from_bf16(it + 1)) / 2.0]
        });
        let walk = (0..u32::MAX).step_by(65_521).map(f32::from_bits);
        for x in halves.chain(between).flat_map(near).chain(walk) {
            let (a, b) = (f16::from_bits(to_f16(x) as u16), bf16::from_bits(to_bf16(x) as u16));
            if x.is_nan() {
                assert!(a.is_nan() && b.is_nan());
            } else {
                assert_eq!(a.to_bits(), f16::from_f32_const(x).to_bits(), "{x:e}");
                assert_eq!(b.to_bits(), bf16::from_f32_const(x).to_bits(), "{x:e}");
            }
        }
    }
}
