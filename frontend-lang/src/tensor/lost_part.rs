//! PyTorch's warning where complex numbers become real ones: once in a session, through `warnings`, whose filters hold for it.

use engine::{Attr, Attrs, DType, Tensor};

use super::convert;
use crate::cx::Mode;
use crate::native::*;

const TEXT: &str = "Casting complex values to real discards the imaginary part";

/// To be told before `tensor` is converted to a dtype. A check before running stays silent, as do conversions to bool, for which both parts count.
pub(crate) fn casting(cx: &mut Cx, tensor: &Tensor, dtype: DType) -> Result<(), Raised> {
    let is_lost = tensor.dtype().is_complex() && !dtype.is_complex() && dtype != DType::Bool;
    // A number is refused where it does not fit.
    let is_number = tensor.as_number().is_some();
    if !is_lost || is_number || tensor.numel() == 0 || cx.mode == Mode::Shadow || cx.lost_part_told
    {
        return Ok(());
    }
    cx.lost_part_told = true;
    let module = cx.import("warnings")?;
    let warn = cx.getattr(&module, Sym::of("warn"))?;
    cx.call(&warn, &[Value::str(TEXT)]).map(drop)
}

/// `tensor.to(dtype)`, told where parts are lost.
pub(crate) fn cast(cx: &mut Cx, tensor: &Tensor, dtype: Option<DType>) -> Result<Tensor, Raised> {
    if let Some(dtype) = dtype {
        casting(cx, tensor, dtype)?;
    }
    convert::cast(tensor, dtype)
}

/// Tells of it before an op is applied that is asked for a dtype: `to`, `sum`.
pub(crate) fn applying(
    cx: &mut Cx,
    tensors: &[Option<Tensor>],
    attrs: &Attrs,
) -> Result<(), Raised> {
    let wanted = attrs.iter().find_map(|it| match it {
        Attr::DType(dtype) => Some(*dtype),
        _ => None,
    });
    match (wanted, tensors.iter().flatten().find(|it| it.dtype().is_complex())) {
        (Some(dtype), Some(tensor)) => casting(cx, &tensor.clone(), dtype),
        _ => Ok(()),
    }
}
