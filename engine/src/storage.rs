//! From Rust values to buffers and back.

use half::{bf16, f16};

use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::interrupt;
use crate::cpu::lane::Mem;
use crate::cpu::typed::{self, Plain};
use crate::dtype::Kind;
use crate::{DType, Error, Number, Result, with_size};

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
pub(crate) fn bits_of(number: Number, dtype: DType) -> u128 {
    match dtype.kind() {
        Kind::Bool => u128::from(!number.is_zero()),
        Kind::Int | Kind::Float => Mem::of(dtype).bits(number).into(),
        Kind::Complex => {
            let part = |it: f64| u128::from(Mem::of(dtype.part()).bits(Number::Float(it)));
            part(number.imag()) << (4 * dtype.size()) | part(number.as_f64())
        }
    }
}

/// A buffer holding one element, converted to `dtype`.
pub fn from_number(number: Number, dtype: DType) -> Result<Bytes> {
    let bits = bits_of(number, dtype);
    with_size!(dtype, T => from_slice(&[bits as T]))
}
