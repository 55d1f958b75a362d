//! What `tril` and `triu` share: matrices with zeros on one side of a diagonal.

use crate::dtype::Number;
use crate::meaning::{Array, MeaningCx};
use crate::op::{Default, GradCx, InferCx, KernelCx, Onnx, Param, ParamKind};
use crate::{Metas, Result, Tensor, apply_one, rules, with_size};

pub(super) const PARAMS: &[Param] =
    &[Param::tensor("input"), Param::with("diagonal", ParamKind::Int, Default::Int(0))];

pub(super) const ONNX: &[Onnx] =
    &[Onnx { op_type: "Trilu", since: 14, attrs: &[("diagonal", "k")] }];

pub(super) fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    if cx.shape(0).rank() < 2 {
        return Err(cx.bad_shapes("a matrix or a batch of matrices is needed"));
    }
    rules::same_as_input(cx)
}

/// Zeros but on the diagonals that are kept.
pub(super) fn meaning(cx: &MeaningCx<'_>, is_kept: fn(i64, i64) -> bool) -> Array {
    let x = cx.input(0);
    x.moved_or(x.shape(), Number::Int(0), |at| {
        let [.., row, column] = *at else { return None };
        is_kept(column as i64 - row as i64, cx.int(0)).then(|| at.to_vec())
    })
}

/// Copies what lies on a diagonal that is kept, by its number and that of the row's attribute.
pub(super) fn run(cx: &mut KernelCx<'_, '_>, is_kept: impl Fn(i64, i64) -> bool) -> Result<()> {
    let (input, diagonal) = (cx.inputs[0], cx.int(0));
    let rank = input.shape().rank();
    let (n_rows, n_columns) = (input.shape()[rank - 2], input.shape()[rank - 1]);
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        for (idx, (&x, slot)) in src.iter().zip(cx.outputs[0].as_mut_slice::<T>()).enumerate() {
            let (row, column) = (idx / n_columns % n_rows, idx % n_columns);
            let kept = is_kept(column as i64 - row as i64, diagonal);
            *slot = if kept { x } else { T::default() };
        }
    });
    Ok(())
}

/// The same triangle of the gradient.
pub(super) fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(apply_one(cx.op, &[cx.output_grad()?], cx.attrs)?)])
}
