//! The kinds of numbers that meanings are in.

use std::cmp::Ordering;

use crate::dtype::Number;

/// A kind of numbers: doubles, or integers that wrap.
pub(crate) trait Scalar: Copy + PartialEq + PartialOrd {
    const ZERO: Self;
    const ONE: Self;

    fn from_number(number: Number) -> Self;

    fn added(self, other: Self) -> Self;

    fn multiplied(self, other: Self) -> Self;

    fn is_no_number(self) -> bool;

    /// The sum of all, as if it were rounded once.
    fn total(all: &[Self]) -> Self;

    /// The order of sorting: NaN is the largest, -0.0 equals 0.0.
    fn order(self, other: Self) -> Ordering {
        self.partial_cmp(&other).unwrap_or_else(|| self.is_no_number().cmp(&other.is_no_number()))
    }
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    fn from_number(number: Number) -> Self {
        number.as_f64()
    }

    fn added(self, other: Self) -> Self {
        self + other
    }

    fn multiplied(self, other: Self) -> Self {
        self * other
    }

    fn is_no_number(self) -> bool {
        self.is_nan()
    }

    /// With what each addition loses added up beside (Neumaier, 1974).
    fn total(all: &[Self]) -> Self {
        let (mut sum, mut lost) = (0.0, 0.0);
        for &x in all {
            let next: Self = sum + x;
            lost += if next.abs() >= x.abs() { sum - next + x } else { x - next + sum };
            sum = next;
        }
        if sum.is_finite() { sum + lost } else { sum }
    }
}

impl Scalar for i64 {
    const ZERO: Self = 0;
    const ONE: Self = 1;

    fn from_number(number: Number) -> Self {
        number.as_i64()
    }

    fn added(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn multiplied(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }

    fn is_no_number(self) -> bool {
        false
    }

    fn total(all: &[Self]) -> Self {
        all.iter().fold(0, |sum, x| sum.wrapping_add(*x))
    }
}
