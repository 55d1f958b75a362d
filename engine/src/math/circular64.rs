//! Sine and cosine of numbers of 64 bits as straight-line code, to the last bit. Coefficients and the way of FreeBSD's `k_sin.c` and `k_cos.c` (Sun
//! Microsystems, 1993).
#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

use std::f64::consts::FRAC_2_PI;

use super::float::polynomial;
use super::float64::ROUND64;
use super::{Float64, Library, Scalar, Whole};

/// pi / 2 in two parts.
pub(super) const PIO2_HI: f64 = std::f64::consts::FRAC_PI_2;
pub(super) const PIO2_LO: f64 = 6.123_233_995_736_766e-17;
/// Arguments beyond this are reduced by the library.
const LIMIT: f64 = 1e6;

/// An argument less a multiple of pi / 2, from -pi / 4 to pi / 4: a number and what it lacks, and the multiple in the low bits.
struct Reduced<D: Float64> {
    near: D,
    rest: D,
    quadrant: D::Int,
}

impl<D: Float64> Reduced<D> {
    /// For arguments up to `LIMIT`. The product with the first part of pi / 2 is exact in two numbers, and the difference to the first
    /// of them as well.
    #[inline(always)]
    fn of(x: D) -> Self {
        let shifted = x.mul_add(D::of(FRAC_2_PI), D::of(ROUND64));
        let n = shifted - D::of(ROUND64);
        let product = n * D::of(PIO2_HI);
        let lost = n.mul_add(D::of(PIO2_HI), -product);
        let left = x - product;
        let small = n.mul_add(D::of(PIO2_LO), lost);
        let near = left - small;
        Self { near, rest: (left - near) - small, quadrant: shifted.to_bits() }
    }

    #[inline(always)]
    fn sin(&self) -> D {
        let (x, y) = (self.near, self.rest);
        let z = x * x;
        let r = polynomial(
            z,
            [
                1.589_690_995_211_550_102_21e-10,
                -2.505_076_025_340_686_341_95e-8,
                2.755_731_370_707_006_767_89e-6,
                -1.984_126_982_985_794_931_34e-4,
                8.333_333_333_322_489_461_24e-3,
            ],
        );
        let v = z * x;
        x - ((z * (D::of(0.5) * y - v * r) - y) - v * D::of(-1.666_666_666_666_663_243_48e-1))
    }

    #[inline(always)]
    fn cos(&self) -> D {
        let (x, y) = (self.near, self.rest);
        let z = x * x;
        let r = z * polynomial(
            z,
            [
                -1.135_964_755_778_819_482_65e-11,
                2.087_572_321_298_174_827_90e-9,
                -2.755_731_435_139_066_330_35e-7,
                2.480_158_728_947_672_941_78e-5,
                -1.388_888_888_887_410_957_49e-3,
                4.166_666_666_666_660_190_37e-2,
            ],
        );
        let half = D::of(0.5) * z;
        let w = D::of(1.0) - half;
        w + (((D::of(1.0) - w) - half) + (z * r - x * y))
    }
}

/// Whether bit `bit` of a quadrant is set.
#[inline(always)]
pub(super) fn has_bit<D: Float64>(quadrant: D::Int, bit: i64) -> D::Truth {
    !(quadrant & D::Int::of(bit)).equals(D::Int::of(0))
}

#[inline(always)]
pub(crate) fn sin<D: Float64>(x: D) -> D {
    let at = Reduced::of(x);
    let size = D::select(has_bit::<D>(at.quadrant, 1), at.cos(), at.sin());
    let res = D::select(has_bit::<D>(at.quadrant, 2), -size, size);
    D::select(x.equals(D::of(0.0)), x, res)
}

#[inline(always)]
pub(crate) fn cos<D: Float64>(x: D) -> D {
    let at = Reduced::of(x);
    let size = D::select(has_bit::<D>(at.quadrant, 1), at.sin(), at.cos());
    let turned = at.quadrant.wrapping_add(D::Int::of(1));
    D::select(has_bit::<D>(turned, 2), -size, size)
}

/// Whether an argument is beyond the reach of the formulas.
#[inline(always)]
pub(crate) fn is_far<D: Float64>(x: D) -> D::Truth {
    D::of(LIMIT).less(x.abs())
}

/// A function of which `near` is the way for arguments up to `LIMIT`.
#[inline(always)]
pub(crate) fn reduced<D: Float64>(x: D, near: D, library: Library) -> D {
    D::select(is_far(x), x.library(library), near)
}

#[cfg(test)]
mod tests {
    use super::super::float64;
    use super::*;

    /// The numbers between two.
    fn apart(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    /// Where sines and cosines are all but 0, what is left of the argument lacks digits.
    fn are_near(a: f64, b: f64, most: u64) -> bool {
        apart(a, b) <= most || (a - b).abs() < 1e-26
    }

    /// The C library's are within a bit of what is right; so these are within two of those.
    #[test]
    fn functions_are_right_to_the_last_bits() {
        let mut state = 9_u64;
        let mut drawn = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 * 2.0 - 1.0
        };
        let mut unequal = [0; 6];
        let mut check = |at: usize, name: &str, x: f64, got: f64, want: f64, most: u64| {
            assert!(are_near(got, want, most), "{name}({x:e}) = {got:e}, not {want:e}");
            unequal[at] += usize::from(got.to_bits() != want.to_bits());
        };
        for _ in 0..50_000 {
            for scale in [1.0, 6.0, 100.0, 700.0] {
                let x = drawn() * scale;
                check(0, "exp", x, float64::exp(x), x.exp(), 1);
                check(1, "sigmoid", x, float64::sigmoid(x), 1.0 / (1.0 + (-x).exp()), 2);
                check(2, "tanh", x, float64::tanh(x), x.tanh(), 3);
                check(3, "expm1", x, float64::expm1(x), x.exp_m1(), 2);
                check(4, "sin", x, sin(x), x.sin(), 1);
                check(5, "cos", x, cos(x), x.cos(), 1);
            }
            let x = drawn() * LIMIT;
            check(4, "sin", x, sin(x), x.sin(), 1);
            check(5, "cos", x, cos(x), x.cos(), 1);
        }
        // Of 200,000 and more each.
        println!("other bits than the library: {unequal:?} of exp, sigmoid, tanh, expm1, sin, cos");
        assert!(unequal[0] < 6000 && unequal.iter().all(|it| *it < 50_000), "{unequal:?}");
        for k in 1..1000 {
            let x = std::f64::consts::PI * f64::from(k);
            check_near(x);
        }
        for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same(float64::exp(x), x.exp()) && same(float64::tanh(x), x.tanh()), "{x}");
            assert!(same(float64::expm1(x), x.exp_m1()), "{x}");
        }
        for x in [-745.2, -745.0, -730.5, -708.5, 709.7, 709.8] {
            assert!(apart(float64::exp(x), x.exp()) <= 1, "{x}: {:e}", float64::exp(x));
        }
        assert!(sin(-0.0).is_sign_negative() && sin(f64::NAN).is_nan());
        assert!(float64::exp(0.0) == 1.0 && float64::exp(1.0) == std::f64::consts::E);
    }

    fn check_near(x: f64) {
        assert!(are_near(sin(x), x.sin(), 1), "sin({x}) = {:e}, not {:e}", sin(x), x.sin());
        let y = x + std::f64::consts::FRAC_PI_2;
        assert!(are_near(cos(y), y.cos(), 1), "cos({y}) = {:e}, not {:e}", cos(y), y.cos());
    }
}
