//! Kernels: the algorithms that rows name, and one run of one.

use super::widen::widened;
use super::{AdmitCx, InferCx, OpDef};
use crate::attr::attr_readers;
use crate::cpu::lane::Part;
use crate::cpu::view::{OutView, View};
use crate::cpu::{elements, interrupt, strided};
use crate::{Attrs, Error, Layout, Result, with_size};

/// One algorithm for an op on one device.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// `gemm.packed`; unique within the op.
    pub name: &'static str,
    /// The plain version, right but slow; fast-run leaves it out unless asked.
    pub naive: bool,
    /// Same inputs give the same bits on every run and thread count.
    pub reproducible: bool,
    /// Whether it can compute this application.
    pub usable: fn(&InferCx<'_>) -> bool,
    /// Bytes of scratch it allocates.
    pub workspace: fn(&InferCx<'_>) -> usize,
    /// Multiplications and additions, where there are many for each element; a row's first kernel tells.
    pub flops: fn(&InferCx<'_>) -> usize,
    /// Refuses elements that the op does not take, positions outside a dimension say. It runs before every run of the kernel, which
    /// relies on it. A trace asks before it promises a result, so that the error comes from the line that made the mistake, and
    /// nothing was changed after it.
    pub admits: Option<fn(&AdmitCx<'_>) -> Result<()>>,
    /// Whether it takes elements of every dtype as they are, since it only moves them or fills with given bits. Others compute: for
    /// them, dtypes that are no [`crate::dtype::Arithmetic`] are converted before and after.
    pub moves: bool,
    /// Whether it changes parts of its first operand: output 0 begins as a copy of that, which the kernel does not make. Where nobody
    /// else can see the operand, its own buffer is the output. Such a kernel writes nothing before it has all that it asks memory for.
    pub updates: bool,
    /// Whether it hands over each part of its first output, once that is done, to what follows on it ([`KernelCx::part`]).
    pub finishes: bool,
    /// Computes all outputs; reached through `compute` and `update` alone.
    pub run: fn(&mut KernelCx<'_, '_>) -> Result<()>,
}

impl Kernel {
    /// Computes all outputs, or tells that the user has stopped it; then they hold nothing of use.
    pub(crate) fn compute(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        let inputs = match cx.inputs.split_first() {
            Some((first, others)) if self.updates => {
                copy_into(first, &mut cx.outputs[0]);
                others
            }
            _ => cx.inputs,
        };
        let (op, attrs, part) = (cx.op, cx.attrs, cx.part);
        self.run_on(&mut KernelCx { op, attrs, inputs, outputs: cx.outputs, part })
    }

    /// Changes what output 0 holds, which is the first operand of an op whose kernel [`updates`](Self::updates); `inputs` are the
    /// other operands. Nothing is changed where elements are refused or memory runs out.
    pub(crate) fn update(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        debug_assert!(self.updates);
        self.run_on(cx)
    }

    fn run_on(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        let admitted = self.admits.map_or(Ok(()), |admits| admits(&AdmitCx::of(self, cx)));
        let res =
            admitted.and_then(|()| if self.moves { (self.run)(cx) } else { widened(self, cx) });
        match elements::take_refusal() {
            _ if interrupt::take() => Err(Error::Interrupted),
            Some(refused) => Err(refused.into()),
            None => res,
        }
    }

    /// A reproducible kernel that takes everything its row admits and needs no scratch.
    pub const fn new(name: &'static str, run: fn(&mut KernelCx<'_, '_>) -> Result<()>) -> Self {
        Self {
            name,
            naive: false,
            reproducible: true,
            usable: |_| true,
            workspace: |_| 0,
            flops: |_| 0,
            admits: None,
            moves: false,
            updates: false,
            finishes: false,
            run,
        }
    }

    /// A kernel that only moves elements, whatever they are.
    pub const fn moving(name: &'static str, run: fn(&mut KernelCx<'_, '_>) -> Result<()>) -> Self {
        Self { moves: true, ..Self::new(name, run) }
    }

    /// The same kernel, which changes parts of its first operand.
    pub const fn updating(mut self) -> Self {
        self.updates = true;
        self
    }

    /// The same kernel, which hands over each part of its first output once that is done.
    pub const fn finishing(mut self) -> Self {
        self.finishes = true;
        self
    }

    /// The same kernel with a check of its operands.
    pub const fn admitting(mut self, admits: fn(&AdmitCx<'_>) -> Result<()>) -> Self {
        self.admits = Some(admits);
        self
    }
}

/// Inputs and outputs of one kernel run. Outputs are contiguous and of the inferred shapes.
pub struct KernelCx<'a, 'b> {
    pub op: &'static OpDef,
    pub attrs: &'a Attrs,
    /// The operands; for a kernel that updates, those after the first, which output 0 holds.
    pub inputs: &'a [View<'b>],
    pub outputs: &'a mut [OutView<'b>],
    /// What follows on output 0; nothing unless the kernel [`finishes`](Kernel::finishes).
    pub part: Part<'a>,
}

attr_readers!(KernelCx<'_, '_>);

fn copy_into(input: &View<'_>, output: &mut OutView<'_>) {
    let to = Layout::contiguous(output.shape().clone());
    with_size!(input.dtype(), T => {
        strided::copy(input.buffer::<T>(), input.layout(), output.as_mut_slice::<T>(), &to);
    });
}
