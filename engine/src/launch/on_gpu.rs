//! Ops with kernels on tensors in the memory of a GPU.

use smallvec::SmallVec;

use crate::cuda::{self, Properties};
use crate::op::{ComposedCx, Cuda, CudaCx, InferCx, Kernel};
use crate::tensor::{Metas, Outputs};
use crate::{Attrs, Device, Error, Layout, OpDef, Result, Tensor};

/// Runs an op by its CUDA side on the GPU of this number; `infer` has given the outputs. Operands on the CPU are sent there.
pub(crate) fn run_on_gpu(
    op: &'static OpDef,
    kernels: &'static [Kernel],
    inputs: &[Tensor],
    attrs: &Attrs,
    metas: Metas,
    index: u8,
) -> Result<Outputs> {
    let device = Device::Cuda(index);
    let side =
        kernels.first().and_then(|it| it.cuda).ok_or(Error::NoKernel { op: op.name, device })?;
    let gpu = cuda::gpu(index)?;
    let takes = |by: fn(&InferCx<'_>, &Properties) -> bool| {
        by(&InferCx { op, inputs, attrs }, gpu.properties())
    };
    let run = match side {
        Cuda::Kernel(run) => run,
        Cuda::Where { takes: by, kernel, .. } if takes(by) => kernel,
        Cuda::Where { composed, .. } => {
            let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
            return composed(&ComposedCx { op, inputs: &inputs, attrs });
        }
    };
    let sent = |it: &Tensor| if it.is_on_gpu() { Ok(it.detach()) } else { it.sent(gpu) };
    let inputs = inputs.iter().map(sent).collect::<Result<SmallVec<[_; 3]>>>()?;
    let made = |it: crate::Meta| -> Result<Tensor> {
        let block = gpu.block_of(&it.shape, it.dtype)?;
        Ok(Tensor::stored(block, Layout::contiguous(it.shape), it.dtype))
    };
    let outputs = metas.into_iter().map(made).collect::<Result<Outputs>>()?;
    run(&CudaCx { op, attrs, gpu, inputs: &inputs, outputs: &outputs })?;
    Ok(outputs)
}
