//! Tensors from numbers alone.

pub mod arange;
pub(crate) mod cuda;
pub mod eye;
pub mod full;
pub mod full_like;
pub mod linspace;
pub mod ones;
pub mod ones_like;
mod onnx;
pub mod zeros;
pub mod zeros_like;

use smallvec::smallvec;

use crate::cpu::view::OutView;
use crate::cpu::{interrupt, rows};
use crate::dtype::Number;
use crate::op::{self, ComposedCx, InferCx};
use crate::storage::bits_of;
use crate::tensor::{Metas, Outputs};
use crate::{Attr, Attrs, DType, Error, Meta, OpDef, Result, Shape, apply, lane, with_size};

/// The family, sorted by name.
pub static ALL: &[&OpDef] = &[
    &arange::OP,
    &eye::OP,
    &full::OP,
    &full_like::OP,
    &linspace::OP,
    &ones::OP,
    &ones_like::OP,
    &zeros::OP,
    &zeros_like::OP,
];

/// Attribute `idx` as a dtype; absent gives `default`.
fn dtype_or(attrs: &Attrs, idx: usize, default: DType) -> DType {
    match attrs.get(idx) {
        Some(Attr::DType(dtype)) => *dtype,
        _ => default,
    }
}

/// Attribute `idx` as a number; absent gives `default`.
fn number_or(attrs: &Attrs, idx: usize, default: Number) -> Number {
    attrs.get(idx).and_then(lane::number_of).unwrap_or(default)
}

/// The dtype that a number alone gives a tensor: float32 for floats.
fn dtype_of(number: Number) -> DType {
    match number {
        Number::Float(_) => DType::F32,
        Number::Complex(..) => DType::C64,
        Number::Bool(_) | Number::Int(_) => number.dtype(),
    }
}

/// The shape in attribute `idx`; negative sizes are an error.
fn sizes(cx: &InferCx<'_>, idx: usize) -> Result<Shape> {
    let sizes = op::ints(cx.attrs, idx).unwrap_or_default();
    let negative = |_| Error::Attr {
        op: cx.op.name,
        name: "size",
        problem: "must not contain negative sizes".into(),
    };
    sizes.iter().map(|&it| usize::try_from(it).map_err(negative)).collect()
}

/// Infer of `zeros` and `ones`: (size, dtype).
fn sized(cx: &InferCx<'_>) -> Result<Metas> {
    Ok(smallvec![Meta::new(sizes(cx, 0)?, dtype_or(cx.attrs, 1, DType::F32))])
}

/// What `filled` gives in the shape of input 0, and in its dtype unless attribute 0 is another.
fn like(cx: &ComposedCx<'_>, filled: &'static OpDef) -> Result<Outputs> {
    let input = cx.input(0)?;
    let dtype = dtype_or(cx.attrs, 0, input.dtype());
    apply(filled, &[], &smallvec![Attr::sizes(input.shape()), Attr::DType(dtype)])
}

/// Sets every element to the number, converted to the dtype.
fn fill(output: &mut OutView<'_>, number: Number) {
    let bits = bits_of(number, output.dtype());
    with_size!(output.dtype(), T => interrupt::fill(output.as_mut_slice::<T>(), bits as T));
}

/// Sets element `i` to `at(i)`, converted to the dtype.
fn fill_with(output: &mut OutView<'_>, at: impl Fn(usize) -> Number + Sync) {
    match output.dtype() {
        DType::I64 => rows::set_each(output.as_mut_slice::<i64>(), |idx| at(idx).as_i64()),
        DType::F32 => rows::set_each(output.as_mut_slice::<f32>(), |idx| at(idx).as_f64() as f32),
        DType::F64 => rows::set_each(output.as_mut_slice::<f64>(), |idx| at(idx).as_f64()),
        dtype @ (DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::U16 | DType::I32)
        | dtype @ (DType::F16 | DType::BF16 | DType::C64 | DType::C128) => with_size!(dtype, T => {
            rows::set_each(output.as_mut_slice::<T>(), |idx| bits_of(at(idx), dtype) as T)
        }),
    }
}
