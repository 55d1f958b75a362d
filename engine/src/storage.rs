//! From Rust values to buffers and back.

use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::interrupt;
use crate::cpu::typed::{self, Plain};
use crate::{DType, Error, Result};

/// Rust types that are the elements of some dtype.
pub trait Element: Plain {
    /// The dtype of this type (`u8` also holds bools).
    const DTYPE: DType;
}

impl Element for u8 {
    const DTYPE: DType = DType::U8;
}
impl Element for i32 {
    const DTYPE: DType = DType::I32;
}
impl Element for i64 {
    const DTYPE: DType = DType::I64;
}
impl Element for f32 {
    const DTYPE: DType = DType::F32;
}
impl Element for f64 {
    const DTYPE: DType = DType::F64;
}

/// A number of the language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Bool(bool),
    Int(i64),
    Float(f64),
}

impl Number {
    /// The dtype that holds the number exactly.
    pub fn dtype(self) -> DType {
        match self {
            Self::Bool(_) => DType::Bool,
            Self::Int(_) => DType::I64,
            Self::Float(_) => DType::F64,
        }
    }

    /// The nearest float.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Bool(it) => f64::from(u8::from(it)),
            Self::Int(it) => it as f64,
            Self::Float(it) => it,
        }
    }

    /// The value truncated to an integer (saturating).
    pub fn as_i64(self) -> i64 {
        match self {
            Self::Bool(it) => i64::from(it),
            Self::Int(it) => it,
            Self::Float(it) => it as i64,
        }
    }

    /// Whether it can become an element of a dtype of whole numbers. Below 0 it may wrap where the dtype has no sign.
    pub fn fits(self, dtype: DType) -> bool {
        match dtype {
            DType::U8 => (-255..=255).contains(&self.as_i64()),
            DType::I32 => i32::try_from(self.as_i64()).is_ok(),
            DType::Bool | DType::I64 | DType::F32 | DType::F64 => true,
        }
    }

    /// Same kind and same bits.
    pub fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl From<AllocError> for Error {
    fn from(error: AllocError) -> Self {
        Self::OutOfMemory { bytes: error.bytes, live: error.live }
    }
}

/// A buffer holding a copy of `values`; an error if the user stops it.
pub fn from_slice<T: Plain>(values: &[T]) -> Result<Bytes> {
    filled(Bytes::uninit(size_of_val(values))?, values)
}

/// A buffer of this length, filled with a copy of `values`; an error if the user stops it.
pub(crate) fn filled<T: Plain>(mut bytes: Bytes, values: &[T]) -> Result<Bytes> {
    interrupt::copy(typed::slice_mut(&mut bytes), values);
    if interrupt::take() { Err(Error::Interrupted) } else { Ok(bytes) }
}

/// The number as an element of `dtype`, in the low bytes.
pub(crate) fn bits_of(number: Number, dtype: DType) -> u64 {
    match dtype {
        DType::Bool => u64::from(number.as_f64() != 0.0),
        DType::U8 => u64::from(number.as_i64() as u8),
        DType::I32 => u64::from(number.as_i64() as u32),
        DType::I64 => number.as_i64() as u64,
        DType::F32 => u64::from((number.as_f64() as f32).to_bits()),
        DType::F64 => number.as_f64().to_bits(),
    }
}

/// A buffer holding one element, converted to `dtype`.
pub fn from_number(number: Number, dtype: DType) -> Result<Bytes> {
    match dtype {
        DType::Bool => from_slice(&[u8::from(number.as_f64() != 0.0)]),
        DType::U8 => from_slice(&[number.as_i64() as u8]),
        DType::I32 => from_slice(&[number.as_i64() as i32]),
        DType::I64 => from_slice(&[number.as_i64()]),
        DType::F32 => from_slice(&[number.as_f64() as f32]),
        DType::F64 => from_slice(&[number.as_f64()]),
    }
}
