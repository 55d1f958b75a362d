//! Arithmetic that kernels of every dtype share. Integers wrap, as in PyTorch.

use crate::storage::Element;

/// An element type with its arithmetic.
pub trait Num: Element + PartialOrd + Default + std::fmt::Debug {
    const ZERO: Self;
    const ONE: Self;
    const IS_FLOAT: bool;
    /// Nothing is below it (minus infinity for floats).
    const LOWEST: Self;
    /// Nothing is above it (infinity for floats).
    const HIGHEST: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Saturating for integers; NaN becomes 0.
    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn from_i64(value: i64) -> Self;
    fn to_i64(self) -> i64;
    fn is_nan(self) -> bool;
}

/// A floating point element type.
pub trait Float:
    Num
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
{
    fn exp(self) -> Self;
    /// As `exp` for arguments that are not above 88, in a form that vectorises; within 2 units in the last place.
    fn exp_fast(self) -> Self;
    fn ln(self) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! ints {
    ($($T:ident)*) => {$(
        impl Num for $T {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const IS_FLOAT: bool = false;
            const LOWEST: Self = $T::MIN;
            const HIGHEST: Self = $T::MAX;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}

macro_rules! floats {
    ($($T:ident $exp:path;)*) => {$(
        impl Num for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const IS_FLOAT: bool = true;
            const LOWEST: Self = $T::NEG_INFINITY;
            const HIGHEST: Self = $T::INFINITY;
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
impl Float for $T {
            #[inline(always)]
            fn exp(self) -> Self {
                $T::exp(self)
            }
            #[inline(always)]
            fn exp_fast(self) -> Self {
                $exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                $T::ln(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $T::sqrt(self)
            }
        }
    )*};
}

ints!(u8 i32 i64);
floats!(f32 exp_f32; f64 f64::exp;);

/// `2^k * p(r)` with `x = k log 2 + r`, `|r| <= log 2 / 2` and `p` the Taylor polynomial of degree 7.
#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    /// Adding and taking away 1.5 * 2^23 rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    const LOG2_HIGH: f32 = 0.693_359_4;
    const LOG2_LOW: f32 = -2.121_944_4e-4;
    let clamped = x.clamp(-104.0, 88.7);
    // The whole number stands in the last bits of what was rounded; casts of floats are not vectors.
    let rounded = clamped * std::f32::consts::LOG2_E + ROUND;
    let exponent = (rounded.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
    let k = rounded - ROUND;
    let r = (clamped - k * LOG2_HIGH) - k * LOG2_LOW;
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = p * r + c;
    }
    // Two factors, since 2^k alone may be below the smallest normal number.
    let half = exponent >> 1;
    let power = |k: i32| f32::from_bits((k.wrapping_add(127) as u32) << 23);
    p * power(half) * power(exponent.wrapping_sub(half))
}
