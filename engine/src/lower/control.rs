//! Launches of ops that run graphs: their operands become tensors, and what they give goes where the plan wants it.

use smallvec::SmallVec;

use super::plan::outside;
use crate::cpu::lane::machine::Source;
use crate::cpu::view::{OutView, View};
use crate::op::{Body, ControlCx};
use crate::{Attrs, Device, Layout, OpDef, Result, Tensor, storage};

/// Runs an op on operands in the buffers of a plan.
pub(super) fn run(
    op: &'static OpDef,
    attrs: &Attrs,
    inputs: &[Source<'_>],
    outputs: &mut [OutView<'_>],
) -> Result<()> {
    let Body::Control(body) = op.body else { return Err(outside()) };
    let tensor = |it: &Source<'_>| match it {
        Source::View(view) => tensor_of(view),
        Source::Number(number) => Ok(Tensor::from_number(*number)),
        Source::Replaced(_) => Err(outside()),
    };
    let inputs = inputs.iter().map(tensor).collect::<Result<SmallVec<[Tensor; 8]>>>()?;
    let results = body(&ControlCx { op, device: Device::Cpu, inputs: &inputs, attrs })?;
    outputs.iter_mut().zip(&results).try_for_each(|(out, it)| put(out, it))
}

/// The elements of a view as a tensor of its own.
fn tensor_of(view: &View<'_>) -> Result<Tensor> {
    let bytes = crate::with_size!(view.dtype(), T => storage::from_slice(&view.to_slice::<T>()))?;
    let layout = Layout::contiguous(view.shape().clone());
    Ok(Tensor::stored(bytes, layout, view.dtype()))
}

fn put(out: &mut OutView<'_>, result: &Tensor) -> Result<()> {
    if out.dtype() != result.dtype() || out.shape() != result.shape() {
        return Err(outside());
    }
    result.with_view(|view| {
        crate::with_size!(view.dtype(), T => {
            out.as_mut_slice::<T>().copy_from_slice(&view.to_slice::<T>());
        });
    })
}
