//! What an op refuses in the elements of its operands: classes, positions, probabilities, divisors.
//!
//! **Invariant:** nothing is checked in one mode and skipped in another. A kernel's `admits` runs before the kernel does, whoever
//! runs it: eager code, a recording, a plan, a model. A trace asks it before it promises a result, so that the error comes from
//! the line that made the mistake. What lane programs refuse as they run follows from the scalar expression.

use std::cell::Cell;

use crate::cpu::lane::{Fault, cast};
use crate::cpu::view::View;
use crate::expr::{BinOp, Expr};
use crate::op::{self, Body, InferCx, KernelCx};
use crate::ops::index::indices;
use crate::{Attrs, Error, OpDef, Result, Shape, Tensor, lane, rules};

/// What a check of elements sees. Elements that are still to come are passed over, which the context notes.
pub struct AdmitCx<'a> {
    /// The row.
    pub op: &'static OpDef,
    attrs: &'a Attrs,
    operands: Operands<'a>,
    unseen: Cell<bool>,
}

enum Operands<'a> {
    Views(&'a [View<'a>]),
    Tensors(&'a [Tensor]),
}

impl<'a> AdmitCx<'a> {
    /// For a kernel that is about to run.
    pub(crate) fn of(cx: &'a KernelCx<'_, '_>) -> Self {
        Self::new(cx.op, cx.attrs, Operands::Views(cx.inputs))
    }

    fn new(op: &'static OpDef, attrs: &'a Attrs, operands: Operands<'a>) -> Self {
        Self { op, attrs, operands, unseen: Cell::new(false) }
    }

    /// Number of operands.
    pub fn n_inputs(&self) -> usize {
        match self.operands {
            Operands::Views(all) => all.len(),
            Operands::Tensors(all) => all.len(),
        }
    }

    /// Shape of input `idx`.
    pub fn shape(&self, idx: usize) -> &Shape {
        match self.operands {
            Operands::Views(all) => all[idx].shape(),
            Operands::Tensors(all) => all[idx].shape(),
        }
    }

    /// Integer attribute `idx` (0 when absent).
    pub fn int(&self, idx: usize) -> i64 {
        op::int(self.attrs, idx)
    }

    /// Bool attribute `idx` (false when absent).
    pub fn flag(&self, idx: usize) -> bool {
        op::flag(self.attrs, idx)
    }

    /// Attribute `idx` as a word ("" when it is none).
    pub fn word(&self, idx: usize) -> &'static str {
        match self.attrs.get(idx) {
            Some(crate::Attr::Str(it)) => it,
            _ => "",
        }
    }

    /// Calls `look` with the elements of input `idx`.
    pub fn elements(&self, idx: usize, look: impl FnOnce(&View<'_>) -> Result<()>) -> Result<()> {
        match self.operands {
            Operands::Views(all) => look(&all[idx]),
            Operands::Tensors(all) if all[idx].is_known() => all[idx].with_view(|it| look(&it))?,
            Operands::Tensors(_) => {
                self.unseen.set(true);
                Ok(())
            }
        }
    }

    /// Calls `look` with each element of input `idx`, which holds whole numbers.
    pub fn each_int(&self, idx: usize, look: impl FnMut(i64) -> Result<()>) -> Result<()> {
        self.elements(idx, |it| indices(self.op.name, it)?.iter().copied().try_for_each(look))
    }
}

/// Refuses what the op refuses, as far as the elements are there; tells whether all were that it looks at.
pub(crate) fn ahead(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<bool> {
    match op.body {
        Body::Kernels(kernels) => {
            let cx = AdmitCx::new(op, attrs, Operands::Tensors(inputs));
            kernels.iter().filter_map(|it| it.admits).try_for_each(|admits| admits(&cx))?;
            Ok(!cx.unseen.get())
        }
        Body::View(_) | Body::Composed(_) => Ok(true),
        _ if inputs.iter().any(|it| it.dtype().is_float() || it.numel() == 0) => Ok(true),
        _ => faults_ahead(op, inputs, attrs),
    }
}

/// As [`ahead`], for the faults of a lane program on whole numbers.
fn faults_ahead(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<bool> {
    if rules::elementwise_dtypes(&InferCx { op, inputs, attrs })?.0.is_float() {
        return Ok(true);
    }
    let cx = AdmitCx::new(op, attrs, Operands::Tensors(inputs));
    let mut res = Ok(());
    if let Some(expr) = lane::expr_of(op, attrs) {
        expr.each_binary(&mut |op, operand| {
            let (fault, is_bad): (_, fn(f64) -> bool) = match op {
                BinOp::FloorDiv | BinOp::Rem | BinOp::Fmod => {
                    (Fault::DivisionByZero, |it| it == 0.0)
                }
                BinOp::Pow => (Fault::NegativeExponent, |it| it < 0.0),
                _ => return,
            };
            if let (Ok(()), Some(idx)) = (&res, Expr::as_input(operand)) {
                res = cx.elements(idx, |view| {
                    let bad = cast::<f64>(view).iter().any(|&it| is_bad(it));
                    if bad { Err(Error::from(fault)) } else { Ok(()) }
                });
            }
        });
    }
    res.map(|()| !cx.unseen.get())
}
