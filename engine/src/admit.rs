//! What an op refuses in the elements of its operands: classes, positions, probabilities, divisors.
//!
//! **Invariant:** nothing is checked in one mode and skipped in another. A kernel's `admits` runs before the kernel does, whoever
//! runs it: eager code, a recording, a plan, a model. A trace asks it before it promises a result, so that the error comes from
//! the line that made the mistake. What lane programs refuse as they run follows from the scalar expression.

use crate::cpu::lane::cast;
use crate::expr::Expr;
use crate::math::Fault;
use crate::op::{AdmitCx, Body, InferCx};
use crate::{Attrs, DType, Error, OpDef, Result, Tensor, lane, rules};

/// Refuses what the op refuses, as far as the elements are there; tells whether all were that it looks at.
pub(crate) fn ahead(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<bool> {
    match op.body {
        Body::Kernels(kernels) => {
            let cx = AdmitCx::on_tensors(op, inputs, attrs);
            kernels.iter().filter_map(|it| it.admits).try_for_each(|admits| admits(&cx))?;
            Ok(!cx.met_unseen())
        }
        Body::View(_) | Body::Control(_) | Body::Composed(_) => Ok(true),
        _ if inputs.iter().any(|it| it.dtype().is_float() || it.numel() == 0) => Ok(true),
        _ => faults_ahead(op, inputs, attrs),
    }
}

/// Whether an elementwise op whose results are of this dtype may refuse an element as it runs.
pub(crate) fn may_fail(op: &'static OpDef, dtype: DType, attrs: &Attrs) -> bool {
    let mut may = false;
    if let Some(expr) = (!dtype.is_float()).then(|| lane::expr_of(op, attrs)).flatten() {
        expr.each_binary(&mut |op, _| may |= Fault::of(op).is_some());
    }
    may
}

/// As [`ahead`], for the faults of a lane program on whole numbers.
fn faults_ahead(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<bool> {
    if rules::elementwise_dtypes(&InferCx { op, inputs, attrs })?.0.is_float() {
        return Ok(true);
    }
    let cx = AdmitCx::on_tensors(op, inputs, attrs);
    let mut res = Ok(());
    if let Some(expr) = lane::expr_of(op, attrs) {
        expr.each_binary(&mut |op, operand| {
            let Some(fault) = Fault::of(op) else { return };
            if let (Ok(()), Some(idx)) = (&res, Expr::as_input(operand)) {
                res = cx.elements(idx, |view| {
                    let bad = fault.is_met_in(&cast::<i64>(view));
                    if bad { Err(Error::from(fault)) } else { Ok(()) }
                });
            }
        });
    }
    res.map(|()| !cx.met_unseen())
}
