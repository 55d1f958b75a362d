//! Transcendental functions on numbers of 32 bits as straight-line code, which the compiler turns into vector code.
//!
//! Coefficients of `exp`, `log` and `tanh` near 0 are those of the Cephes library (S. Moshier, single precision), those of
//! `erf` are N. Juffa's; those of powers of 2, `sin` and `cos` are of `series.rs`. Functions that lose accuracy in 32 bits are
//! computed in 64 and rounded once.
#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

use std::f32::consts::{FRAC_2_PI, FRAC_PI_2, LOG2_E};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, LOG10_E};

use super::circular64::{PIO2_HI, PIO2_LO, has_bit};
use super::float::{at_the_ends, clamp, polynomial};
use super::float64::ROUND64;
use super::series::{COS_24, ERFC32, EXP2_21, EXP2_24, SIN_24};
use super::{Float, Float32, Float64, Library, Scalar, Whole};

/// Adding it rounds to an integer, which then stands in the low bits.
const ROUND32: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has few bits, so that its small multiples are exact.
const LN2_HI: f32 = 0.693_359_4;
const LN2_LO: f32 = -2.121_944_4e-4;
/// What `LOG2_E` lacks.
const LOG2_E_REST: f32 = 1.925_963e-8;
/// What the nearest number of 32 bits lacks of pi / 2, in two parts.
const PIO2_REST: [f32; 2] = [-4.371_139e-8, -1.715_124_9e-15];
/// Arguments beyond this are reduced by the library.
const TRIG_LIMIT: f32 = 1e6;

/// 2^n for n in -126..=127.
#[inline(always)]
fn pow2<F: Float32>(n: F::Int) -> F {
    F::from_bits(n.wrapping_add(F::Int::of(127)) << 23)
}

/// The whole number to which `ROUND32` was added.
#[inline(always)]
fn whole<F: Float32>(shifted: F) -> F::Int {
    shifted.to_bits().wrapping_sub(F::Int::of(ROUND32.to_bits() as i32))
}

/// (n, r, (e^r - 1 - r) / r^2) with x = n ln 2 + r.
#[inline(always)]
fn exp_parts<F: Float32>(x: F) -> (F::Int, F, F) {
    let shifted = x.mul_add(F::of(LOG2_E), F::of(ROUND32));
    let n = shifted - F::of(ROUND32);
    let r = (-n).mul_add(F::of(LN2_LO), (-n).mul_add(F::of(LN2_HI), x));
    let p = polynomial(
        r,
        [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5],
    );
    (whole(shifted), r, p)
}

/// (2^n, n) for a whole n in -126..=127, to which `ROUND32` was added.
#[inline(always)]
fn rounded_power<F: Float32>(shifted: F) -> (F, F) {
    (pow2(whole(shifted)), shifted - F::of(ROUND32))
}

#[inline(always)]
pub(crate) fn exp<F: Float32>(x: F) -> F {
    let (n, r, p) = exp_parts(clamp(x, F::of(-104.0), F::of(89.0)));
    let e = p.mul_add(r * r, r) + F::of(1.0);
    // Two factors, so that results below the normal range are rounded once.
    let half = n >> 1;
    e * pow2::<F>(half) * pow2::<F>(n.wrapping_sub(half))
}

#[inline(always)]
pub(crate) fn expm1<F: Float32>(x: F) -> F {
    let (n, r, p) = exp_parts(clamp(x, F::of(-25.0), F::of(89.0)));
    let e = p.mul_add(r * r, r);
    let scale = pow2::<F>(n.wrapping_sub(F::Int::of(1)));
    let res = F::of(2.0) * scale.mul_add(e, scale - F::of(0.5));
    F::select(x.equals(F::of(0.0)), x, res)
}

#[inline(always)]
pub(crate) fn sigmoid<F: Float32>(x: F) -> F {
    // Below it is 1, above e^t is infinite.
    let t = clamp(-x, F::of(-80.0), F::of(89.0));
    let shifted = t.mul_add(F::of(LOG2_E), F::of(ROUND32));
    let n = shifted - F::of(ROUND32);
    let f = t.mul_add(F::of(LOG2_E_REST), t.mul_add(F::of(LOG2_E), -n));
    let e = polynomial(f, EXP2_24).mul_add(f, F::of(1.0));
    // Half of 2^n is a number where 2^n is too large for one.
    let half = pow2::<F>(whole(shifted).wrapping_sub(F::Int::of(1)));
    F::of(1.0) / (e + e).mul_add(half, F::of(1.0))
}

#[inline(always)]
pub(crate) fn tanh<F: Float32>(x: F) -> F {
    let a = x.abs();
    let z = x * x;
    let p = polynomial(
        z,
        [-5.704_988_7e-3, 2.063_908_9e-2, -5.373_971_5e-2, 0.133_314_42, -0.333_332_82],
    );
    let near = (p * z).mul_add(x, x);
    // From 10 on it is 1. There 2^y is e^(2 a).
    let t = F::select(F::of(10.0).less(a), F::of(10.0), a);
    let to_y = F::of(2.0 * LOG2_E);
    let (scale, n) = rounded_power(t.mul_add(to_y, F::of(ROUND32)));
    let f = t.mul_add(to_y, -n);
    let e = polynomial(f, EXP2_24).mul_add(f, F::of(1.0));
    let far = F::of(1.0) - F::of(2.0) / e.mul_add(scale, F::of(1.0));
    // The sign of zero, too.
    F::select(a.less(F::of(0.625)), near, far).copysign(x)
}

#[inline(always)]
pub(crate) fn log<F: Float32>(x: F) -> F {
    let int = F::Int::of;
    let tiny = x.less(F::of(f32::MIN_POSITIVE));
    let y = F::select(tiny, x * F::of(8_388_608.0), x);
    // m in [sqrt(1/2), sqrt(2)), x = m 2^e.
    let shifted = y.to_bits().wrapping_sub(int(0x3f35_04f3));
    let e = F::from_int(shifted >> 23) - F::select(tiny, F::of(23.0), F::of(0.0));
    let m = F::from_bits((shifted & int(0x007f_ffff)).wrapping_add(int(0x3f35_04f3)));
    let f = m - F::of(1.0);
    let z = f * f;
    let p = polynomial(
        f,
        [
            7.037_684e-2,
            -0.115_146_1,
            0.116_769_99,
            -0.124_201_41,
            0.142_493_23,
            -0.166_680_58,
            0.200_007_15,
            -0.249_999_94,
            0.333_333_3,
        ],
    );
    let tail = e.mul_add(F::of(LN2_LO), p * f * z);
    let tail = F::of(-0.5).mul_add(z, tail);
    at_the_ends(x, e.mul_add(F::of(LN2_HI), f + tail))
}

/// The error function; two polynomials, one of them in the exponent.
#[inline(always)]
pub(crate) fn erf<F: Float32>(x: F) -> F {
    let a = x.abs();
    // From 4 on it is 1; the polynomial would turn round far out. NaN is not far.
    let t = F::select(F::of(4.0).less(a), F::of(4.0), a);
    let s = t * t;
    let r = polynomial(t, [-1.728_534_7e-5 * LOG2_E, 3.831_972e-4 * LOG2_E]);
    let u = polynomial(t, [-3.883_964_4e-3 * LOG2_E, 2.425_462_3e-2 * LOG2_E]);
    let r = r.mul_add(s, u);
    let r = r.mul_add(t, F::of(-0.106_777_88 * LOG2_E));
    let r = r.mul_add(t, F::of(-0.634_846_7 * LOG2_E));
    let r = r.mul_add(t, F::of(-1.128_717_5 * LOG2_E));
    // What 1 lacks is 2^y, at most a fifth, so that fewer of its bits matter.
    let y = r * t;
    let (scale, n) = rounded_power(y + F::of(ROUND32));
    let e = polynomial(y - n, EXP2_21);
    let far = (-e).mul_add(scale, F::of(1.0));
    let r = polynomial(
        s,
        [
            -5.967_617e-4,
            4.991_194_3e-3,
            -2.676_813_5e-2,
            0.112_819_925,
            -0.376_125_34,
            0.128_379_16,
        ],
    );
    let near = r.mul_add(x, x);
    F::select(F::of(0.927_734_4).less(t), far.copysign(x), near)
}

/// e^x to about 1e-11, for |x| up to 700.
#[inline(always)]
fn wide_exp<D: Float64>(x: D) -> D {
    let x = clamp(x, D::of(-700.0), D::of(700.0));
    let shifted = x.mul_add(D::of(std::f64::consts::LOG2_E), D::of(ROUND64));
    let n = shifted - D::of(ROUND64);
    let r = (-n).mul_add(D::of(LN_2), x);
    let p = polynomial(
        r,
        [
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
    );
    let n = shifted.to_bits().wrapping_sub(D::Int::of(ROUND64.to_bits() as i64));
    p * D::from_bits(n.wrapping_add(D::Int::of(1023)) << 52)
}

/// ln x to about 1e-12 for positive normal x; -inf for 0, inf for inf, NaN below 0.
#[inline(always)]
fn wide_log<D: Float64>(x: D) -> D {
    let int = D::Int::of;
    let shifted = x.to_bits().wrapping_sub(int(0x3fe6_a09e_667f_3bcd));
    // The exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let field = (shifted >> 52).wrapping_add(int(ROUND64.to_bits() as i64));
    let e = D::from_bits(field) - D::of(ROUND64);
    let mantissa = (shifted & int(0x000f_ffff_ffff_ffff)).wrapping_add(int(0x3fe6_a09e_667f_3bcd));
    let m = D::from_bits(mantissa);
    let s = (m - D::of(1.0)) / (m + D::of(1.0));
    let z = s * s;
    let p = polynomial(
        z,
        [2.0 / 15.0, 2.0 / 13.0, 2.0 / 11.0, 2.0 / 9.0, 2.0 / 7.0, 2.0 / 5.0, 2.0 / 3.0, 2.0],
    );
    at_the_ends(x, e.mul_add(D::of(LN_2), p * s))
}

/// The complementary error function: `t exp(p(t) - x^2)` for `t = 2 / (2 + x)` from 0 on, where p is a polynomial that is fitted to it, to about 2e-10;
/// below 0 what that leaves of 2. From 10.5 on nothing is left in 32 bits.
#[inline(always)]
pub(crate) fn erfc<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let (y, zero) = (x.widen(), wide(0.0));
    let a = clamp(y.abs(), zero, wide(10.5));
    let t = wide(2.0) / (wide(2.0) + a);
    let p = polynomial((t - wide(0.58)) * wide(1.0 / 0.42), ERFC32);
    let rest = t * wide_exp((-a).mul_add(a, p));
    F::narrow(F::Wide::select(y.less(zero), wide(2.0) - rest, rest))
}

/// The x with `erf(x) = y`; infinite at -1 and 1, NaN beyond. Wichura's rational functions (Algorithm AS 241, Applied Statistics 37, 1988); of
/// numbers of 32 bits none is so close to 1 that the third is needed.
#[inline(always)]
pub(crate) fn erfinv<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let (y, one) = (x.widen(), wide(1.0));
    let size = y.abs();
    let (q, r) = (size * wide(0.5), (wide(-0.25) * size).mul_add(size, wide(0.180_625)));
    let s = (-wide_log((one - size) * wide(0.5))).sqrt() - wide(1.6);
    let is_middle = size.at_most(wide(0.85));
    let above = F::Wide::select(is_middle, q * polynomial(r, MIDDLE[0]), polynomial(s, TAIL[0]));
    let below = F::Wide::select(is_middle, polynomial(r, MIDDLE[1]), polynomial(s, TAIL[1]));
    let found = above / below * wide(FRAC_1_SQRT_2);
    let found = F::Wide::select(size.equals(one), wide(f64::INFINITY), found);
    F::narrow(found.copysign(y))
}

/// Numerator and denominator around 0.
const MIDDLE: [[f64; 8]; 2] = [
    [
        2_509.080_928_730_122_672_7,
        33_430.575_583_588_128_105,
        67_265.770_927_008_700_853,
        45_921.953_931_549_871_457,
        13_731.693_765_509_461_125,
        1_971.590_950_306_551_442_7,
        133.141_667_891_784_377_45,
        3.387_132_872_796_366_608,
    ],
    [
        5_226.495_278_852_854_561,
        28_729.085_735_721_942_674,
        39_307.895_800_092_710_61,
        21_213.794_301_586_595_867,
        5_394.196_021_424_751_107_7,
        687.187_007_492_057_908_3,
        42.313_330_701_600_911_252,
        1.0,
    ],
];
/// The same towards 1.
const TAIL: [[f64; 8]; 2] = [
    [
        7.745_450_142_783_414_076_4e-4,
        0.022_723_844_989_269_184_583_3,
        0.241_780_725_177_450_611_77,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_5,
        4.630_337_846_156_545_295_9,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24e-9,
        5.475_938_084_995_344_946e-4,
        0.015_198_666_563_616_457_196_6,
        0.148_103_976_427_480_074_59,
        0.689_767_334_985_100_004_55,
        1.676_384_830_183_803_849_4,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
];

#[inline(always)]
pub(crate) fn exp2<F: Float32>(x: F) -> F {
    F::narrow(wide_exp(x.widen() * F::Wide::of(LN_2)))
}

#[inline(always)]
pub(crate) fn log2<F: Float32>(x: F) -> F {
    F::narrow(wide_log(x.widen()) * F::Wide::of(std::f64::consts::LOG2_E))
}

#[inline(always)]
pub(crate) fn log10<F: Float32>(x: F) -> F {
    F::narrow(wide_log(x.widen()) * F::Wide::of(LOG10_E))
}

#[inline(always)]
pub(crate) fn log1p<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let y = x.widen();
    // The first terms of the series where 1 + x would lose what matters.
    let near = (polynomial(y, [-0.25, 1.0 / 3.0, -0.5]) * y).mul_add(y, y);
    F::narrow(F::Wide::select(y.abs().less(wide(1e-4)), near, wide_log(wide(1.0) + y)))
}

#[inline(always)]
pub(crate) fn sinh<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let y = x.widen();
    let z = y * y;
    let p = polynomial(z, [1.0 / 362_880.0, 1.0 / 5_040.0, 1.0 / 120.0, 1.0 / 6.0]);
    let near = (p * z).mul_add(y, y);
    let e = wide_exp(y);
    let far = (e - wide(1.0) / e) * wide(0.5);
    F::narrow(F::Wide::select(y.abs().less(wide(0.5)), near, far))
}

#[inline(always)]
pub(crate) fn cosh<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let e = wide_exp(x.widen());
    F::narrow((e + wide(1.0) / e) * wide(0.5))
}

/// `x` to the power of `y`, with the special cases of IEEE 754 (`pow`).
#[inline(always)]
pub(crate) fn pow<F: Float32>(x: F, y: F) -> F {
    let (zero, one) = (F::of(0.0), F::of(1.0));
    let l = wide_log(x.abs().widen());
    let size = F::narrow(wide_exp(y.widen() * l));
    let whole = y.floor().equals(y);
    let half = y * F::of(0.5);
    let odd = whole & !half.floor().equals(half) & y.abs().less(F::of(16_777_216.0));
    let signed = F::select(odd, size.copysign(x), size);
    let no_power = x.less(zero) & !whole & !x.equals(F::of(f32::NEG_INFINITY));
    let res = F::select(no_power, F::of(f32::NAN), signed);
    let endless = x.equals(F::of(-1.0)) & y.abs().equals(F::of(f32::INFINITY));
    let res = F::select(endless, one, res);
    F::select(y.equals(zero) | x.equals(one), one, res)
}

/// (sin, cos, quadrant) of x reduced to [-pi/4, pi/4], for |x| up to `TRIG_LIMIT`: by the nearest number to pi / 2 without rounding (Cody and
/// Waite 1980), then by what that lacks. To 1.7 units in the last place.
#[inline(always)]
fn sin_cos<F: Float32>(x: F) -> (F, F, F::Int) {
    let shifted = x.mul_add(F::of(FRAC_2_PI), F::of(ROUND32));
    let n = -(shifted - F::of(ROUND32));
    let r = n.mul_add(F::of(FRAC_PI_2), x);
    let r = n.mul_add(F::of(PIO2_REST[1]), n.mul_add(F::of(PIO2_REST[0]), r));
    let z = r * r;
    let s = polynomial(z, SIN_24);
    let c = polynomial(z, COS_24).mul_add(z, F::of(-0.5)).mul_add(z, F::of(1.0));
    ((s * z).mul_add(r, r), c, shifted.to_bits())
}

/// The first in even quadrants, the second in odd ones; negative in every other pair of quadrants.
#[inline(always)]
fn in_quadrant<F: Float32>(quadrant: F::Int, even: F, odd: F) -> F {
    let bit = |at: i32| quadrant & F::Int::of(at);
    let size = F::select(bit(1).equals(F::Int::of(0)), even, odd);
    F::from_bits(size.to_bits() ^ (bit(2) << 30))
}

#[inline(always)]
pub(crate) fn sin<F: Float32>(x: F) -> F {
    let (s, c, quadrant) = sin_cos(x);
    F::select(x.equals(F::of(0.0)), x, in_quadrant(quadrant, s, c))
}

#[inline(always)]
pub(crate) fn cos<F: Float32>(x: F) -> F {
    let (s, c, quadrant) = sin_cos(x);
    in_quadrant(quadrant.wrapping_add(F::Int::of(1)), s, c)
}

/// In 64 bits: the quotient would double the error.
#[inline(always)]
pub(crate) fn tan<F: Float32>(x: F) -> F {
    let wide = F::Wide::of;
    let y = x.widen();
    let shifted = y.mul_add(wide(std::f64::consts::FRAC_2_PI), wide(ROUND64));
    let n = shifted - wide(ROUND64);
    let r = (-n).mul_add(wide(PIO2_LO), (-n).mul_add(wide(PIO2_HI), y));
    let z = r * r;
    let s = polynomial(z, [1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0]);
    let s = (s * z).mul_add(r, r);
    let c =
        polynomial(z, [-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0]);
    let is_odd = has_bit::<F::Wide>(shifted.to_bits(), 1);
    let res = F::narrow(F::Wide::select(is_odd, -c / s, s / c));
    F::select(x.equals(F::of(0.0)), x, res)
}

/// Whether an argument is beyond the reach of the trigonometric formulas.
#[inline(always)]
pub(crate) fn is_far<F: Float32>(x: F) -> F::Truth {
    F::of(TRIG_LIMIT).less(x.abs())
}

/// A trigonometric function of which `near` is the way for arguments up to `TRIG_LIMIT`.
#[inline(always)]
pub(crate) fn reduced<F: Float32>(x: F, near: F, library: Library) -> F {
    F::select(is_far(x), x.library(library), near)
}

/// A function of 64 bits, rounded.
#[inline(always)]
pub(crate) fn rounded<F: Float32>(x: F, of: impl Fn(F::Wide) -> F::Wide) -> F {
    F::narrow(of(x.widen()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many units in the last place of a number are between it and another.
    fn error(got: f32, want: f64) -> f64 {
        let size = (want.abs() as f32).max(f32::MIN_POSITIVE);
        (f64::from(got) - want).abs() / f64::from(size.next_up() - size)
    }

    #[test]
    fn functions_are_right_to_the_last_units() {
        type Row = (&'static str, f32, f32, fn(f32) -> f32, fn(f64) -> f64);
        let rows: [Row; 7] = [
            ("sin", 1.7, TRIG_LIMIT, sin, f64::sin),
            ("cos", 1.7, TRIG_LIMIT, cos, f64::cos),
            ("tan", 0.6, TRIG_LIMIT, tan, f64::tan),
            ("tanh", 1.5, 20.0, tanh, f64::tanh),
            ("erf", 1.5, 6.0, erf, super::super::erf),
            ("exp", 1.1, 88.0, exp, f64::exp),
            ("sigmoid", 2.5, 88.0, sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        ];
        for (name, most, limit, got, want) in rows {
            for bits in (0..limit.to_bits()).step_by(1009) {
                let x = f32::from_bits(bits);
                for x in [x, -x] {
                    let far = error(got(x), want(f64::from(x)));
                    assert!(far <= most.into(), "{name}({x:e}) = {:e}, {far} units off", got(x));
                }
            }
            let is_odd = !["cos", "exp", "sigmoid"].contains(&name);
            assert!(got(f32::NAN).is_nan() && (!is_odd || got(-0.0).is_sign_negative()), "{name}");
        }
        assert!(sigmoid(f32::INFINITY) == 1.0 && sigmoid(-90.0) == 0.0 && sigmoid(-88.5) > 0.0);
        // What is left of one.
        assert!((2_000_000..4_500_000).all(|it| erf(it as f32 * 1e-6) <= 1.0));
        assert!(erf(4.5) == 1.0 && tanh(f32::INFINITY) == 1.0 && erf(f32::NEG_INFINITY) == -1.0);
    }
}
