//! Gradients of elementwise ops, from their expressions.

use smallvec::{SmallVec, smallvec};

use crate::cpu::alloc::Bytes;
use crate::lane::{ElementwiseGrad, grad_op};
use crate::{Attr, Attrs, Layout, OpDef, Result, Tensor, apply_one, functional, ops};

/// The gradient of elementwise `op` for input `input`, in that input's dtype and the shape of the output: the caller
/// sums it over broadcast dimensions. Of the inputs and the result only those are read that `grad_op` names.
pub(super) fn elementwise_grad(
    op: &'static OpDef,
    (inputs, result): (&[Tensor], &Tensor),
    attrs: &Attrs,
    dy: &Tensor,
    input: usize,
) -> Result<Tensor> {
    let dx = match grad_op(op, attrs, input)? {
        ElementwiseGrad::Same => dy.clone(),
        ElementwiseGrad::Zero => zeros(dy)?,
        ElementwiseGrad::Op { op, uses } => {
            let mut operands: SmallVec<[Tensor; 4]> = SmallVec::new();
            operands.push(dy.clone());
            operands.extend(uses.iter().map(|&it| inputs.get(it).unwrap_or(result).clone()));
            apply_one(op, &operands, attrs)?
        }
    };
    let dtype = inputs[input].dtype();
    if dx.dtype() == dtype {
        return Ok(dx);
    }
    apply_one(&ops::unary::to::OP, &[dx], &smallvec![Attr::DType(dtype)])
}

/// Zeros of the shape and dtype of a tensor, in one element of storage.
fn zeros(like: &Tensor) -> Result<Tensor> {
    if like.is_meta() {
        return Ok(like.clone());
    }
    if like.is_on_gpu() {
        return functional::full(like.shape(), 0.0, like.dtype());
    }
    let bytes = Bytes::zeroed(like.dtype().size())?;
    let strides = SmallVec::from_elem(0, like.rank());
    let layout = Layout { shape: like.shape().clone(), strides, offset: 0 };
    Ok(Tensor::stored(bytes, layout, like.dtype()))
}
