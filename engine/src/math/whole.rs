//! Whole numbers of 64 bits.

use super::Whole64;

/// 1 where it holds, else 0.
#[inline(always)]
pub(crate) fn truth<I: Whole64>(holds: I::Truth) -> I {
    I::select(holds, I::of(1), I::of(0))
}

#[inline(always)]
pub(crate) fn is_true<I: Whole64>(x: I) -> I::Truth {
    !x.equals(I::of(0))
}

#[inline(always)]
pub(crate) fn neg<I: Whole64>(x: I) -> I {
    I::of(0).wrapping_sub(x)
}

#[inline(always)]
pub(crate) fn abs<I: Whole64>(x: I) -> I {
    I::select(x.less(I::of(0)), neg(x), x)
}

#[inline(always)]
pub(crate) fn sign<I: Whole64>(x: I) -> I {
    truth::<I>(I::of(0).less(x)).wrapping_sub(truth(x.less(I::of(0))))
}

#[inline(always)]
pub(crate) fn not<I: Whole64>(x: I) -> I {
    truth(x.equals(I::of(0)))
}

#[inline(always)]
pub(crate) fn min<I: Whole64>(x: I, y: I) -> I {
    I::select(x.less(y), x, y)
}

#[inline(always)]
pub(crate) fn max<I: Whole64>(x: I, y: I) -> I {
    I::select(y.less(x), x, y)
}

/// Quotient rounded down; 0 where it is refused.
#[inline(always)]
pub(crate) fn floor_div<I: Whole64>(x: I, y: I) -> I {
    let (zero, quotient) = (I::of(0), x.quotient(y));
    let rest = x.wrapping_sub(quotient.wrapping_mul(y));
    let below = is_true(y) & is_true(rest) & (x.less(zero) ^ y.less(zero));
    I::select(below, quotient.wrapping_sub(I::of(1)), quotient)
}

/// Remainder with the sign of the divisor; 0 where it is refused.
#[inline(always)]
pub(crate) fn rem<I: Whole64>(x: I, y: I) -> I {
    let (zero, modulo) = (I::of(0), x.remainder(y));
    let other_sign = is_true(modulo) & (modulo.less(zero) ^ y.less(zero));
    I::select(other_sign, modulo.wrapping_add(y), modulo)
}

#[inline(always)]
fn is_count<I: Whole64>(y: I) -> I::Truth {
    I::of(0).at_most(y) & y.less(I::of(64))
}

/// Shifted left; 0 when the count is not in range.
#[inline(always)]
pub(crate) fn shl<I: Whole64>(x: I, y: I) -> I {
    let fits = is_count(y);
    I::select(fits, x.shl_by(I::select(fits, y, I::of(0))), I::of(0))
}

/// Shifted right, keeping the sign, which is all that is left when the count is not in range.
#[inline(always)]
pub(crate) fn shr<I: Whole64>(x: I, y: I) -> I {
    x.shr_by(I::select(is_count(y), y, I::of(63)))
}

/// The low bits as a signed number of `BITS` bits.
#[inline(always)]
pub(crate) fn signed<I: Whole64, const BITS: u32>(x: I) -> I {
    x << (64 - BITS) >> (64 - BITS)
}

/// The low `BITS` bits.
#[inline(always)]
pub(crate) fn unsigned<I: Whole64, const BITS: u32>(x: I) -> I {
    x & I::of((1 << BITS) - 1)
}
