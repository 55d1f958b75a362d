//! The logarithm of the gamma function, its derivative and that one's, as straight-line code.
//!
//! From 4 on they are their expansions at infinity (DLMF 5.11.1, 5.11.2, 5.15.8), below polynomials that are fitted to them on a few units, to
//! which recurrences lead (DLMF 5.5.1, 5.5.2, 5.15.5), and for negative numbers their reflections (DLMF 5.5.3, 5.5.4, 5.15.6). `series.rs` has the numbers.

use std::f64::consts::{FRAC_1_PI, PI};

use super::float::{clamp, polynomial};
use super::float64::log;
use super::series::{
    COS_PI, DIGAMMA_FAR, DIGAMMA_NEAR, DIGAMMA_ROOT, LGAMMA_FAR, LGAMMA_NEAR, SIN_PI, TRIGAMMA_FAR,
    TRIGAMMA_NEAR,
};
use super::{Float32, Float64};

/// `log(2 pi) / 2 - 1/2`.
const STIRLING: f64 = 0.418_938_533_204_672_7;

/// (sin(pi x), cos(pi x)), both with another sign where the nearest whole number is odd.
#[inline(always)]
fn turns<D: Float64>(x: D) -> (D, D) {
    let rest = x - x.round_ties_even();
    let square = rest * rest;
    (rest * polynomial(square, SIN_PI), polynomial(square, COS_PI))
}

/// (1 / x, 32 / x^2 - 1), of numbers from 4 on; smaller ones count as 4.
#[inline(always)]
fn far<D: Float64>(x: D) -> (D, D) {
    let inverse = D::of(1.0) / clamp(x, D::of(4.0), D::of(f64::INFINITY));
    (inverse, (D::of(32.0) * inverse).mul_add(inverse, D::of(-1.0)))
}

/// Whether a number is whole, or infinite.
#[inline(always)]
fn is_whole<D: Float64>(x: D) -> D::Truth {
    x.floor().equals(x)
}

/// Of numbers from 0 on; below 3/2 by way of `x + 1` or `x + 2`.
#[inline(always)]
fn lgamma_above<D: Float64>(x: D) -> D {
    let (zero, one) = (D::of(0.0), D::of(1.0));
    let (is_low, is_middle, is_near) = (x.less(D::of(0.5)), x.less(D::of(1.5)), x.less(D::of(4.0)));
    let start = D::select(is_low, zero, D::select(is_middle, one, D::of(2.0)));
    let between = D::select(is_middle, x, D::select(is_near, one, x));
    let log = log(D::select(is_low, x * (x + one), between));
    let above = x - start;
    let t = clamp((above - D::of(0.75)) * D::of(0.8), -one, one);
    let near = above.mul_add(polynomial(t, LGAMMA_NEAR), -log);
    let (inverse, t) = far(x);
    let rest = inverse.mul_add(polynomial(t, LGAMMA_FAR), D::of(STIRLING));
    let beyond = (x - D::of(0.5)).mul_add(log - one, rest);
    D::select(is_near, near, beyond)
}

/// The logarithm of the absolute value of the gamma function; infinite at its poles.
#[inline(always)]
pub(crate) fn lgamma<D: Float64>(x: D) -> D {
    let zero = D::of(0.0);
    let is_below = x.less(zero);
    let above = lgamma_above(D::select(is_below, D::of(1.0) - x, x));
    let (sine, _) = turns(x);
    let mirrored = -log(sine.abs() * D::of(FRAC_1_PI)) - above;
    let found = D::select(is_below, mirrored, above);
    D::select(x.at_most(zero) & is_whole(x), D::of(f64::INFINITY), found)
}

/// [`lgamma`] of 32 bits, rounded. As an argument of [`float32::rounded`](super::float32::rounded) it would be a call, without the instructions of the loop.
#[inline(always)]
pub(crate) fn lgamma32<F: Float32>(x: F) -> F {
    F::narrow(lgamma(x.widen()))
}

/// The derivative of `lgamma`: infinite at 0, NaN at the poles below.
#[inline(always)]
pub(crate) fn digamma<D: Float64>(x: D) -> D {
    let (zero, one) = (D::of(0.0), D::of(1.0));
    let (a, is_below) = (x.abs(), x.less(zero));
    let is_low = a.less(one);
    // Up to 1 that of a + 1.
    let z = clamp(D::select(is_low, a + one, a), one, D::of(4.0));
    let t = (z - D::of(2.5)) * D::of(1.0 / 1.5);
    let near = (z - D::of(DIGAMMA_ROOT[0]) - D::of(DIGAMMA_ROOT[1])) * polynomial(t, DIGAMMA_NEAR);
    let (inverse, t) = far(a);
    let beyond = log(a) - inverse * inverse.mul_add(polynomial(t, DIGAMMA_FAR), D::of(0.5));
    let found = D::select(a.less(D::of(4.0)), near, beyond);
    let (sine, cosine) = turns(a);
    let step = one / a;
    let below = D::select(is_low, zero, step) + D::of(PI) * cosine / sine;
    let found = found + D::select(is_below, below, D::select(is_low, -step, zero));
    let found = D::select(x.equals(zero), -D::of(f64::INFINITY).copysign(x), found);
    D::select(is_below & is_whole(x), D::of(f64::NAN), found)
}

/// [`digamma`] of 32 bits, as [`lgamma32`].
#[inline(always)]
pub(crate) fn digamma32<F: Float32>(x: F) -> F {
    F::narrow(digamma(x.widen()))
}

/// The derivative of `digamma`; infinite at its poles.
#[inline(always)]
pub(crate) fn trigamma<D: Float64>(x: D) -> D {
    let (zero, one) = (D::of(0.0), D::of(1.0));
    let (a, is_below) = (x.abs(), x.less(zero));
    let is_low = a.less(one);
    // Up to 1 that of a + 1.
    let z = clamp(D::select(is_low, a + one, a), one, D::of(4.0));
    let near = polynomial((z - D::of(2.5)) * D::of(1.0 / 1.5), TRIGAMMA_NEAR);
    let (inverse, t) = far(a);
    let tail = inverse.mul_add(polynomial(t, TRIGAMMA_FAR), D::of(0.5));
    let beyond = inverse * inverse.mul_add(tail, one);
    let found = D::select(a.less(D::of(4.0)), near, beyond);
    let (sine, _) = turns(a);
    let (step, turn) = (one / (a * a), D::of(PI) / sine);
    let below = turn.mul_add(turn, D::select(is_low, zero, step)) - found;
    D::select(is_below, below, D::select(is_low, found + step, found))
}
