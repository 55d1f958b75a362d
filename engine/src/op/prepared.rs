//! Kernels in two steps: a case is prepared, once, and then run as often as it comes.

use std::sync::Arc;

use smallvec::SmallVec;

use super::widen::widened;
use super::{AdmitCx, InferCx, Kernel, KernelCx, Method, Run};
use crate::cpu::view::{OutView, View};
use crate::cpu::{elements, interrupt, strided};
use crate::tensor::Tensor;
use crate::{Attrs, Device, Error, Layout, Meta, OpDef, Result, with_size};

/// What a kernel is asked to prepare for: one application, the layouts of its operands, and which of them are the same in every run.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The row.
    pub op: &'static OpDef,
    /// Shapes, dtypes and layouts of the operands, in the dtypes that the kernel will see.
    pub inputs: &'a [Tensor],
    /// The attributes.
    pub attrs: &'a Attrs,
    /// Bits of the operands whose elements are the same in all runs.
    constant: u32,
}

/// A kernel that has decided all that a case decides. It runs on operands of the shapes, dtypes and strides of that case; where they
/// begin may differ.
pub trait Ready: Send + Sync {
    /// Bytes of scratch that a run takes.
    fn workspace(&self) -> usize {
        0
    }

    /// The same, of so many rows of the first operand alone: those that it gives have the same bits. `None` where there is no such thing.
    fn of_rows(&self, _rows: usize) -> Option<Arc<dyn Ready>> {
        None
    }

    /// Computes all outputs.
    fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()>;
}

/// A kernel, prepared for a case.
#[derive(Clone)]
pub struct Prepared {
    /// The kernel.
    pub kernel: &'static Kernel,
    code: Code,
}

#[derive(Clone)]
enum Code {
    Direct(Run),
    Ready(Arc<dyn Ready>),
}

impl<'a> Case<'a> {
    /// An application no operand of which is constant.
    pub fn new(op: &'static OpDef, inputs: &'a [Tensor], attrs: &'a Attrs) -> Self {
        Self { op, inputs, attrs, constant: 0 }
    }

    /// The same, where the elements of these operands are the same in all runs: bit 0 is the first.
    #[must_use]
    pub fn with_constants(self, bits: u32) -> Self {
        Self { constant: bits, ..self }
    }

    /// The same application on other operands; the same of them are constant.
    pub(crate) fn on<'b>(&self, inputs: &'b [Tensor]) -> Case<'b>
    where
        'a: 'b,
    {
        Case { inputs, ..*self }
    }

    /// What the row's functions see of it.
    pub fn seen(&self) -> InferCx<'a> {
        InferCx { op: self.op, inputs: self.inputs, attrs: self.attrs }
    }

    /// The error for a case that no kernel takes.
    pub(crate) fn refused(&self) -> Error {
        self.seen().bad_shapes("no kernel takes this case")
    }

    /// Where it is computed.
    pub fn device(&self) -> Device {
        let mut devices = self.inputs.iter().map(Tensor::device);
        devices.find(|it| *it != Device::Cpu).unwrap_or_default()
    }

    /// Whether the elements of operand `idx` are the same in all runs.
    pub fn is_constant(&self, idx: usize) -> bool {
        idx < 32 && self.constant >> idx & 1 == 1
    }
}

impl Kernel {
    /// Decides what the case decides; `None` where the kernel does not take it.
    pub fn prepare(&'static self, case: &Case<'_>) -> Option<Prepared> {
        if case.device() != Device::Cpu {
            return None;
        }
        let code = match self.method {
            Method::Direct(run) => Code::Direct(run),
            Method::Prepared(prepare) if self.sees(case) => Code::Ready(prepare(case)?),
            Method::Prepared(prepare) => {
                let inputs: SmallVec<[Tensor; 3]> = case.inputs.iter().map(as_computed).collect();
                Code::Ready(prepare(&Case { inputs: &inputs, ..*case })?)
            }
        };
        Some(Prepared { kernel: self, code })
    }

    /// Whether it computes in the operands as they are.
    fn sees(&self, case: &Case<'_>) -> bool {
        self.moves || self.narrow || case.inputs.iter().all(|it| it.dtype().is_arithmetic())
    }
}

/// An operand as the kernel sees it: widened operands lie in row-major order.
fn as_computed(operand: &Tensor) -> Tensor {
    let dtype = operand.dtype();
    if dtype.is_arithmetic() {
        return operand.clone();
    }
    Tensor::abstract_of(Meta::new(operand.shape().clone(), dtype.arithmetic().dtype()))
}

impl Prepared {
    /// Bytes of scratch that a run takes.
    pub fn workspace(&self) -> usize {
        match &self.code {
            Code::Direct(_) => 0,
            Code::Ready(ready) => ready.workspace(),
        }
    }

    /// As [`Ready::of_rows`].
    pub(crate) fn of_rows(&self, rows: usize) -> Option<Self> {
        match &self.code {
            Code::Direct(_) => None,
            Code::Ready(ready) => {
                Some(Self { kernel: self.kernel, code: Code::Ready(ready.of_rows(rows)?) })
            }
        }
    }

    /// Computes all outputs, or tells that the user has stopped it; then they hold nothing of use.
    pub(crate) fn compute(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        let inputs = match cx.inputs.split_first() {
            Some((first, others)) if self.kernel.updates => {
                copy_into(first, &mut cx.outputs[0]);
                others
            }
            _ => cx.inputs,
        };
        let KernelCx { op, attrs, producer, part, stream, .. } = *cx;
        self.run_on(&mut KernelCx {
            op,
            attrs,
            inputs,
            producer,
            outputs: cx.outputs,
            part,
            stream,
        })
    }

    /// Changes what output 0 holds, which is the first operand of an op whose kernel [`updates`](Kernel::updates); `inputs` are the
    /// other operands. Nothing is changed where elements are refused or memory runs out.
    pub(crate) fn update(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        debug_assert!(self.kernel.updates);
        self.run_on(cx)
    }

    fn run_on(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        let kernel = self.kernel;
        let admitted = kernel.admits.map_or(Ok(()), |admits| admits(&AdmitCx::of(kernel, cx)));
        let res = admitted.and_then(|()| {
            if kernel.moves || kernel.narrow { self.run(cx) } else { widened(self, cx) }
        });
        match elements::take_refusal() {
            _ if interrupt::take() => Err(Error::Interrupted),
            Some(refused) => Err(refused.into()),
            None => res,
        }
    }

    /// Runs the code of the kernel as it is.
    pub(super) fn run(&self, cx: &mut KernelCx<'_, '_>) -> Result<()> {
        match &self.code {
            Code::Direct(run) => run(cx),
            Code::Ready(ready) => ready.run(cx),
        }
    }
}

fn copy_into(input: &View<'_>, output: &mut OutView<'_>) {
    let to = Layout::contiguous(output.shape().clone());
    with_size!(input.dtype(), T => {
        strided::copy(input.buffer::<T>(), input.layout(), output.as_mut_slice::<T>(), &to);
    });
}
