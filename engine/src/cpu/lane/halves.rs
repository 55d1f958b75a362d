//! From halves to float32 and back, without branches, so that loops over them become vector code.
//!
//! The integer tricks are those of F. Giesen, "half <-> float conversions" (public domain, 2012): a subtraction of floats
//! normalises what is subnormal. Rounding is to the nearest, ties to even; NaN stays NaN.

/// The bits of a binary32 that says infinity.
const INFINITY: u32 = 0xff << 23;

/// The value of a binary16, exactly.
#[inline(always)]
pub(super) fn from_f16(half: u16) -> f32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    const MAGIC: u32 = 113 << 23;
    let shifted = u32::from(half & 0x7fff) << 13;
    let exponent = shifted & EXPONENT;
    let rebased = shifted + ((127 - 15) << 23);
    let special = rebased + ((128 - 16) << 23);
    let small = (f32::from_bits(rebased + (1 << 23)) - f32::from_bits(MAGIC)).to_bits();
    let finite = if exponent == 0 { small } else { rebased };
    let bits = if exponent == EXPONENT { special } else { finite };
    f32::from_bits(bits | u32::from(half & 0x8000) << 16)
}

/// The nearest binary16.
#[inline(always)]
pub(super) fn to_f16(x: f32) -> u16 {
    /// From here on the result is infinity: 2^16.
    const TOO_LARGE: u32 = (127 + 16) << 23;
    /// Below this the result is subnormal: 2^-14.
    const SMALLEST: u32 = (127 - 14) << 23;
    /// Adding it leaves the bits of a subnormal result in the low end: 2^-1.
    const MAGIC: u32 = 126 << 23;
    let bits = x.to_bits();
    let magnitude = bits & 0x7fff_ffff;
    let special = if magnitude > INFINITY { 0x7e00 } else { 0x7c00 };
    let small = (f32::from_bits(magnitude) + f32::from_bits(MAGIC)).to_bits().wrapping_sub(MAGIC);
    let odd = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + odd) >> 13;
    let finite = if magnitude < SMALLEST { small } else { normal };
    let half = if magnitude >= TOO_LARGE { special } else { finite };
    half as u16 | (bits >> 16) as u16 & 0x8000
}

/// The value of a bfloat16, exactly.
#[inline(always)]
pub(super) fn from_bf16(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// The nearest bfloat16.
#[inline(always)]
pub(super) fn to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let odd = bits >> 16 & 1;
    let rounded = bits.wrapping_add(0x7fff + odd) >> 16;
    let nan = bits >> 16 | 0x40;
    (if bits & 0x7fff_ffff > INFINITY { nan } else { rounded }) as u16
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

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
            let (a, b) = (f16::from_bits(to_f16(x)), bf16::from_bits(to_bf16(x)));
            if x.is_nan() {
                assert!(a.is_nan() && b.is_nan());
            } else {
                assert_eq!(a.to_bits(), f16::from_f32_const(x).to_bits(), "{x:e}");
                assert_eq!(b.to_bits(), bf16::from_f32_const(x).to_bits(), "{x:e}");
            }
        }
    }
}
