//! Ops with kernels on tensors in the memory of a GPU.

use smallvec::SmallVec;

use crate::cuda::{self, Gpu};
use crate::op::{Body, Composed, ComposedCx, Cuda, CudaCx, Finish, InferCx, Kernel};
use crate::tensor::{Metas, Outputs};
use crate::{Attrs, Device, Error, Layout, OpDef, Result, Tensor};

/// What runs a body of other ops, on float32 where it widens halves. Who asks for a run hands it over: it applies ops, and so stands above.
pub(crate) type Compose = fn(Composed, &ComposedCx<'_>) -> Result<Outputs>;

/// Runs an op by its CUDA side on the GPU of this number; `infer` has given the outputs. Operands on the CPU are sent there.
pub(crate) fn run_on_gpu(
    op: &'static OpDef,
    kernels: &'static [Kernel],
    inputs: &[Tensor],
    attrs: &Attrs,
    metas: Metas,
    (index, compose): (u8, Compose),
) -> Result<Outputs> {
    let gpu = cuda::gpu(index)?;
    let run = match way(op, kernels, gpu, inputs, attrs)? {
        Way::Kernel(run) => run,
        Way::Composed(body) => {
            let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
            return compose(body, &ComposedCx { op, inputs: &inputs, attrs });
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

/// Runs an op of a plan whose row has kernels for GPUs that run what follows on their first result.
pub(crate) fn run_finished(
    op: &'static OpDef,
    gpu: &'static Gpu,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: &[Tensor],
    finish: &dyn Finish,
) -> Result<()> {
    let kernel = match op.body {
        Body::Kernels([Kernel { cuda: Some(Cuda::Kernel(run)), .. }, ..]) => run,
        _ => return Err(Error::NoKernel { op: op.name, device: Device::Cuda(gpu.index()) }),
    };
    kernel(&CudaCx { op, attrs, gpu, inputs, outputs, finish: Some(finish) })
}

/// Runs an op of a plan by its CUDA side, on operands in the memory of the GPU. The results are tensors of `targets`, if the row has kernels
/// of its own, or others.
pub(crate) fn run_within(
    op: &'static OpDef,
    (gpu, compose): (&'static Gpu, Compose),
    inputs: &[Tensor],
    attrs: &Attrs,
    targets: impl FnOnce() -> Result<SmallVec<[Tensor; 4]>>,
) -> Result<SmallVec<[Tensor; 4]>> {
    let Body::Kernels(kernels) = op.body else {
        return Err(Error::Trace { problem: format!("{} cannot be compiled", op.name) });
    };
    match way(op, kernels, gpu, inputs, attrs)? {
        Way::Kernel(run) => {
            let outputs = targets()?;
            run(&CudaCx { op, attrs, gpu, inputs, outputs: &outputs, finish: None })?;
            Ok(outputs)
        }
        Way::Composed(body) => {
            let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
            Ok(compose(body, &ComposedCx { op, inputs: &inputs, attrs })?.into_iter().collect())
        }
    }
}

/// How a GPU computes a case.
enum Way {
    Kernel(fn(&CudaCx<'_>) -> Result<()>),
    Composed(Composed),
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
