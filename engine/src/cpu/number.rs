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
    ($($T:ident)*) => {$(
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
floats!(f32 f64);
