//! What a row sees of the elements that it may refuse.

use std::cell::Cell;

use super::widen::wide_input;
use super::{Kernel, KernelCx};
use crate::cpu::elements::Elements;
use crate::cpu::interrupt;
use crate::cpu::lane::cast;
use crate::cpu::view::View;
use crate::{Attr, Attrs, DType, Error, OpDef, Result, Shape, Tensor};

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
    /// What a kernel updates, at which no check looks, and the operands after it.
    Updated(&'a Shape, &'a [View<'a>]),
    Tensors(&'a [Tensor]),
}

impl<'a> AdmitCx<'a> {
    /// For a kernel that is about to run.
    pub(super) fn of(kernel: &Kernel, cx: &'a KernelCx<'_, '_>) -> Self {
        let operands = match kernel.updates {
            true => Operands::Updated(cx.outputs[0].shape(), cx.inputs),
            false => Operands::Views(cx.inputs),
        };
        Self::new(cx.op, cx.attrs, operands)
    }

    /// Before a result is promised.
    pub(crate) fn on_tensors(op: &'static OpDef, inputs: &'a [Tensor], attrs: &'a Attrs) -> Self {
        Self::new(op, attrs, Operands::Tensors(inputs))
    }

    fn new(op: &'static OpDef, attrs: &'a Attrs, operands: Operands<'a>) -> Self {
        Self { op, attrs, operands, unseen: Cell::new(false) }
    }

    /// Whether a look met elements that are still to come.
    pub(crate) fn met_unseen(&self) -> bool {
        self.unseen.get()
    }

    /// Number of operands.
    pub fn n_inputs(&self) -> usize {
        match self.operands {
            Operands::Views(all) => all.len(),
            Operands::Updated(_, others) => 1 + others.len(),
            Operands::Tensors(all) => all.len(),
        }
    }

    /// Shape of input `idx`.
    pub fn shape(&self, idx: usize) -> &Shape {
        match self.operands {
            Operands::Views(all) => all[idx].shape(),
            Operands::Updated(target, others) => {
                idx.checked_sub(1).map_or(target, |it| others[it].shape())
            }
            Operands::Tensors(all) => all[idx].shape(),
        }
    }

    /// Integer attribute `idx` (0 when absent).
    pub fn int(&self, idx: usize) -> i64 {
        super::int(self.attrs, idx)
    }

    /// Bool attribute `idx` (false when absent).
    pub fn flag(&self, idx: usize) -> bool {
        super::flag(self.attrs, idx)
    }

    /// Attribute `idx` as a word ("" when it is none).
    pub fn word(&self, idx: usize) -> &'static str {
        match self.attrs.get(idx) {
            Some(Attr::Str(it)) => it,
            _ => "",
        }
    }

    /// Calls `look` with the elements of input `idx`, in a dtype that kernels compute in.
    pub fn elements(&self, idx: usize, look: impl FnOnce(&View<'_>) -> Result<()>) -> Result<()> {
        let look = |view: &View<'_>| match wide_input(view)? {
            Some(wide) => look(&wide.view()?),
            None => look(view),
        };
        match self.operands {
            Operands::Views(all) => look(&all[idx]),
            Operands::Updated(_, others) => {
                idx.checked_sub(1).map_or(Ok(()), |it| look(&others[it]))
            }
            Operands::Tensors(all) if all[idx].is_known() => all[idx].look(|it| look(&it))?,
            Operands::Tensors(_) => {
                self.unseen.set(true);
                Ok(())
            }
        }
    }

    /// Asks of each element of input `idx`, which holds whole numbers, whether it fits; of the first that does not, `refused` is the error.
    pub fn each_int(
        &self,
        idx: usize,
        fits: impl Fn(i64) -> bool,
        refused: impl Fn(i64) -> Error,
    ) -> Result<()> {
        self.elements(idx, |it| {
            // What is repeated is asked once.
            let once = it.layout().without_repeats();
            let once = once.as_ref().and_then(|layout| it.with_layout(layout));
            let all = indices(self.op.name, once.as_ref().unwrap_or(it))?;
            let mut pieces = interrupt::pieces(all.len());
            pieces.try_for_each(|it| {
                // All of a piece are asked at once: hardly ever does one not fit.
                let piece = &all[it];
                if piece.iter().fold(true, |all, it| all & fits(*it)) {
                    return Ok(());
                }
                let bad = piece.iter().copied().find(|it| !fits(*it));
                bad.map_or(Ok(()), |it| Err(refused(it)))
            })
        })
    }
}

/// The elements of an index tensor.
pub(crate) fn indices<'a>(op: &'static str, view: &View<'a>) -> Result<Elements<'a, i64>> {
    let refused =
        || Err(Error::DType { op, dtype: view.dtype(), allowed: "int64 or int32 as index" });
    match view.dtype() {
        DType::I64 => Ok(view.to_slice::<i64>()),
        DType::I32 | DType::U8 => Ok(cast::<i64>(view)),
        DType::Bool | DType::I8 | DType::I16 | DType::U16 | DType::F16 | DType::BF16 => refused(),
        DType::F32 | DType::F64 | DType::C64 | DType::C128 => refused(),
    }
}
