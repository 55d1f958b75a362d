//! What a call that makes a tensor says of it besides its elements: `torch.zeros(3, requires_grad=True, pin_memory=True)`.

use std::rc::Rc;

use engine::apply::place;
use engine::{OpDef, Tensor, cuda};

use super::dtype;
use crate::native::*;
use crate::objects::tensor::TensorObj;

/// What a call says of the tensor that it makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub requires_grad: bool,
    /// Whether it lies in page-locked memory.
    pub pinned: bool,
}

impl Made {
    /// Whether an op makes tensors of nothing, or such as another one.
    pub fn is_by(op: &OpDef) -> bool {
        op.n_tensors() == 0 || op.name.ends_with("_like")
    }

    /// Takes a keyword; false for one that is not of these.
    pub fn keyword(&mut self, cx: &mut Cx, name: &str, value: &Value) -> Result<bool, Raised> {
        match name {
            "requires_grad" => self.requires_grad = cx.truth(value)?,
            "pin_memory" => self.pinned = cx.truth(value)?,
            "layout" if value.is_none() || value.as_str() == Some("torch.strided") => {}
            "layout" => {
                return Err(type_error(
                    "layout: tensors here are dense; leave it out, or give torch.strided",
                ));
            }
            "memory_format" => memory_format(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The variable for elements that were made so.
    pub fn variable(self, made: Tensor) -> Res {
        let made = if self.pinned { pinned(&made)? } else { made };
        if !self.requires_grad {
            return Ok(Value::tensor(made));
        }
        if !made.dtype().is_differentiable() {
            return Err(dtype_error(format!(
                "Only Tensors of floating point and complex dtype can require gradients\nThis one is {}: convert it with .float(), or give dtype=torch.float32",
                made.dtype()
            )));
        }
        let object = Rc::new(TensorObj::new(made));
        object.make_leaf();
        Ok(Value::Tensor(object))
    }
}

/// Refuses an order of elements that tensors here do not have.
pub fn memory_format(value: &Value) -> Result<(), Raised> {
    match value.as_str() {
        None if value.is_none() => Ok(()),
        Some("contiguous_format" | "preserve_format") => Ok(()),
        Some(other) => Err(crate::error::not_implemented(format!(
            "memory_format=torch.{other}: the elements of tensors lie row by row here, which kernels for images read as quickly; leave it out"
        ))),
        None => Err(type_error(
            "memory_format must be torch.contiguous_format, torch.preserve_format or torch.channels_last",
        )),
    }
}

/// The same elements in page-locked main memory.
pub fn pinned(value: &Tensor) -> Result<Tensor, Raised> {
    if value.is_on_gpu() {
        return Err(runtime_error(format!(
            "cannot pin '{}' only dense CPU tensors can be pinned",
            dtype::tensor_type(value.dtype()).replacen("torch.", "torch.cuda.", 1)
        )));
    }
    if cuda::available().len() == 1 {
        return Err(runtime_error(
            "Cannot access accelerator device when none is available.\nPage-locked memory is there for copies to a GPU: leave it out here, or ask torch.cuda.is_available()",
        ));
    }
    Ok(place::pinned(value)?)
}
