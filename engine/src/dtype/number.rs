//! Numbers as programs write them, which have no dtype of their own.

use std::fmt;

use super::{DType, Kind};

/// A number of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A real and an imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// The dtype that holds the number exactly.
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::I64,
            Self::Float(_) => DType::F64,
            Self::Complex(..) => DType::C128,
        }
    }

    /// The 1 among numbers of the kind that a dtype holds; of complex ones that of floats.
    pub fn one_of(dtype: DType) -> Self {
        match dtype.kind() {
            Kind::Bool => Self::Bool(true),
            Kind::Int => Self::Int(1),
            Kind::Float | Kind::Complex => Self::Float(1.0),
        }
    }

    /// The nearest float; of a complex number that of its real part.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Bool(it) => f64::from(u8::from(it)),
            Self::Int(it) => it as f64,
            Self::Float(it) | Self::Complex(it, _) => it,
        }
    }

    /// The value truncated to an integer (saturating).
    pub fn as_i64(self) -> i64 {
        match self {
            Self::Bool(it) => i64::from(it),
            Self::Int(it) => it,
            Self::Float(it) | Self::Complex(it, _) => it as i64,
        }
    }

    /// The imaginary part.
    pub fn imag(self) -> f64 {
        match self {
            Self::Complex(_, it) => it,
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => 0.0,
        }
    }

    /// Whether it is 0, or False.
    pub fn is_zero(self) -> bool {
        self.as_f64() == 0.0 && self.imag() == 0.0
    }

    /// Whether it can become an element of a dtype. Whole numbers below 0 may wrap where the dtype has no sign.
    pub fn fits(self, dtype: DType) -> bool {
        match dtype.int_range() {
            _ if matches!(self, Self::Complex(..)) && !dtype.is_complex() => false,
            _ if dtype == DType::Bool => true,
            Some((least, most)) if let Self::Float(it) = self => {
                // The upper end of 64 bits is no float: what is nearest counts as it.
                least as f64 <= it && (it < most as f64 + 1.0 || it == most as f64)
            }
            Some((0, most)) => (-most..=most).contains(&self.as_i64()),
            Some((least, most)) => (least..=most).contains(&self.as_i64()),
            None => !self.as_f64().is_finite() || self.as_f64().abs() <= dtype.largest(),
        }
    }

    /// Same kind and same bits.
    pub fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Complex(a, b), Self::Complex(c, d)) => {
                [a, b].map(f64::to_bits) == [c, d].map(f64::to_bits)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => it.fmt(f),
            Self::Int(it) => it.fmt(f),
            Self::Float(it) if it.is_nan() => f.write_str("nan"),
            Self::Float(it) => it.fmt(f),
            Self::Complex(real, imag) => write!(f, "({real}{imag:+}j)"),
        }
    }
}
