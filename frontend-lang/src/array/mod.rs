//! NumPy's arrays: tensors that show another class, with the behaviour of `numpy.ndarray`.
//!
//! An array is a [`TensorObj`] whose look is `Array`: it owns its elements as a tensor does, shares them with
//! tensors and views without copies, and whatever Rust code takes a tensor takes it. What differs is what programs see: attributes
//! and methods (`object`), operators (`ufunc`), square brackets (`index`), numbers taken out of it (`scalar`), dtypes (`dtype`) and text
//! (`text`). Methods made of others are written in the language, in `std/numpy/_core/methods.ng`.

pub mod dtype;
pub mod index;
pub mod make;
pub mod object;
mod promotion;
pub mod scalar;
pub mod scalar_ops;
pub mod text;
pub mod ufunc;
mod ufunc_out;
pub mod ufunc_rows;

use std::rc::Rc;

use engine::{DType, Tensor};

use crate::native::*;
use crate::objects::tensor::{Look, TensorObj, View};

/// An array of its own.
pub fn array(tensor: Tensor) -> Value {
    let object = TensorObj::new(tensor);
    object.show_as(Look::Array);
    Value::Tensor(Rc::new(object))
}

/// What NumPy's functions give: an array, or a number where no dimension is left.
pub fn result(tensor: Tensor) -> Res {
    if tensor.rank() == 0 { scalar::of(&tensor) } else { Ok(array(tensor)) }
}

/// An array that looks at a part of another variable.
pub fn view_of(object: &Rc<TensorObj>, view: View, tensor: Tensor) -> Value {
    let object = TensorObj::view_of(object, view, tensor);
    object.show_as(Look::Array);
    Value::Tensor(object)
}

/// The same elements under another look: what is written to one is seen in the other.
pub fn seen_as(object: &Rc<TensorObj>, look: Look) -> Value {
    let seen = TensorObj::view_of(object, View::Same, object.get().detach());
    seen.show_as(look);
    Value::Tensor(seen)
}

/// That arrays have elements of this dtype.
pub(crate) fn holdable(tensor: &Tensor) -> Result<(), Raised> {
    if !dtype::is_known_to_numpy(tensor.dtype()) {
        return Err(type_error(
            "Got unsupported ScalarType BFloat16: arrays hold no bfloat16; write .float().numpy()",
        ));
    }
    if tensor.dtype().is_complex() {
        return Err(no_complex());
    }
    Ok(())
}

/// Complex numbers are elements of tensors alone.
pub(crate) fn no_complex() -> Raised {
    type_error(
        "arrays hold no complex numbers here; take the parts, of a tensor by .real.numpy() and .imag.numpy(), \
         or compute with tensors of torch.complex64",
    )
}

/// That NumPy may see the elements of a variable: not where gradients that are recorded would be lost without a word. Code of MegEngine and OneFlow
/// asks results for their arrays as they are; the objects are the same, so a session that has imported these may.
pub(crate) fn readable(cx: &Cx, object: &TensorObj) -> Result<(), Raised> {
    holdable(&object.get())?;
    let recorded = engine::autograd::enabled() && object.get().requires_grad();
    if is_of_others(cx) || !recorded || object.look() == Look::Array {
        return Ok(());
    }
    Err(runtime_error(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ))
}

/// Whether the session has code of MegEngine or OneFlow.
pub(crate) fn is_of_others(cx: &Cx) -> bool {
    ["megengine", "oneflow"].iter().any(|it| cx.modules.contains_key(*it))
}

/// The same for Python, where bfloat16 arrives as float32 and complex numbers are known.
pub(crate) fn readable_by_python(cx: &Cx, object: &TensorObj) -> Result<(), Raised> {
    let tensor = object.get();
    if tensor.dtype() == DType::BF16 || tensor.dtype().is_complex() {
        return Ok(());
    }
    readable(cx, object)
}

/// The elements in the reversed order of dimensions, where they lie column after column in it, as those of `a.T` do.
pub(crate) fn by_columns(tensor: &Tensor) -> Result<Option<Tensor>, Raised> {
    if tensor.rank() < 2 || tensor.layout().is_contiguous() {
        return Ok(None);
    }
    Ok(Some(reversed(tensor)?).filter(|it| it.layout().is_contiguous()))
}

/// The same elements under the reversed order of dimensions.
pub(crate) fn reversed(tensor: &Tensor) -> Result<Tensor, Raised> {
    let dims: Vec<i64> = (0..tensor.rank() as i64).rev().collect();
    Ok(engine::functional::permute(tensor, &dims)?)
}

/// An error of the engine in NumPy's classes: what has another type there is a `ValueError`.
pub(crate) fn error(error: engine::Error) -> Raised {
    match &error {
        engine::Error::Shapes { .. }
        | engine::Error::Unequal { .. }
        | engine::Error::NoElements { .. }
        | engine::Error::Attr { .. } => value_error(error.to_string()),
        engine::Error::DType { .. } | engine::Error::DTypes { .. } => type_error(error.to_string()),
        engine::Error::TooLarge { .. } | engine::Error::OutOfMemory { .. } => {
            memory_error(error.to_string())
        }
        _ => error.into(),
    }
}

/// A shape as a tuple is written: `(2, 3)`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    let inner = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    if shape.len() == 1 { format!("({inner},)") } else { format!("({inner})") }
}
