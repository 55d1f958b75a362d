//! Logarithm, sine and cosine of `f32` for normal random numbers: Cephes' `logf`, `sinf` and `cosf` (Moshier, 1992).
//!
//! PyTorch draws its normal numbers with these on processors that have AVX2, with products and sums rounded once where they follow each
//! other; the last bits of `randn` depend on that, and not on how near the functions come. Nothing else computes with them.

use std::f32::consts::{FRAC_1_SQRT_2, LN_2, PI};

/// The natural logarithm of a normal number above 0.
#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    const POLYNOMIAL: [f32; 9] = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_84e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ];
    // LN_2 in two parts.
    const HIGH: f32 = 0.693_359_4; // 355 / 512
    const LOW: f32 = -2.121_944_4e-4;
    const { assert!((HIGH as f64 + LOW as f64 - LN_2 as f64).abs() < 1e-7) };

    let bits = x.to_bits();
    let exponent = (bits >> 23) as i32 - 126;
    let mantissa = f32::from_bits(bits & 0x7f_ffff | 0x3f00_0000);
    let is_low = mantissa < FRAC_1_SQRT_2;
    let exponent = exponent as f32 - if is_low { 1.0 } else { 0.0 };
    let x = mantissa - 1.0 + if is_low { mantissa } else { 0.0 };

    let square = x * x;
    let sum = polynomial(x, POLYNOMIAL) * x;
    let sum = sum.mul_add(square, exponent * LOW);
    let sum = (-square).mul_add(0.5, sum);
    exponent.mul_add(HIGH, x + sum)
}

/// Sine and cosine of a number from 0 to a few turns.
#[inline(always)]
pub(super) fn sin_cos(x: f32) -> (f32, f32) {
    // A quarter of pi in three parts.
    const PARTS: [f32; 3] = [-0.785_156_25, -2.418_756_5e-4, -3.774_895e-8];
    const SINE: [f32; 3] = [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1];
    const COSINE: [f32; 3] = [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2];

    let octant = ((x * (4.0 / PI)) as i32 + 1) & !1;
    let x = PARTS.iter().fold(x, |x, part| (octant as f32).mul_add(*part, x));
    let square = x * x;
    let cosine = polynomial(square, COSINE) * square;
    let cosine = cosine.mul_add(square, -(square * 0.5)) + 1.0;
    let sine = (polynomial(square, SINE) * square).mul_add(x, x);

    let (sin, cos) = if octant & 2 == 0 { (sine, cosine) } else { (cosine, sine) };
    let sin = if octant & 4 == 0 { sin } else { -sin };
    let cos = if (octant - 2) & 4 == 0 { -cos } else { cos };
    (sin, cos)
}

/// Horner's rule, from the highest power down.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, factors: [f32; N]) -> f32 {
    factors[1..].iter().fold(factors[0], |sum, factor| sum.mul_add(x, *factor))
}
