//! What both widths of floating point numbers share.

use super::{Float, Library2};

/// 1 where it holds, else 0.
#[inline(always)]
pub(crate) fn truth<F: Float>(holds: F::Truth) -> F {
    F::select(holds, F::plain(1.0), F::plain(0.0))
}

#[inline(always)]
pub(crate) fn is_nan<F: Float>(x: F) -> F::Truth {
    !x.equals(x)
}

#[inline(always)]
pub(crate) fn is_true<F: Float>(x: F) -> F::Truth {
    !x.equals(F::plain(0.0))
}

/// `c[0] x^n + c[1] x^(n-1) + ...`, each step rounded once.
#[inline(always)]
pub(crate) fn polynomial<F: Float, const N: usize>(x: F, c: [F::Native; N]) -> F {
    let mut sum = F::of(c[0]);
    for &it in &c[1..] {
        sum = sum.mul_add(x, F::of(it));
    }
    sum
}

/// `x`, but at least `low` and at most `high`; NaN stays.
#[inline(always)]
pub(crate) fn clamp<F: Float>(x: F, low: F, high: F) -> F {
    let x = F::select(high.less(x), high, x);
    F::select(x.less(low), low, x)
}

/// -inf for 0, inf for inf, NaN below 0: what logarithms of these are.
#[inline(always)]
pub(super) fn at_the_ends<F: Float>(x: F, res: F) -> F {
    let (zero, infinity) = (F::plain(0.0), F::plain(f32::INFINITY));
    let res = F::select(x.equals(infinity), x, res);
    let res = F::select(x.equals(zero), -infinity, res);
    F::select(x.less(zero) | is_nan(x), F::plain(f32::NAN), res)
}

#[inline(always)]
pub(crate) fn sign<F: Float>(x: F) -> F {
    let zero = F::plain(0.0);
    truth::<F>(zero.less(x)) - truth::<F>(x.less(zero))
}

#[inline(always)]
pub(crate) fn not<F: Float>(x: F) -> F {
    truth(x.equals(F::plain(0.0)))
}

#[inline(always)]
pub(crate) fn recip<F: Float>(x: F) -> F {
    F::plain(1.0) / x
}

/// The lesser; NaN if either is. Processors have one instruction for the inner choice.
#[inline(always)]
pub(crate) fn min<F: Float>(x: F, y: F) -> F {
    F::select(is_nan(x), x, F::select(x.less(y), x, y))
}

/// The greater; NaN if either is.
#[inline(always)]
pub(crate) fn max<F: Float>(x: F, y: F) -> F {
    F::select(is_nan(x), x, F::select(y.less(x), x, y))
}

/// Quotient rounded down; the reasoning is that of CPython's `float_divmod`.
#[inline(always)]
pub(crate) fn floor_div<F: Float>(x: F, y: F) -> F {
    let (zero, one) = (F::plain(0.0), F::plain(1.0));
    let modulo = x.library2(y, Library2::Fmod);
    let quotient = (x - modulo) / y;
    let other_sign = y.less(zero) ^ modulo.less(zero);
    let quotient = F::select(is_true(modulo) & other_sign, quotient - one, quotient);
    let floor = quotient.floor();
    let floor = F::select(F::plain(0.5).less(quotient - floor), floor + one, floor);
    let exact = x / y;
    let res = F::select(quotient.equals(zero), zero.copysign(exact), floor);
    F::select(y.equals(zero), exact, res)
}

/// Remainder with the sign of the divisor.
#[inline(always)]
pub(crate) fn rem<F: Float>(x: F, y: F) -> F {
    let zero = F::plain(0.0);
    let modulo = x.library2(y, Library2::Fmod);
    let other_sign = y.less(zero) ^ modulo.less(zero);
    F::select(is_true(modulo) & other_sign, modulo + y, modulo)
}
