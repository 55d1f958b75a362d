//! What `tril` and `triu` share: matrices with zeros on one side of a diagonal.

use crate::dtype::Number;
use crate::meaning::{Array, MeaningCx};
use crate::op::{Default, GradCx, InferCx, KernelCx, Param, ParamKind};
use crate::{Metas, Result, Tensor, apply_one, rules, with_size};

pub(super) const PARAMS: &[Param] =
    &[Param::tensor("input"), Param::with("diagonal", ParamKind::Int, Default::Int(0))];

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

/// Copies what lies below the row's diagonal, and on it, or what lies above it, and on it; the rest is 0.
pub(super) fn run(cx: &mut KernelCx<'_, '_>, below: bool) -> Result<()> {
    let (input, diagonal) = (cx.inputs[0], cx.int(0));
    let rank = input.shape().rank();
    let (n_rows, n_columns) = (input.shape()[rank - 2], input.shape()[rank - 1]);
    if input.shape().numel() == 0 {
        return Ok(());
    }
    // Where the diagonal cuts a row: behind it from below, before it from above.
    let cut = |row: usize| {
        let at = (row as i64).saturating_add(diagonal).saturating_add(i64::from(below));
        at.clamp(0, n_columns as i64) as usize
    };
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        let out = cx.outputs[0].as_mut_slice::<T>();
        let rows = src.chunks_exact(n_columns).zip(out.chunks_exact_mut(n_columns));
        for (idx, (from, to)) in rows.enumerate() {
            let cut = cut(idx % n_rows);
            let (kept, others) = if below { (0..cut, cut..n_columns) } else { (cut..n_columns, 0..cut) };
            to[kept.clone()].copy_from_slice(&from[kept]);
            to[others].fill(T::default());
        }
    });
    Ok(())
}

/// The same triangle of the gradient.
pub(super) fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(apply_one(cx.op, &[cx.output_grad()?], cx.attrs)?)])
}
