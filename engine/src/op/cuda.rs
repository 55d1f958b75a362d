//! The CUDA side of a row: how a GPU computes the op.

use smallvec::SmallVec;

use super::{Composed, InferCx, OpDef};
use crate::attr::attr_readers;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::Parameters;
use crate::cuda::{Block, Defines, Gpu, Properties};
use crate::{Attr, Attrs, DType, Error, Layout, Result, Shape, Tensor};

/// How a GPU computes an op.
#[derive(Clone, Copy)]
pub enum Cuda {
    /// By kernels of its own.
    Kernel(fn(&CudaCx<'_>) -> Result<()>),
    /// By other ops.
    Composed(Composed),
    /// By kernels of its own where they take the case, else by other ops.
    Where {
        takes: fn(&InferCx<'_>, &Properties) -> bool,
        kernel: fn(&CudaCx<'_>) -> Result<()>,
        composed: Composed,
    },
}

/// Operands and results of one run on a GPU. All lie in its memory; the results are in row-major order and of the inferred shapes.
pub struct CudaCx<'a> {
    pub op: &'static OpDef,
    pub attrs: &'a Attrs,
    pub(crate) gpu: &'static Gpu,
    pub(crate) inputs: &'a [Tensor],
    pub(crate) outputs: &'a [Tensor],
    /// What follows on the first result; nothing unless the kernel [`finishes_on_cuda`](super::Kernel::finishes_on_cuda).
    pub(crate) finish: Option<&'a dyn Finish>,
}

/// A program that follows on each element of the first result of a kernel, as the kernel's template takes it.
pub(crate) trait Finish {
    /// What `NG_FINISH` of the template is: a structure that runs it on packs of results.
    fn text(&self) -> &str;

    /// Where else packs are read and written, and the bytes of an element there.
    fn places(&self) -> Result<SmallVec<[(Address, usize); 4]>>;

    /// The structure, behind the other parameters of the kernel.
    fn put(&self, parameters: Parameters) -> Result<Parameters>;
}

attr_readers!(CudaCx<'_>);

impl CudaCx<'_> {
    /// What the row's functions see of it.
    pub(crate) fn seen(&self) -> InferCx<'_> {
        InferCx { op: self.op, inputs: self.inputs, attrs: self.attrs }
    }

    /// Where the first element of operand `idx` is.
    pub(crate) fn input(&self, idx: usize) -> Result<Address> {
        self.inputs[idx].address()
    }

    /// Where the first element of result `idx` is.
    pub(crate) fn output(&self, idx: usize) -> Result<Address> {
        self.outputs[idx].address()
    }

    pub(crate) fn dtype(&self, idx: usize) -> DType {
        self.inputs[idx].dtype()
    }

    pub(crate) fn shape(&self, idx: usize) -> &Shape {
        self.inputs[idx].shape()
    }

    pub(crate) fn layout(&self, idx: usize) -> &Layout {
        self.inputs[idx].layout()
    }

    /// Operand `idx` in row-major order: itself, or a copy.
    pub(crate) fn plain(&self, idx: usize) -> Result<Tensor> {
        self.inputs[idx].gathered()
    }

    /// Scratch, which may go when the call returns: what is asked of the device comes in order.
    pub(crate) fn scratch(&self, bytes: usize) -> Result<Block> {
        self.gpu.block(bytes)
    }

    /// Attribute `idx` as a word ("" when it is none).
    pub(crate) fn word(&self, idx: usize) -> &'static str {
        match self.attrs.get(idx) {
            Some(Attr::Str(it)) => it,
            _ => "",
        }
    }

    /// Asks for a run of a template under these names.
    pub(crate) fn run(
        &self,
        name: &'static str,
        template: &'static str,
        defines: Defines<'_>,
        grid: Grid,
        parameters: &Parameters,
    ) -> Result<()> {
        let function = self.gpu.function(name, template, defines)?;
        self.gpu.launch(function, grid, parameters)
    }

    /// Where a kernel notes what it refuses, an error that `meaning` makes of its notes.
    pub(crate) fn faults(
        &self,
        meaning: impl Fn(u32, i64) -> Error + Send + Sync + 'static,
    ) -> Result<Address> {
        self.gpu.fault_slot(Box::new(meaning))
    }
}
