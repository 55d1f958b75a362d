//! Transcendental functions on f32 as straight-line code that the compiler turns into vector code.
//!
//! Coefficients of `exp`, `log` and `tanh` are those of the Cephes library (S. Moshier, single precision), those of
//! `erf` are N. Juffa's. Functions that lose accuracy in f32 are computed in f64 and rounded once.
#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

use std::f32::consts::LOG2_E;
use std::f64::consts::{FRAC_2_PI, LN_2};

/// Adding it rounds to an integer, which then stands in the low bits.
const ROUND32: f32 = 12_582_912.0;
/// As `ROUND32`, for f64.
const ROUND64: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has few bits, so that its small multiples are exact.
const LN2_HI: f32 = 0.693_359_4;
const LN2_LO: f32 = -2.121_944_4e-4;
/// pi / 2 in two parts.
const PIO2_HI: f64 = std::f64::consts::FRAC_PI_2;
const PIO2_LO: f64 = 6.123_233_995_736_766e-17;
/// Arguments beyond this are reduced by the library.
pub(super) const TRIG_LIMIT: f32 = 1e9;

#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// 2^n for n in -126..=127.
#[inline(always)]
fn pow2(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) << 23) as u32)
}

/// (n, r, (e^r - 1 - r) / r^2) with x = n ln 2 + r.
#[inline(always)]
fn exp_parts(x: f32) -> (i32, f32, f32) {
    let shifted = x.mul_add(LOG2_E, ROUND32);
    let n = shifted - ROUND32;
    let r = (-n).mul_add(LN2_LO, (-n).mul_add(LN2_HI, x));
    let p = 1.987_569_2e-4_f32;
    let p = p.mul_add(r, 1.398_2e-3);
    let p = p.mul_add(r, 8.333_452e-3);
    let p = p.mul_add(r, 4.166_579_6e-2);
    let p = p.mul_add(r, 0.166_666_66);
    let p = p.mul_add(r, 0.5);
    ((shifted.to_bits() as i32).wrapping_sub(ROUND32.to_bits() as i32), r, p)
}

#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let (n, r, p) = exp_parts(clamp(x, -104.0, 89.0));
    let e = p.mul_add(r * r, r) + 1.0;
    // Two factors, so that results below the normal range are rounded once.
    let half = n >> 1;
    e * pow2(half) * pow2(n.wrapping_sub(half))
}

#[inline(always)]
pub(super) fn expm1(x: f32) -> f32 {
    let (n, r, p) = exp_parts(clamp(x, -25.0, 89.0));
    let e = p.mul_add(r * r, r);
    let scale = pow2(n.wrapping_sub(1));
    let res = 2.0 * scale.mul_add(e, scale - 0.5);
    if x == 0.0 { x } else { res }
}

#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    let z = x * x;
    let p = -5.704_988_7e-3_f32;
    let p = p.mul_add(z, 2.063_908_9e-2);
    let p = p.mul_add(z, -5.373_971_5e-2);
    let p = p.mul_add(z, 0.133_314_42);
    let p = p.mul_add(z, -0.333_332_82);
    let near = (p * z).mul_add(x, x);
    let far = 1.0 - 2.0 / (exp(a + a) + 1.0);
    // The sign of zero, too.
    (if a < 0.625 { near } else { far }).copysign(x)
}

#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let y = if tiny { x * 8_388_608.0 } else { x };
    let bits = y.to_bits() as i32;
    // m in [sqrt(1/2), sqrt(2)), x = m 2^e.
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let e = (shifted >> 23) as f32 - if tiny { 23.0 } else { 0.0 };
    let m = f32::from_bits(((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3)) as u32);
    let f = m - 1.0;
    let z = f * f;
    let p = 7.037_684e-2_f32;
    let p = p.mul_add(f, -0.115_146_1);
    let p = p.mul_add(f, 0.116_769_99);
    let p = p.mul_add(f, -0.124_201_41);
    let p = p.mul_add(f, 0.142_493_23);
    let p = p.mul_add(f, -0.166_680_58);
    let p = p.mul_add(f, 0.200_007_15);
    let p = p.mul_add(f, -0.249_999_94);
    let p = p.mul_add(f, 0.333_333_3);
    let tail = e.mul_add(LN2_LO, p * f * z);
    let tail = (-0.5_f32).mul_add(z, tail);
    let res = e.mul_add(LN2_HI, f + tail);
    let res = if x == f32::INFINITY { x } else { res };
    let res = if x == 0.0 { f32::NEG_INFINITY } else { res };
    if x < 0.0 || x.is_nan() { f32::NAN } else { res }
}

/// The error function; two polynomials, one of them in the exponent.
#[inline(always)]
pub(super) fn erf(x: f32) -> f32 {
    let t = x.abs();
    let s = x * x;
    let r = (-1.728_534_7e-5_f32).mul_add(t, 3.831_972e-4);
    let u = (-3.883_964_4e-3_f32).mul_add(t, 2.425_462_3e-2);
    let r = r.mul_add(s, u);
    let r = r.mul_add(t, -0.106_777_88);
    let r = r.mul_add(t, -0.634_846_7);
    let r = r.mul_add(t, -0.128_717_52);
    let r = r.mul_add(t, -t);
    // Beyond 4 the result is 1; the polynomial would turn round far out.
    let far = if t > 4.0 { 1.0 } else { 1.0 - exp(r) };
    let r = -5.967_617e-4_f32;
    let r = r.mul_add(s, 4.991_194_3e-3);
    let r = r.mul_add(s, -2.676_813_5e-2);
    let r = r.mul_add(s, 0.112_819_925);
    let r = r.mul_add(s, -0.376_125_34);
    let r = r.mul_add(s, 0.128_379_16);
    let near = r.mul_add(x, x);
    let far = if x.is_nan() { x } else { far.copysign(x) };
    if t > 0.927_734_4 { far } else { near }
}

/// e^x to about 1e-11, for |x| up to 700.
#[inline(always)]
fn wide_exp(x: f64) -> f64 {
    let x = if x > 700.0 { 700.0 } else { x };
    let x = if x < -700.0 { -700.0 } else { x };
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND64);
    let n = shifted - ROUND64;
    let r = (-n).mul_add(LN_2, x);
    let p = 1.0 / 362_880.0_f64;
    let p = p.mul_add(r, 1.0 / 40_320.0);
    let p = p.mul_add(r, 1.0 / 5_040.0);
    let p = p.mul_add(r, 1.0 / 720.0);
    let p = p.mul_add(r, 1.0 / 120.0);
    let p = p.mul_add(r, 1.0 / 24.0);
    let p = p.mul_add(r, 1.0 / 6.0);
    let p = p.mul_add(r, 0.5);
    let p = p.mul_add(r, 1.0).mul_add(r, 1.0);
    let n = (shifted.to_bits() as i64).wrapping_sub(ROUND64.to_bits() as i64);
    p * f64::from_bits((n.wrapping_add(1023) << 52) as u64)
}

/// ln x to about 1e-12 for positive normal x; -inf for 0, inf for inf, NaN below 0.
#[inline(always)]
fn wide_log(x: f64) -> f64 {
    let bits = x.to_bits() as i64;
    let shifted = bits.wrapping_sub(0x3fe6_a09e_667f_3bcd);
    // The exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let field = (shifted >> 52).wrapping_add(ROUND64.to_bits() as i64);
    let e = f64::from_bits(field as u64) - ROUND64;
    let mantissa = (shifted & 0x000f_ffff_ffff_ffff).wrapping_add(0x3fe6_a09e_667f_3bcd);
    let m = f64::from_bits(mantissa as u64);
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let p = 2.0 / 15.0_f64;
    let p = p.mul_add(z, 2.0 / 13.0);
    let p = p.mul_add(z, 2.0 / 11.0);
    let p = p.mul_add(z, 2.0 / 9.0);
    let p = p.mul_add(z, 2.0 / 7.0);
    let p = p.mul_add(z, 2.0 / 5.0);
    let p = p.mul_add(z, 2.0 / 3.0);
    let p = p.mul_add(z, 2.0);
    let res = e.mul_add(LN_2, p * s);
    let res = if x == f64::INFINITY { x } else { res };
    let res = if x == 0.0 { f64::NEG_INFINITY } else { res };
    if x < 0.0 || x.is_nan() { f64::NAN } else { res }
}

#[inline(always)]
pub(super) fn exp2(x: f32) -> f32 {
    wide_exp(f64::from(x) * LN_2) as f32
}

#[inline(always)]
pub(super) fn log2(x: f32) -> f32 {
    (wide_log(f64::from(x)) * std::f64::consts::LOG2_E) as f32
}

#[inline(always)]
pub(super) fn log10(x: f32) -> f32 {
    (wide_log(f64::from(x)) * std::f64::consts::LOG10_E) as f32
}

#[inline(always)]
pub(super) fn log1p(x: f32) -> f32 {
    let y = f64::from(x);
    // The first terms of the series where 1 + x would lose what matters.
    let near = (y.mul_add(-0.25, 1.0 / 3.0).mul_add(y, -0.5) * y).mul_add(y, y);
    (if y.abs() < 1e-4 { near } else { wide_log(1.0 + y) }) as f32
}

#[inline(always)]
pub(super) fn sinh(x: f32) -> f32 {
    let y = f64::from(x);
    let z = y * y;
    let p = z.mul_add(1.0 / 362_880.0, 1.0 / 5_040.0).mul_add(z, 1.0 / 120.0);
    let near = (p.mul_add(z, 1.0 / 6.0) * z).mul_add(y, y);
    let e = wide_exp(y);
    (if y.abs() < 0.5 { near } else { (e - 1.0 / e) * 0.5 }) as f32
}

#[inline(always)]
pub(super) fn cosh(x: f32) -> f32 {
    let e = wide_exp(f64::from(x));
    ((e + 1.0 / e) * 0.5) as f32
}

/// `x` to the power of `y`, with the special cases of IEEE 754 (`pow`).
#[inline(always)]
pub(super) fn pow(x: f32, y: f32) -> f32 {
    let l = wide_log(f64::from(x.abs()));
    let size = wide_exp(f64::from(y) * l) as f32;
    let whole = y.floor() == y;
    let odd = whole && (y * 0.5).floor() != y * 0.5 && y.abs() < 16_777_216.0;
    let signed = if odd { size.copysign(x) } else { size };
    let res = if x < 0.0 && !whole && x != f32::NEG_INFINITY { f32::NAN } else { signed };
    let res = if x == -1.0 && y.is_infinite() { 1.0 } else { res };
    if y == 0.0 || x == 1.0 { 1.0 } else { res }
}

/// (sin, cos, quadrant) of x reduced to [-pi/4, pi/4], for |x| up to `TRIG_LIMIT`.
#[inline(always)]
fn sin_cos(x: f32) -> (f64, f64, i64) {
    let y = f64::from(x);
    let shifted = y.mul_add(FRAC_2_PI, ROUND64);
    let n = shifted - ROUND64;
    let r = (-n).mul_add(PIO2_LO, (-n).mul_add(PIO2_HI, y));
    let z = r * r;
    let s = (1.0 / 362_880.0_f64).mul_add(z, -1.0 / 5_040.0);
    let s = s.mul_add(z, 1.0 / 120.0).mul_add(z, -1.0 / 6.0);
    let c = (-1.0 / 3_628_800.0_f64).mul_add(z, 1.0 / 40_320.0).mul_add(z, -1.0 / 720.0);
    let c = c.mul_add(z, 1.0 / 24.0).mul_add(z, -0.5);
    ((s * z).mul_add(r, r), c.mul_add(z, 1.0), shifted.to_bits() as i64)
}

#[inline(always)]
pub(super) fn sin(x: f32) -> f32 {
    let (s, c, quadrant) = sin_cos(x);
    let size = if quadrant & 1 == 0 { s } else { c };
    let res = (if quadrant & 2 == 0 { size } else { -size }) as f32;
    if x == 0.0 { x } else { res }
}

#[inline(always)]
pub(super) fn cos(x: f32) -> f32 {
    let (s, c, quadrant) = sin_cos(x);
    let size = if quadrant & 1 == 0 { c } else { s };
    (if (quadrant.wrapping_add(1)) & 2 == 0 { size } else { -size }) as f32
}

#[inline(always)]
pub(super) fn tan(x: f32) -> f32 {
    let (s, c, quadrant) = sin_cos(x);
    let res = (if quadrant & 1 == 0 { s / c } else { -c / s }) as f32;
    if x == 0.0 { x } else { res }
}
