//! Ops with kernels on tensors in the memory of a GPU.

use smallvec::SmallVec;

use crate::cuda::{self, Gpu};
use crate::lane::Program;
use crate::op::{Body, ComposedCx, Cuda, CudaCx, Finish, InferCx, Kernel};
use crate::tensor::{Metas, Outputs};
use crate::{Attrs, Device, Error, Layout, Number, OpDef, Result, Tensor};

/// Runs an op by its CUDA side on the GPU of this number; `infer` has given the outputs. Operands on the CPU are sent there.
pub(crate) fn run_on_gpu(
    op: &'static OpDef,
    kernels: &'static [Kernel],
    inputs: &[Tensor],
    attrs: &Attrs,
    metas: Metas,
    index: u8,
) -> Result<Outputs> {
    let gpu = cuda::gpu(index)?;
    let run = match way(op, kernels, gpu, inputs, attrs)? {
        Way::Kernel(run) => run,
        Way::Composed(body) => {
            let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
            return body(&ComposedCx { op, inputs: &inputs, attrs });
        }
    };
    let sent = |it: &Tensor| if it.is_on_gpu() { Ok(it.detach()) } else { it.sent(gpu) };
    let inputs = inputs.iter().map(sent).collect::<Result<SmallVec<[_; 3]>>>()?;
    let made = |it: crate::Meta| -> Result<Tensor> {
        let block = gpu.block_of(&it.shape, it.dtype)?;
        Ok(Tensor::stored(block, Layout::contiguous(it.shape), it.dtype))
    };
    let outputs = metas.into_iter().map(made).collect::<Result<Outputs>>()?;
    run(&CudaCx { op, attrs, gpu, inputs: &inputs, outputs: &outputs, finish: None })?;
    Ok(outputs)
}

/// What follows on the first result of an op of a plan: a program, its numbers and its other inputs, how many results are the op's, and
/// whether the program's first takes the place of the op's first.
pub(crate) struct Follows<'a> {
    pub(crate) program: &'a Program,
    pub(crate) numbers: &'a [Number],
    pub(crate) inputs: &'a [Tensor],
    pub(crate) n_own: usize,
    pub(crate) replaces: bool,
}

/// Runs an op of a plan by its CUDA side, on operands in the memory of the GPU, and what follows on its first result. The results are
/// tensors of `targets`, if the row has kernels of its own, or others.
pub(crate) fn run_within(
    op: &'static OpDef,
    gpu: &'static Gpu,
    inputs: &[Tensor],
    attrs: &Attrs,
    follows: Option<Follows<'_>>,
    targets: impl FnOnce() -> Result<SmallVec<[Tensor; 4]>>,
) -> Result<SmallVec<[Tensor; 4]>> {
    let Body::Kernels(kernels) = op.body else {
        return Err(Error::Trace { problem: format!("{} cannot be compiled", op.name) });
    };
    match way(op, kernels, gpu, inputs, attrs)? {
        Way::Kernel(run) => {
            let made = targets()?;
            let (outputs, others) =
                made.split_at(follows.as_ref().map_or(made.len(), |it| it.n_own));
            let finish = follows.map(|Follows { program, numbers, inputs, replaces, .. }| Finish {
                program,
                numbers,
                inputs,
                outputs: others,
                replaces,
            });
            run(&CudaCx { op, attrs, gpu, inputs, outputs, finish })?;
            Ok(made)
        }
        Way::Composed(body) => {
            let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
            Ok(body(&ComposedCx { op, inputs: &inputs, attrs })?.into_iter().collect())
        }
    }
}

/// How a GPU computes a case.
enum Way {
    Kernel(fn(&CudaCx<'_>) -> Result<()>),
    Composed(fn(&ComposedCx<'_>) -> Result<Outputs>),
}

fn way(
    op: &'static OpDef,
    kernels: &'static [Kernel],
    gpu: &Gpu,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<Way> {
    let device = Device::Cuda(gpu.index());
    let side = kernels.first().and_then(|it| it.cuda);
    Ok(match side.ok_or(Error::NoKernel { op: op.name, device })? {
        Cuda::Kernel(run) => Way::Kernel(run),
        Cuda::Composed(body) => Way::Composed(body),
        Cuda::Where { takes, kernel, composed } => {
            match takes(&InferCx { op, inputs, attrs }, gpu.properties()) {
                true => Way::Kernel(kernel),
                false => Way::Composed(composed),
            }
        }
    })
}
