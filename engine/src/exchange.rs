//! Elements that come from outside and go there: numbers of another type, bytes as files hold them, and arrays of `ndarray`.

mod arrays;

use crate::cpu::alloc::Bytes;
use crate::cpu::lane::{cast, cast_into};
use crate::cpu::typed::{self, Plain};
use crate::cpu::view::OutView;
use crate::storage::{Element, bits_of};
use crate::{DType, Error, Layout, Number, Result, Shape, Tensor, with_size};

impl Tensor {
    /// A tensor of a dtype from numbers in row-major order, each converted as `to` does. Nothing is put on the tape or in a trace.
    pub fn from_converted<T: Element + PartialEq>(
        values: &[T],
        shape: Shape,
        dtype: DType,
    ) -> Result<Self> {
        if dtype.is_complex() {
            let parts = Self::from_converted(values, shape.clone(), dtype.part())?;
            let parts = parts.look(|view| cast::<f64>(&view).into_owned())?;
            let pairs: Vec<_> = parts.into_iter().map(|real| (real, 0.0)).collect();
            return Self::from_pairs(&pairs, shape, dtype);
        }
        let given = Self::from_vec(values, shape)?;
        if dtype == T::DTYPE {
            return Ok(given);
        }
        let layout = given.layout().clone();
        let mut bytes = Bytes::of(&layout.shape, dtype)?;
        given.look(|view| {
            let output = OutView::new(&mut bytes, &layout.shape, dtype);
            output.into_iter().for_each(|mut output| match dtype.is_bool() {
                true => truths(&view.to_slice::<T>(), output.as_mut_slice()),
                false => cast_into(&view, &mut output),
            });
        })?;
        Ok(Self::stored(bytes, layout, dtype))
    }

    /// The elements in row-major order, floats truncated.
    pub fn to_i64_vec(&self) -> Result<Vec<i64>> {
        self.needs_real("to_i64_vec")?;
        self.with_view(|view| cast::<i64>(&view).into_owned())
    }

    /// A tensor of complex numbers from their parts in row-major order, rounded to the dtype.
    pub fn from_pairs(values: &[(f64, f64)], shape: Shape, dtype: DType) -> Result<Self> {
        if values.len() != shape.numel() || !dtype.is_complex() {
            let rule = format!("{} complex values were given for {dtype}", values.len());
            return Err(Error::Shapes { op: "tensor", shapes: vec![shape], rule });
        }
        let mut bytes = Bytes::of(&shape, dtype)?;
        with_size!(dtype, T => {
            for (slot, &(real, imag)) in typed::slice_mut::<T>(&mut bytes).iter_mut().zip(values) {
                *slot = bits_of(Number::Complex(real, imag), dtype) as T;
            }
        });
        Ok(Self::stored(bytes, Layout::contiguous(shape), dtype))
    }

    /// The real and the imaginary parts of the elements in row-major order; those of real numbers are 0.
    pub fn to_parts(&self) -> Result<[Vec<f64>; 2]> {
        if !self.dtype().is_complex() {
            let real = self.to_f64_vec()?;
            let imag = vec![0.0; real.len()];
            return Ok([real, imag]);
        }
        let part = |bytes: &[u8]| match bytes.first_chunk() {
            Some(bytes) if self.dtype() == DType::C128 => f64::from_le_bytes(*bytes),
            _ => bytes.first_chunk().map_or(0.0, |it| f32::from_le_bytes(*it).into()),
        };
        let mut bytes = Vec::new();
        self.append_le_bytes(&mut bytes)?;
        let parts: Vec<f64> = bytes.chunks(self.dtype().part().size()).map(part).collect();
        Ok([0, 1].map(|which| parts.iter().copied().skip(which).step_by(2).collect()))
    }

    /// A tensor from its elements in row-major order, little endian, as safetensors and NumPy's files have them. Fails where the length
    /// is not that of the shape, or a bool is neither 0 nor 1.
    pub fn from_le_bytes(data: &[u8], shape: Shape, dtype: DType) -> Result<Self> {
        let len = shape.checked_numel("tensor")?.saturating_mul(dtype.size());
        if data.len() != len {
            let problem = format!("{} bytes are no {dtype} of shape {shape}", data.len());
            return Err(Error::File { problem });
        }
        Self::filled_with_le_bytes(shape, dtype, |out| {
            out.copy_from_slice(data);
            Ok(())
        })
    }

    /// The same with bytes that `fill` writes, which may fail in its own way.
    pub fn filled_with_le_bytes<E: From<Error>>(
        shape: Shape,
        dtype: DType,
        fill: impl FnOnce(&mut [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<Self, E> {
        let len = shape.checked_numel("tensor")?.saturating_mul(dtype.size());
        let mut bytes = Bytes::of(&shape, dtype).map_err(Error::from)?;
        let out = &mut typed::slice_mut::<u8>(&mut bytes)[..len];
        fill(out)?;
        if dtype == DType::Bool && out.iter().any(|&it| it > 1) {
            return Err(Error::File { problem: "it holds bools other than 0 and 1".into() }.into());
        }
        to_or_from_little(out, dtype.part().size());
        Ok(Self::stored(bytes, Layout::contiguous(shape), dtype))
    }

    /// Whether it has the dtype, the shape and the bits of another tensor.
    pub fn has_bits_of(&self, other: &Self) -> bool {
        let bits = |it: &Self| {
            it.look(
                |view| with_size!(it.dtype(), T => typed::bytes_of(&view.to_slice::<T>()).to_vec()),
            )
        };
        let is_it = self.shares_buffer(other) && self.layout() == other.layout();
        let equal = || bits(self).is_ok_and(|it| bits(other).is_ok_and(|other| it == other));
        self.meta() == other.meta() && (is_it || equal())
    }

    /// Appends the elements in row-major order, little endian.
    pub fn append_le_bytes(&self, data: &mut Vec<u8>) -> Result<()> {
        self.with_le_bytes(|bytes| data.extend_from_slice(bytes))
    }

    /// Calls `body` with the elements in row-major order, little endian; they are copied only where they do not lie so.
    pub fn with_le_bytes<R>(&self, body: impl FnOnce(&[u8]) -> R) -> Result<R> {
        self.with_view(|view| {
            with_size!(self.dtype(), T => {
                let elements = view.to_slice::<T>();
                let bytes = typed::bytes_of(&elements);
                if cfg!(target_endian = "little") {
                    return body(bytes);
                }
                let mut bytes = bytes.to_vec();
                to_or_from_little(&mut bytes, self.dtype().part().size());
                body(&bytes)
            })
        })
    }
}

/// 1 where the number is not 0.
fn truths<T: Plain + PartialEq>(values: &[T], out: &mut [u8]) {
    for (slot, value) in out.iter_mut().zip(values) {
        *slot = u8::from(*value != T::default());
    }
}

/// Turns the bytes of each element round where the machine has them the other way.
fn to_or_from_little(data: &mut [u8], size: usize) {
    if cfg!(target_endian = "big") {
        data.chunks_mut(size).for_each(<[u8]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    #[test]
    fn numbers_become_elements_of_every_dtype() {
        let shape = || Shape::from([4]);
        let given = [0.0, 1.0, -2.0, 300.5];
        let of = |dtype| Tensor::from_converted(&given, shape(), dtype).unwrap();
        assert_eq!(of(DType::Bool).to_vec::<u8>().unwrap(), [0, 1, 1, 1]);
        assert_eq!(of(DType::U8).to_vec::<u8>().unwrap(), [0, 1, 254, 44]);
        assert_eq!(of(DType::I8).to_vec::<i8>().unwrap(), [0, 1, -2, 44]);
        assert_eq!(of(DType::U16).to_vec::<u16>().unwrap(), [0, 1, 65534, 300]);
        assert_eq!(of(DType::F16).to_vec::<f16>().unwrap(), given.map(f16::from_f64));
        assert_eq!(of(DType::BF16).to_vec::<bf16>().unwrap(), given.map(bf16::from_f64));
        assert_eq!(of(DType::F16).to_i64_vec().unwrap(), [0, 1, -2, 300]);
    }

    #[test]
    fn bytes_are_those_of_the_file_formats() {
        let x = Tensor::from_converted(&[1_i64, -2], Shape::from([2]), DType::I16).unwrap();
        let mut bytes = Vec::new();
        x.append_le_bytes(&mut bytes).unwrap();
        assert_eq!(bytes, [1, 0, 254, 255]);
        for dtype in DType::ALL {
            let x = Tensor::from_converted(&[1_i64, 0, 7], Shape::from([3]), dtype).unwrap();
            let mut bytes = Vec::new();
            x.append_le_bytes(&mut bytes).unwrap();
            let read = Tensor::from_le_bytes(&bytes, Shape::from([3]), dtype).unwrap();
            assert_eq!(read.to_parts().unwrap(), x.to_parts().unwrap(), "{dtype}");
        }
        let z = Tensor::from_pairs(&[(1.0, -2.5)], Shape::from([1]), DType::C64).unwrap();
        let mut bytes = Vec::new();
        z.append_le_bytes(&mut bytes).unwrap();
        assert_eq!(bytes, [1.0_f32.to_le_bytes(), (-2.5_f32).to_le_bytes()].concat());
        assert!(Tensor::from_le_bytes(&[1], Shape::from([1]), DType::F16).is_err());
        assert!(Tensor::from_le_bytes(&[2], Shape::from([1]), DType::Bool).is_err());
    }
}
