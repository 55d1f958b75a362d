//! From Rust values to buffers and back.

use std::fmt;

use half::{bf16, f16};

use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::interrupt;
use crate::cpu::lane::Mem;
use crate::cpu::typed::{self, Plain};
use crate::{DType, Error, Result, with_size};

/// Rust types that are the elements of some dtype.
pub trait Element: Plain {
    /// The dtype of this type (`u8` also holds bools).
    const DTYPE: DType;
}

macro_rules! elements {
    ($($T:ty: $dtype:ident;)*) => {$(
        impl Element for $T {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

elements!(u8: U8; i8: I8; i16: I16; u16: U16; i32: I32; i64: I64; f16: F16; bf16: BF16; f32: F32; f64: F64;);

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

    /// Whether it can become an element of a dtype. Below 0 it may wrap where the dtype has no sign.
    pub fn fits(self, dtype: DType) -> bool {
        match dtype.int_range() {
            _ if dtype == DType::Bool => true,
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
            _ => false,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => it.fmt(f),
            Self::Int(it) => it.fmt(f),
            Self::Float(it) => it.fmt(f),
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
        _ => Mem::of(dtype).bits(number),
    }
}

/// A buffer holding one element, converted to `dtype`.
pub fn from_number(number: Number, dtype: DType) -> Result<Bytes> {
    let bits = bits_of(number, dtype);
    with_size!(dtype, T => from_slice(&[bits as T]))
}
