//! Kernels on tensors: buffers for the outputs, views of the inputs, one run.

mod on_gpu;

use smallvec::SmallVec;

use crate::cpu::alloc::Bytes;
use crate::cpu::lane::Part;
use crate::cpu::view::{OutView, View};
use crate::cpu::{interrupt, strided, typed};
use crate::op::{KernelCx, Prepared};
use crate::random::Stream;
use crate::tensor::{Metas, Outputs};
pub(crate) use on_gpu::{Compose, run_finished, run_on_gpu, run_within};

use crate::{Attrs, Buffer, Error, Layout, Meta, OpDef, Result, Tensor};

/// Runs a kernel of an op that is prepared for these operands; `infer` has given the outputs, and random numbers come from `stream`.
pub(crate) fn run_kernel(
    op: &'static OpDef,
    kernel: &Prepared,
    inputs: &[Tensor],
    attrs: &Attrs,
    metas: Metas,
    stream: &Stream,
) -> Result<Outputs> {
    let buffers = metas.iter().map(|it| Ok(Bytes::of(&it.shape, it.dtype)?));
    let mut buffers: SmallVec<[_; 1]> = all(buffers)?;
    let outputs = buffers.iter_mut().zip(&metas).map(|(bytes, meta)| {
        OutView::new(bytes, &meta.shape, meta.dtype)
            .ok_or(Error::TooLarge { op: op.name, shape: meta.shape.clone() })
    });
    run_to(op, kernel, inputs, attrs, outputs, stream)?;
    let stored = |(bytes, meta): (Bytes, Meta)| {
        Tensor::stored(bytes, Layout::contiguous(meta.shape), meta.dtype)
    };
    Ok(buffers.into_iter().zip(metas).map(stored).collect())
}

/// As [`run_kernel`], with the results where these views are, which no operand sees.
#[inline]
pub(crate) fn run_to<'a>(
    op: &'static OpDef,
    kernel: &Prepared,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: impl Iterator<Item = Result<OutView<'a>>>,
    stream: &Stream,
) -> Result<()> {
    let storages: SmallVec<[_; 3]> = all(inputs.iter().map(Tensor::storage))?;
    let views: SmallVec<[_; 3]> =
        all(inputs.iter().zip(&storages).map(|(it, buffer)| view_of(it, buffer)))?;
    let mut targets: SmallVec<[_; 1]> = SmallVec::new();
    for it in outputs {
        targets.push(it?);
    }
    kernel.compute(&mut KernelCx {
        op,
        attrs,
        inputs: &views,
        producer: None,
        outputs: &mut targets,
        part: Part::NONE,
        stream,
    })
}

/// Runs a kernel that updates where the elements of `target` are, which lie in row-major order in a buffer that nobody else has;
/// false, with nothing changed, if they do not. Random numbers come from `stream`. An interrupt waits for the end.
pub(crate) fn update(
    op: &'static OpDef,
    kernel: &Prepared,
    target: &mut Tensor,
    others: &[Tensor],
    attrs: &Attrs,
    stream: &Stream,
) -> Result<bool> {
    let storages: SmallVec<[_; 3]> = all(others.iter().map(Tensor::storage))?;
    let views: SmallVec<[_; 3]> =
        all(others.iter().zip(&storages).map(|(it, buffer)| view_of(it, buffer)))?;
    let (Meta { shape, dtype }, first) = (target.meta(), target.layout().offset);
    let lies_plain = target.layout().is_contiguous();
    let Some(bytes) = target.own_bytes().filter(|_| lies_plain) else { return Ok(false) };
    let Some(output) = OutView::from_element(bytes, first, &shape, dtype) else {
        return Ok(false);
    };
    let run = || {
        kernel.update(&mut KernelCx {
            op,
            attrs,
            inputs: &views,
            producer: None,
            outputs: &mut [output],
            part: Part::NONE,
            stream,
        })
    };
    let written = others.iter().map(Tensor::numel).max().unwrap_or(0);
    interrupt::unstopped(written, run).ok_or(Error::Interrupted)??;
    Ok(true)
}

/// The items, unless there is an error among them. A loop: `collect` takes several times as long for the few that a call has.
#[inline(always)]
fn all<T, const N: usize>(items: impl Iterator<Item = Result<T>>) -> Result<SmallVec<[T; N]>> {
    let mut res = SmallVec::new();
    for it in items {
        res.push(it?);
    }
    Ok(res)
}

pub(crate) fn view_of<'a>(tensor: &'a Tensor, buffer: &'a Buffer) -> Result<View<'a>> {
    let view = View::new(buffer.host()?, tensor.layout(), tensor.dtype());
    let view = view.ok_or_else(Error::outside_storage)?;
    if tensor.requires_grad() {
        buffer.packs().open();
    }
    Ok(view.beside(buffer.packs()))
}

/// The same elements in row-major order without gaps (off the tape).
pub(crate) fn contiguous(input: &Tensor) -> Result<Tensor> {
    if input.layout().is_contiguous() && input.as_number().is_none() {
        return Ok(input.clone());
    }
    if input.is_on_gpu() {
        return input.gathered();
    }
    let layout = Layout::contiguous(input.shape().clone());
    let mut storage = Bytes::of(input.shape(), input.dtype())?;
    input.look(|view| {
        crate::with_size!(input.dtype(), T => {
            let out = typed::slice_mut::<T>(&mut storage);
            strided::copy(view.buffer::<T>(), view.layout(), out, &layout);
        });
    })?;
    Ok(Tensor::stored(storage, layout, input.dtype()))
}
