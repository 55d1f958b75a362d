//! Modified Bessel functions of the first kind, as straight-line code.
//!
//! Up to 8 a polynomial in the number, beyond one in its inverse, as in Cephes (S. Moshier, 1989); `series.rs` has the numbers.

use super::Float64;
use super::float::{clamp, polynomial};
use super::float64::exp;
use super::series::{I0_FAR, I0_NEAR, I1_FAR, I1_NEAR};

/// `exp(-x) I(x)` of numbers from 0 on, up to 8 by `scale`.
#[inline(always)]
fn scaled<D: Float64, const N: usize, const M: usize>(
    (x, scale): (D, D),
    near: [f64; N],
    far: [f64; M],
) -> D {
    let (one, end) = (D::of(1.0), D::of(8.0));
    let low = clamp(x, D::of(0.0), end).mul_add(D::of(0.25), -one);
    let high = clamp(x, end, D::of(f64::INFINITY));
    let beyond = polynomial(D::of(16.0) / high - one, far) / high.sqrt();
    D::select(x.at_most(end), scale * polynomial(low, near), beyond)
}

/// `exp(-|x|) i0(x)`.
#[inline(always)]
pub(crate) fn i0e<D: Float64>(x: D) -> D {
    scaled((x.abs(), D::of(1.0)), I0_NEAR, I0_FAR)
}

/// `exp(-|x|) i1(x)`.
#[inline(always)]
pub(crate) fn i1e<D: Float64>(x: D) -> D {
    let size = x.abs();
    scaled((size, size), I1_NEAR, I1_FAR).copysign(x)
}

/// The function of order 0.
#[inline(always)]
pub(crate) fn i0<D: Float64>(x: D) -> D {
    exp(x.abs()) * i0e(x)
}

/// The function of order 1, which is the derivative of that of order 0.
#[inline(always)]
pub(crate) fn i1<D: Float64>(x: D) -> D {
    exp(x.abs()) * i1e(x)
}
