//! Exponentials of vectors.
//!
//! `e^x = 2^k p(r)` with `x = k ln 2 + r`, `|r| <= ln 2 / 2` (W. Cody and W. Waite 1980). For 32 bits p is the polynomial of degree 6
//! that begins with `1 + r` and is best otherwise (Remez), for 64 bits the Taylor polynomial of degree 13.
#![expect(clippy::excessive_precision, reason = "coefficients stand as they were computed")]

use super::Simd;
use crate::cpu::element::Element;

/// What exponentials of one type are computed with.
#[derive(Clone, Copy)]
pub(crate) struct Exponential<T: 'static> {
    /// Adding it rounds to a whole number, which then stands in the last bits.
    round: T,
    log2e: T,
    /// -ln 2 in two parts, the first of which has few bits: small multiples are exact.
    ln2: [T; 2],
    /// Of what is less the exponential counts as 0: it would be no normal number, or hardly.
    least: T,
    /// From the highest power of r on.
    coefficients: &'static [T],
}

pub(crate) const EXP_F32: Exponential<f32> = Exponential {
    round: 12_582_912.0,
    log2e: std::f32::consts::LOG2_E,
    ln2: [-0.693_359_375, 2.121_944_4e-4],
    least: -87.33,
    coefficients: &[1.381_46e-3, 8.368_716e-3, 4.166_839e-2, 0.166_665_21, 0.499_999_94, 1.0, 1.0],
};

pub(crate) const EXP_F64: Exponential<f64> = Exponential {
    round: 6_755_399_441_055_744.0,
    log2e: std::f64::consts::LOG2_E,
    ln2: [-0.693_145_751_953_125, -1.428_606_820_309_417_232_12e-6],
    least: -708.39,
    coefficients: &[
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ],
};

/// The exponentials of `N` vectors, within 2 units in the last place for numbers up to 88 (of 32 bits; up to 709 of 64); 0 instead
/// of what is no normal number.
///
/// # Safety
/// The CPU has the instruction set of `S`.
#[inline(always)]
pub(super) unsafe fn exp<S: Simd, const N: usize>(x: [S::V; N]) -> [S::V; N] {
    let Exponential { round, log2e, ln2, least, coefficients } = S::T::EXP;
    // SAFETY: promised by the caller.
    unsafe {
        let round = S::splat(round);
        let (mut shifted, mut r) = (x, x);
        for v in 0..N {
            shifted[v] = S::fma(x[v], S::splat(log2e), round);
            let k = S::sub(shifted[v], round);
            r[v] = S::fma(k, S::splat(ln2[1]), S::fma(k, S::splat(ln2[0]), x[v]));
        }
        let mut p = [S::splat(coefficients[0]); N];
        for &it in &coefficients[1..] {
            for v in 0..N {
                p[v] = S::fma(p[v], r[v], S::splat(it));
            }
        }
        for v in 0..N {
            p[v] = S::keep_from(S::raised(p[v], shifted[v]), x[v], S::splat(least));
        }
        p
    }
}
