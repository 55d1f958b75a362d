//! Kernels: the algorithms that rows name.

use std::sync::Arc;

use super::{AdmitCx, Case, Composed, Cuda, CudaCx, InferCx, OpDef, Ready};
use crate::attr::attr_readers;
use crate::cpu::lane::{Input, Part, Producer};
use crate::cpu::view::{OutView, View};
use crate::cuda::Properties;
use crate::random::Stream;
use crate::{Attrs, DType, Result};

/// One algorithm for an op.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// `gemm.packed`; unique within the op.
    pub name: &'static str,
    /// The plain version, right but slow; fast-run leaves it out unless asked.
    pub naive: bool,
    /// Same inputs give the same bits on every run and thread count.
    pub reproducible: bool,
    /// Multiplications and additions, where there are many for each element; a row's first kernel tells.
    pub flops: fn(&InferCx<'_>) -> usize,
    /// Refuses elements that the op does not take, positions outside a dimension say. It runs before every run of the kernel, which
    /// relies on it. A trace asks before it promises a result, so that the error comes from the line that made the mistake, and
    /// nothing was changed after it.
    pub admits: Option<fn(&AdmitCx<'_>) -> Result<()>>,
    /// Whether it is there for what it refuses alone, so that it runs where nobody uses what it gives, too.
    pub only_checks: bool,
    /// Whether it takes elements of every dtype as they are, since it only moves them or fills with given bits. Others compute: for
    /// them, dtypes that are no [`crate::dtype::Arithmetic`] are converted before and after.
    pub moves: bool,
    /// Whether it takes and makes narrow dtypes itself, instead of wider ones that are converted before and rounded afterwards: float16,
    /// bfloat16, integers of 8 bits.
    pub narrow: bool,
    /// Whether it changes parts of its first operand: output 0 begins as a copy of that, which the kernel does not make. Where nobody
    /// else can see the operand, its own buffer is the output. Such a kernel writes nothing before it has all that it asks memory for.
    pub updates: bool,
    /// Whether it hands over each part of its first output, once that is done, to what follows on it ([`KernelCx::part`]).
    pub finishes: bool,
    /// The dtype in which it reads its first operand where it takes that in pieces (`KernelCx::operand`), so that elementwise ops
    /// can make these when it is about to read them; `None` where it reads that operand as a whole.
    pub prologue: fn(&InferCx<'_>) -> Option<DType>,
    /// How it comes to run.
    pub method: Method,
    /// How the op is computed on a GPU; a row's first kernel tells.
    pub cuda: Option<Cuda>,
    /// Whether that runs what follows on each element of its first output (`CudaCx::finish`).
    pub finishes_on_cuda: bool,
}

/// Computes all outputs; reached through [`super::Prepared`] alone.
pub type Run = fn(&mut KernelCx<'_, '_>) -> Result<()>;

/// How a kernel comes to run.
#[derive(Clone, Copy)]
pub enum Method {
    /// At once: it takes all that its row admits, and needs no scratch.
    Direct(Run),
    /// In two steps: it decides what the shapes, dtypes and layouts of a case decide, once; `None` where it does not take the case.
    Prepared(fn(&Case<'_>) -> Option<Arc<dyn Ready>>),
}

impl Kernel {
    /// A reproducible kernel that takes everything its row admits and needs no scratch.
    pub const fn new(name: &'static str, run: Run) -> Self {
        Self::by(name, Method::Direct(run))
    }

    const fn by(name: &'static str, method: Method) -> Self {
        Self {
            name,
            naive: false,
            reproducible: true,
            flops: |_| 0,
            admits: None,
            only_checks: false,
            moves: false,
            narrow: false,
            updates: false,
            finishes: false,
            prologue: |_| None,
            method,
            cuda: None,
            finishes_on_cuda: false,
        }
    }

    /// A reproducible kernel that decides before it runs.
    pub const fn prepared(
        name: &'static str,
        prepare: fn(&Case<'_>) -> Option<Arc<dyn Ready>>,
    ) -> Self {
        Self::by(name, Method::Prepared(prepare))
    }

    /// A kernel that only moves elements, whatever they are.
    pub const fn moving(name: &'static str, run: Run) -> Self {
        Self { moves: true, ..Self::new(name, run) }
    }

    /// The same kernel, which takes and makes narrow dtypes itself.
    pub const fn taking_narrow(mut self) -> Self {
        self.narrow = true;
        self
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

    /// The same kernel, which takes its first operand in pieces, in the dtype that the function gives.
    pub const fn with_prologue(mut self, prologue: fn(&InferCx<'_>) -> Option<DType>) -> Self {
        self.prologue = prologue;
        self
    }

    /// The same kernel, beside one for GPUs.
    pub const fn on_cuda(mut self, run: fn(&CudaCx<'_>) -> Result<()>) -> Self {
        self.cuda = Some(Cuda::Kernel(run));
        self
    }

    /// As [`Kernel::on_cuda`], where the kernel for GPUs runs what follows on its first output, too.
    pub const fn finishing_on_cuda(mut self, run: fn(&CudaCx<'_>) -> Result<()>) -> Self {
        self.finishes_on_cuda = true;
        self.on_cuda(run)
    }

    /// The same kernel; a GPU computes the op by other ops.
    pub const fn composed_on_cuda(mut self, body: Composed) -> Self {
        self.cuda = Some(Cuda::Composed(body));
        self
    }

    /// The same kernel, beside one for GPUs that takes some cases; a GPU computes the others by other ops.
    pub const fn on_cuda_where(
        mut self,
        takes: fn(&InferCx<'_>, &Properties) -> bool,
        kernel: fn(&CudaCx<'_>) -> Result<()>,
        composed: Composed,
    ) -> Self {
        self.cuda = Some(Cuda::Where { takes, kernel, composed });
        self
    }

    /// The same kernel with a check of its operands.
    pub const fn admitting(mut self, admits: fn(&AdmitCx<'_>) -> Result<()>) -> Self {
        self.admits = Some(admits);
        self
    }

    /// The same kernel, which is there for its check alone.
    pub const fn only_checking(mut self) -> Self {
        self.only_checks = true;
        self
    }
}

/// Inputs and outputs of one kernel run. Outputs are contiguous and of the inferred shapes.
pub struct KernelCx<'a, 'b> {
    pub op: &'static OpDef,
    pub attrs: &'a Attrs,
    /// The operands; for a kernel that updates, those after the first, which output 0 holds.
    pub inputs: &'a [View<'b>],
    /// What makes the first operand, if that is made in pieces; its view has a shape and a dtype then, and no elements.
    pub producer: Option<&'a Producer<'a>>,
    pub outputs: &'a mut [OutView<'b>],
    /// What follows on output 0; nothing unless the kernel [`finishes`](Kernel::finishes).
    pub part: Part<'a>,
    /// What the device's random numbers come from.
    pub stream: &'a Stream,
}

impl<'a> KernelCx<'a, '_> {
    /// The first operand of a kernel that takes it in pieces ([`Kernel::prologue`]).
    pub(crate) fn operand(&self) -> Input<'a> {
        self.producer.map_or(Input::View(self.inputs[0]), Input::Made)
    }
}

attr_readers!(KernelCx<'_, '_>);
