//! Functions on numbers of 64 bits that the C library lacks, or of which libraries differ.
#![expect(clippy::excessive_precision, reason = "coefficients stand as published")]

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LOG2_E, PI};

use super::float::{at_the_ends, clamp, is_nan, polynomial};
use super::series::EXP;
use super::{Float64, Library, Library2, Scalar, Whole};

/// Adding it rounds to an integer, which then stands in the low bits.
pub(super) const ROUND64: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has few bits, so that its multiples are exact.
const LN2_HI: f64 = 6.931_471_803_691_238e-1;
const LN2_LO: f64 = 1.908_214_929_270_587_7e-10;
/// (e^r - 1 - r) / r^2.
const EXP_BEYOND: &[f64; 12] = match EXP.first_chunk() {
    Some(it) => it,
    None => panic!("more coefficients than there are"),
};
/// The bits of `sqrt(1 / 2)`.
const SQRT_HALF: i64 = 0x3fe6_a09e_667f_3bcd;

/// ln x as straight-line code, to the last bit or two: -inf for 0, NaN below. Coefficients of FreeBSD's `e_log.c` (Sun Microsystems, 1993).
#[inline(always)]
pub(super) fn log<D: Float64>(x: D) -> D {
    let (int, half) = (D::Int::of, D::of(0.5));
    let tiny = x.less(D::of(f64::MIN_POSITIVE));
    let y = D::select(tiny, x * D::of(2.0_f64.powi(54)), x);
    // m in [sqrt(1/2), sqrt(2)), x = m 2^e; the exponent as a float without an integer conversion, which AVX2 lacks for 64 bits.
    let shifted = y.to_bits().wrapping_sub(int(SQRT_HALF));
    let field = (shifted >> 52).wrapping_add(int(ROUND64.to_bits() as i64));
    let e = D::from_bits(field) - D::of(ROUND64) - D::select(tiny, D::of(54.0), D::of(0.0));
    let m = D::from_bits((shifted & int(0x000f_ffff_ffff_ffff)).wrapping_add(int(SQRT_HALF)));
    let f = m - D::of(1.0);
    let s = f / (f + D::of(2.0));
    let z = s * s;
    let p = polynomial(
        z,
        [
            1.479_819_860_511_658_6e-1,
            1.531_383_769_920_937_3e-1,
            1.818_357_216_161_805e-1,
            2.222_219_843_214_978_4e-1,
            2.857_142_874_366_239e-1,
            3.999_999_999_940_942e-1,
            6.666_666_666_666_735e-1,
        ],
    );
    let square = half * f * f;
    let tail = s.mul_add(p.mul_add(z, square), e * D::of(LN2_LO));
    at_the_ends(x, e.mul_add(D::of(LN2_HI), f - (square - tail)))
}

/// 2^n for n in -1022..=1023.
#[inline(always)]
fn pow2<D: Float64>(n: D::Int) -> D {
    D::from_bits(n.wrapping_add(D::Int::of(1023)) << 52)
}

/// (n, r, e^r - 1 - r) with x = n ln 2 + r, for x that are far from where n does not fit.
#[inline(always)]
fn exp_parts<D: Float64>(x: D) -> (D::Int, D, D) {
    let shifted = x.mul_add(D::of(LOG2_E), D::of(ROUND64));
    let n = shifted - D::of(ROUND64);
    let (left, small) = ((-n).mul_add(D::of(LN2_HI), x), n * D::of(LN2_LO));
    let r = left - small;
    let rest = (left - r) - small;
    let q = polynomial(r, *EXP_BEYOND);
    let n = shifted.to_bits().wrapping_sub(D::Int::of(ROUND64.to_bits() as i64));
    (n, r, q.mul_add(r * r, rest))
}

/// e^x, to the last bit.
#[inline(always)]
pub(crate) fn exp<D: Float64>(x: D) -> D {
    let (n, r, beyond) = exp_parts(clamp(x, D::of(-746.0), D::of(710.0)));
    // What the sum with 1 loses goes to what is small.
    let sum = D::of(1.0) + r;
    let e = sum + ((D::of(1.0) - sum) + r + beyond);
    // Two factors, so that results below the normal range are rounded once.
    let half = n >> 1;
    e * pow2::<D>(half) * pow2::<D>(n.wrapping_sub(half))
}

/// e^x - 1 without cancellation.
#[inline(always)]
pub(crate) fn expm1<D: Float64>(x: D) -> D {
    let (n, r, beyond) = exp_parts(clamp(x, D::of(-50.0), D::of(710.0)));
    let e = r + beyond;
    let scale = pow2::<D>(n.wrapping_sub(D::Int::of(1)));
    let res = D::of(2.0) * scale.mul_add(e, scale - D::of(0.5));
    D::select(x.equals(D::of(0.0)), x, res)
}

/// `(e^2a - 1) / (e^2a + 1)` of the absolute value, with the sign.
#[inline(always)]
pub(crate) fn tanh<D: Float64>(x: D) -> D {
    let a = x.abs();
    // Beyond this it is 1.
    let above = expm1(clamp(a + a, D::of(0.0), D::of(44.0)));
    (above / (above + D::of(2.0))).copysign(x)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn sigmoid<D: Float64>(x: D) -> D {
    D::of(1.0) / (D::of(1.0) + exp(-x))
}

/// From here on squares of numbers are so large that 1 beside them does not count.
const LARGE: f64 = 268_435_456.0;

/// `log(2 x)`, for large numbers, of which the double may be infinite.
#[inline(always)]
fn log_of_double<D: Float64>(x: D) -> D {
    x.library(Library::Log) + D::of(LN_2)
}

/// `log(a + sqrt(a^2 + 1))`, so that nothing is lost near 0.
#[inline(always)]
pub(crate) fn asinh<D: Float64>(x: D) -> D {
    let (one, a) = (D::of(1.0), x.abs());
    let near = || {
        let inverse = one / a;
        let ahead = a / (one.library2(inverse, Library2::Hypot) + inverse);
        (a + ahead).library(Library::Log1p)
    };
    D::either(a.less(D::of(LARGE)), near, || log_of_double(a)).copysign(x)
}

/// `log(x + sqrt(x^2 - 1))` by way of `x - 1`, so that nothing is lost near 1; NaN below.
#[inline(always)]
pub(crate) fn acosh<D: Float64>(x: D) -> D {
    let (one, two) = (D::of(1.0), D::of(2.0));
    let near = || {
        let t = x - one;
        (t + (two * t + t * t).sqrt()).library(Library::Log1p)
    };
    let log = || D::either(x.less(D::of(LARGE)), near, || log_of_double(x));
    D::either(x.less(one), || D::of(f64::NAN), log)
}

/// `log((1 + a) / (1 - a)) / 2` of the absolute value, with the sign.
#[inline(always)]
pub(crate) fn atanh<D: Float64>(x: D) -> D {
    let (one, two, a) = (D::of(1.0), D::of(2.0), x.abs());
    (D::of(0.5) * (two * a / (one - a)).library(Library::Log1p)).copysign(x)
}

/// The error function. Coefficients and intervals of FreeBSD's `s_erf.c` (Sun Microsystems, 1993).
#[inline(always)]
pub(crate) fn erf<D: Float64>(x: D) -> D {
    let (a, one) = (x.abs(), D::of(1.0));
    let small = || {
        let factor = D::either(a.less(D::of(2.0_f64.powi(-28))), || D::of(EFX), || near(x * x));
        x + x * factor
    };
    let large = || {
        let size = D::either(
            a.less(D::of(1.25)),
            || D::of(ERX) + middle(a - one),
            || D::either(a.less(D::of(6.0)), || one - tail(a), || one),
        );
        size.copysign(x)
    };
    let res = D::either(a.less(D::of(0.84375)), small, large);
    D::select(is_nan(x), x, res)
}

/// The complementary error function, `1 - erf(x)` without cancellation.
#[inline(always)]
pub(crate) fn erfc<D: Float64>(x: D) -> D {
    let (a, zero, one, two) = (x.abs(), D::of(0.0), D::of(1.0), D::of(2.0));
    let small = || {
        let y = near(x * x);
        let half = D::of(0.5);
        let res = D::select(x.less(D::of(0.25)), one - (x + x * y), half - (x * y + (x - half)));
        D::select(a.less(D::of(2.0_f64.powi(-56))), one - x, res)
    };
    let close = || {
        let part = middle(a - one);
        D::select(zero.at_most(x), one - D::of(ERX) - part, one + (D::of(ERX) + part))
    };
    let beyond = || {
        let positive = zero.less(x);
        let end = D::select(positive, D::of(28.0), D::of(6.0));
        let rest = D::either(a.less(end), || tail(a), || zero);
        D::select(positive, rest, two - rest)
    };
    let large = || D::either(a.less(D::of(1.25)), close, beyond);
    let res = D::either(a.less(D::of(0.84375)), small, large);
    D::select(is_nan(x), x, res)
}

/// The x with `erf(x) = y`; infinite at -1 and 1, NaN beyond.
///
/// Winitzki's formula for the first two digits, then Halley's method on the smaller of erf and erfc: three steps give all digits.
pub(crate) fn erfinv<D: Float64>(y: D) -> D {
    let (size, one) = (y.abs(), D::of(1.0));
    let log = (-size * size).library(Library::Log1p);
    let first = D::of(2.0 / (PI * 0.147)) + log / D::of(2.0);
    let start = ((first * first - log / D::of(0.147)).sqrt() - first).sqrt();
    let mut x = D::select(start.less(D::of(1e-4)), size / D::of(FRAC_2_SQRT_PI), start);
    for _ in 0..3 {
        let ahead = D::either(size.less(D::of(0.5)), || erf(x) - size, || (one - size) - erfc(x));
        let step = ahead * (x * x).library(Library::Exp) / D::of(FRAC_2_SQRT_PI);
        x = x - step / (one + x * step);
    }
    let end = D::select(size.equals(one), D::of(f64::INFINITY).copysign(y), D::of(f64::NAN));
    D::select(size.less(one), x.copysign(y), end)
}

const EFX: f64 = 1.283_791_670_955_125_7e-1;
const ERX: f64 = 8.450_629_115_104_675e-1;

/// `c[0] + c[1] x + ...`.
#[inline(always)]
fn horner<D: Float64, const N: usize>(x: D, c: [f64; N]) -> D {
    let mut sum = D::of(c[N - 1]);
    for &it in c[..N - 1].iter().rev() {
        sum = sum * x + D::of(it);
    }
    sum
}

#[inline(always)]
fn near<D: Float64>(z: D) -> D {
    let p = [
        1.283_791_670_955_125_6e-1,
        -3.250_421_072_470_015e-1,
        -2.848_174_957_559_851e-2,
        -5.770_270_296_489_442e-3,
        -2.376_301_665_665_016_3e-5,
    ];
    let q = [
        1.0,
        3.979_172_239_591_553_5e-1,
        6.502_224_998_876_729e-2,
        5.081_306_281_875_766e-3,
        1.324_947_380_043_216_4e-4,
        -3.960_228_278_775_368e-6,
    ];
    horner(z, p) / horner(z, q)
}

#[inline(always)]
fn middle<D: Float64>(s: D) -> D {
    let p = [
        -2.362_118_560_752_659_4e-3,
        4.148_561_186_837_483_3e-1,
        -3.722_078_760_357_013e-1,
        3.183_466_199_011_617_5e-1,
        -1.108_946_942_823_966_8e-1,
        3.547_830_432_561_823_6e-2,
        -2.166_375_594_868_790_8e-3,
    ];
    let q = [
        1.0,
        1.064_208_804_008_442_3e-1,
        5.403_979_177_021_71e-1,
        7.182_865_441_419_627e-2,
        1.261_712_198_087_616_4e-1,
        1.363_708_391_202_905_1e-2,
        1.198_449_984_679_911e-2,
    ];
    horner(s, p) / horner(s, q)
}

/// r / t of [`tail`] below `1 / 0.35`.
#[inline(always)]
fn tail_near<D: Float64>(s: D) -> D {
    let r = [
        -9.864_944_034_847_148e-3,
        -6.938_585_727_071_818e-1,
        -1.055_862_622_532_329_1e1,
        -6.237_533_245_032_601e1,
        -1.623_966_694_625_734_7e2,
        -1.846_050_929_067_110_4e2,
        -8.128_743_550_630_66e1,
        -9.814_329_344_169_145,
    ];
    let t = [
        1.0,
        1.965_127_166_743_925_7e1,
        1.376_577_541_435_190_4e2,
        4.345_658_774_752_292_3e2,
        6.453_872_717_332_679e2,
        4.290_081_400_275_678_3e2,
        1.086_350_055_417_794_4e2,
        6.570_249_770_319_282,
        -6.042_441_521_485_81e-2,
    ];
    horner(s, r) / horner(s, t)
}

/// r / t of [`tail`] from `1 / 0.35` on.
#[inline(always)]
fn tail_far<D: Float64>(s: D) -> D {
    let r = [
        -9.864_942_924_700_1e-3,
        -7.992_832_376_805_23e-1,
        -1.775_795_491_775_475_2e1,
        -1.606_363_848_558_219_2e2,
        -6.375_664_433_683_896e2,
        -1.025_095_131_611_077_2e3,
        -4.835_191_916_086_514e2,
    ];
    let t = [
        1.0,
        3.033_806_074_348_245_8e1,
        3.257_925_129_965_739e2,
        1.536_729_586_084_437e3,
        3.199_858_219_508_595_5e3,
        2.553_050_406_433_164_4e3,
        4.745_285_412_069_554e2,
        -2.244_095_244_658_582e1,
    ];
    horner(s, r) / horner(s, t)
}

/// 1 - erf for 1.25 <= a < 28.
#[inline(always)]
fn tail<D: Float64>(a: D) -> D {
    let s = D::of(1.0) / (a * a);
    let quotient = D::either(a.less(D::of(1.0 / 0.35)), || tail_near(s), || tail_far(s));
    // The square is split, so that its rounding does not show in the exponent.
    let high = D::Int::of(0xffff_ffff_0000_0000_u64 as i64);
    let z = D::from_bits(a.to_bits() & high);
    let exp = |it: D| it.library(Library::Exp);
    exp(-z * z - D::of(0.5625)) * exp((z - a) * (z + a) + quotient) / a
}
