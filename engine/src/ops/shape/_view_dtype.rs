//! `_view_dtype`: the same memory as elements of another dtype.

use smallvec::smallvec;

use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{Body, DTypeRule, Grad, InferCx, Onnx, Param, ParamKind, Returns, Surface};
use crate::{Attr, Attrs, DType, Error, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "_view_dtype",
    doc: "The same memory as elements of another dtype; of wider or narrower ones the last dimension has fewer or more.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("dtype", ParamKind::DType)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Stops("bits have no derivative"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "_view_dtype(tensor([1.0, -0.0]), int32)",
            "tensor([ 1065353216, -2147483648], dtype=torch.int32)",
        ),
        (
            "_view_dtype(tensor([258, 1], dtype=int16), uint8)",
            "tensor([2, 1, 1, 0], dtype=torch.uint8)",
        ),
        (
            "_view_dtype(tensor([0, 1072693248], dtype=int32), float64)",
            "tensor([1.], dtype=torch.float64)",
        ),
    ],
};

/// The elements as bytes, least significant first, and these as elements of the other dtype.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let read = || {
        let mut bytes = Vec::new();
        given(cx.input(0), cx.given[0])?.append_le_bytes(&mut bytes)?;
        let sizes: Vec<usize> = match cx.shape(0).split_last() {
            Some((last, rest)) => {
                let seen = last * cx.given[0].size() / cx.dtypes[0].size();
                rest.iter().copied().chain([seen]).collect()
            }
            None => vec![],
        };
        let seen = Tensor::from_le_bytes(
            &bytes,
            Shape::new(&[bytes.len() / cx.dtypes[0].size()]),
            cx.dtypes[0],
        )?;
        Result::Ok(elements(&seen)?.reshaped(&sizes))
    };
    read().expect("bytes of elements are elements")
}

fn given(array: &Array, dtype: DType) -> Result<Tensor> {
    let shape = Shape::new(array.shape());
    match array {
        Array::Int(it) => {
            Tensor::from_converted(&it.iter().copied().collect::<Vec<_>>(), shape, dtype)
        }
        Array::Float(it) => {
            Tensor::from_converted(&it.iter().copied().collect::<Vec<_>>(), shape, dtype)
        }
        Array::Complex(real, imag) => {
            let pairs: Vec<_> = real.iter().copied().zip(imag.iter().copied()).collect();
            Tensor::from_pairs(&pairs, shape, dtype)
        }
    }
}

fn elements(seen: &Tensor) -> Result<Array> {
    let dtype = seen.dtype();
    if dtype.is_complex() {
        let [real, imag] = seen.to_parts()?;
        return Ok(Array::Complex(
            ndarray::Array1::from(real).into_dyn(),
            ndarray::Array1::from(imag).into_dyn(),
        ));
    }
    Ok(match dtype.is_float() {
        true => ndarray::Array1::from(seen.to_f64_vec()?).into_dyn().into(),
        false => ndarray::Array1::from(seen.to_i64_vec()?).into_dyn().into(),
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (from, to) = (cx.dtype(0), target(cx));
    if to == DType::Bool && from != to {
        let allowed = "a dtype of numbers: bytes may be neither 0 nor 1; x.view(torch.uint8) != 0 gives bools";
        return Err(Error::DType { op: cx.op.name, dtype: to, allowed });
    }
    let mut shape = cx.shape(0).clone();
    if from.size() != to.size() {
        let Some(last) = shape.dims_mut().last_mut() else {
            return Err(cx.bad_shapes("one element is no other number of elements"));
        };
        let bytes = *last * from.size();
        if !bytes.is_multiple_of(to.size()) {
            return Err(cx.bad_shapes(format!("{bytes} bytes are no elements of {to}")));
        }
        *last = bytes / to.size();
    }
    Ok(smallvec![Meta::new(shape, to)])
}

fn target(cx: &InferCx<'_>) -> DType {
    match cx.attrs.first() {
        Some(Attr::DType(dtype)) => *dtype,
        _ => cx.dtype(0),
    }
}

/// How many elements come of one, or one comes of, shows in the last size.
fn view(layout: &Layout, _: &Attrs, shape: &Shape) -> Option<Layout> {
    let (Some(&from), Some(&to)) = (layout.shape.last(), shape.last()) else {
        return Some(layout.clone());
    };
    if from == to || from == 0 || to == 0 {
        return Some(Layout { shape: shape.clone(), ..layout.clone() });
    }
    let (beside, rest) = layout.strides.split_last()?;
    if *beside != 1 && from > 1 {
        return None;
    }
    let (more, fewer) = if to > from { (to / from, 1) } else { (1, from / to) };
    let fits = |(size, step): (&usize, &isize)| *size < 2 || step % fewer as isize == 0;
    if !layout.shape.iter().zip(rest).all(fits) || !layout.offset.is_multiple_of(fewer) {
        return None;
    }
    let strides = rest.iter().map(|it| it * more as isize / fewer as isize).chain([1]).collect();
    Some(Layout { shape: shape.clone(), strides, offset: layout.offset * more / fewer })
}
