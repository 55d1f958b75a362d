//! How floats lie in memory: a format for each dtype of floats, which complex numbers of it share.

use super::{Arithmetic, Width};

/// A format of floating point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// IEEE 754 binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Format {
    /// How wide a number is.
    pub const fn width(self) -> Width {
        match self {
            Self::F16 | Self::BF16 => Width::W2,
            Self::F32 => Width::W4,
            Self::F64 => Width::W8,
        }
    }

    /// The type that written kernels compute in.
    pub const fn arithmetic(self) -> Arithmetic {
        match self {
            Self::F16 | Self::BF16 | Self::F32 => Arithmetic::F32,
            Self::F64 => Arithmetic::F64,
        }
    }

    /// Whether numbers have 16 bits and are computed in float32.
    pub const fn is_half(self) -> bool {
        match self {
            Self::F16 | Self::BF16 => true,
            Self::F32 | Self::F64 => false,
        }
    }

    /// Bits behind the point of a number between 1 and 2.
    pub const fn digits(self) -> i32 {
        match self {
            Self::F16 => 10,
            Self::BF16 => 7,
            Self::F32 => 23,
            Self::F64 => 52,
        }
    }

    /// The logarithm to base 2 of the least number above 0.
    pub const fn least(self) -> i32 {
        match self {
            Self::F16 => -24,
            Self::BF16 => -133,
            Self::F32 => -149,
            Self::F64 => -1074,
        }
    }

    /// The nearest number of this format, as a double; halves are rounded from the nearest float32.
    pub fn nearest(self, value: f64) -> f64 {
        match self {
            Self::F16 => half::f16::from_f32(value as f32).to_f64(),
            Self::BF16 => half::bf16::from_f32(value as f32).to_f64(),
            Self::F32 => f64::from(value as f32),
            Self::F64 => value,
        }
    }

    /// The greatest finite number.
    pub fn largest(self) -> f64 {
        match self {
            Self::F16 => half::f16::MAX.to_f64(),
            Self::BF16 => half::bf16::MAX.to_f64(),
            Self::F32 => f64::from(f32::MAX),
            Self::F64 => f64::MAX,
        }
    }

    /// The double with the fewest digits whose nearest number of this format is that of `value`.
    pub fn shortest(self, value: f64) -> f64 {
        let nearest = self.nearest(value);
        let with_digits = |n: usize| format!("{nearest:.n$e}").parse().unwrap_or(nearest);
        let reads_back = |it: &f64| self.nearest(*it) == nearest;
        match self {
            Self::F16 | Self::BF16 | Self::F32 => {
                (0..9).map(with_digits).find(reads_back).unwrap_or(nearest)
            }
            Self::F64 => nearest,
        }
    }
}
