//! Kernels on dtypes that they do not compute in: narrow integers and halves are converted before, and the results after.
//!
//! So halves are multiplied and added up in float32, and rounded once.

use smallvec::SmallVec;

use super::{ComposedCx, DTypeRule, KernelCx, Prepared};
use crate::cpu::alloc::Bytes;
use crate::cpu::lane::{Part, cast_into};
use crate::cpu::view::{OutView, View};
use crate::{DType, Error, Layout, Result, Tensor};

/// Runs the kernel on elements of dtypes that it computes in.
pub(super) fn widened(prepared: &Prepared, cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let inputs = cx.inputs.iter().map(View::dtype);
    if inputs.chain(cx.outputs.iter().map(OutView::dtype)).all(DType::is_arithmetic) {
        return prepared.run(cx);
    }
    let mut dtypes = cx.inputs.iter().map(View::dtype).chain(cx.outputs.iter().map(OutView::dtype));
    if let Some(dtype) = dtypes.find(|it| it.is_complex()) {
        return Err(Error::DType { op: cx.op.name, dtype, allowed: "real numbers" });
    }
    let wide = cx.inputs.iter().map(wide_input).collect::<Result<SmallVec<[_; 3]>>>()?;
    let views = cx.inputs.iter().zip(&wide).map(|(it, wide)| match wide {
        Some(wide) => wide.view(),
        None => Ok(*it),
    });
    let views = views.collect::<Result<SmallVec<[View<'_>; 3]>>>()?;
    let buffers =
        cx.outputs.iter().enumerate().map(|(at, it)| match prepared.kernel.updates && at == 0 {
            true => wide_copy(it),
            false => wide_buffer(it.shape().numel(), it.dtype()),
        });
    let mut buffers = buffers.collect::<Result<SmallVec<[_; 1]>>>()?;
    let outputs = cx.outputs.iter_mut().zip(&mut buffers).map(|(it, wide)| {
        let (shape, dtype) = (it.shape(), it.dtype().arithmetic().dtype());
        let too_large = || Error::TooLarge { op: cx.op.name, shape: shape.clone() };
        match wide {
            Some(bytes) => OutView::new(bytes, shape, dtype).ok_or_else(too_large),
            None => Ok(it.reborrow()),
        }
    });
    let mut outputs = outputs.collect::<Result<SmallVec<[_; 1]>>>()?;
    let (op, attrs) = (cx.op, cx.attrs);
    prepared.run(&mut KernelCx {
        op,
        attrs,
        inputs: &views,
        producer: cx.producer,
        outputs: &mut outputs,
        part: Part::NONE,
        stream: cx.stream,
    })?;
    drop(outputs);
    for (output, bytes) in cx.outputs.iter_mut().zip(buffers) {
        if let Some(bytes) = bytes {
            let layout = Layout::contiguous(output.shape().clone());
            let wide = Wide { bytes, layout, dtype: output.dtype().arithmetic().dtype() };
            cast_into(&wide.view()?, output);
        }
    }
    Ok(())
}

/// A copy of an input in another dtype.
pub(super) struct Wide {
    bytes: Bytes,
    layout: Layout,
    dtype: DType,
}

impl Wide {
    pub(super) fn view(&self) -> Result<View<'_>> {
        View::new(&self.bytes, &self.layout, self.dtype).ok_or_else(Error::outside_storage)
    }
}

/// The elements in the dtype to compute in; `None` where they are in it.
pub(super) fn wide_input(input: &View<'_>) -> Result<Option<Wide>> {
    let Some(mut bytes) = wide_buffer(input.shape().numel(), input.dtype())? else {
        return Ok(None);
    };
    let (layout, dtype) =
        (Layout::contiguous(input.shape().clone()), input.dtype().arithmetic().dtype());
    if let Some(mut output) = OutView::new(&mut bytes, input.shape(), dtype) {
        cast_into(input, &mut output);
    }
    Ok(Some(Wide { bytes, layout, dtype }))
}

/// As [`wide_buffer`], with what an output holds.
fn wide_copy(output: &OutView<'_>) -> Result<Option<Bytes>> {
    let layout = Layout::contiguous(output.shape().clone());
    let held = output.held(&layout).ok_or_else(Error::outside_storage)?;
    Ok(wide_input(&held)?.map(|it| it.bytes))
}

fn wide_buffer(numel: usize, dtype: DType) -> Result<Option<Bytes>> {
    if dtype.is_arithmetic() {
        return Ok(None);
    }
    Ok(Some(Bytes::uninit(numel.saturating_mul(dtype.arithmetic().dtype().size()))?))
}

impl ComposedCx<'_> {
    /// Whether halves among the operands of a composed op are taken as float32: of one that computes, so that it rounds once, as an op
    /// with a kernel of its own does.
    pub(crate) fn widens(&self) -> bool {
        let computes = !matches!(self.op.dtypes, DTypeRule::Any | DTypeRule::OfParts(_));
        computes && self.inputs.iter().flatten().any(|it| it.dtype().is_half())
    }

    /// The dtype of result `at` then, which comes out as `dtype`.
    pub(crate) fn rounded(&self, at: usize, dtype: DType) -> DType {
        let mut given = self.inputs.iter().flatten().map(Tensor::dtype).filter(|it| it.is_float());
        let own = match self.op.dtypes {
            DTypeRule::FloatsLikeFirst if at == 0 => given.next(),
            // Statistics are kept as they are computed.
            DTypeRule::FloatsLikeFirst => None,
            _ => given.reduce(DType::promote),
        };
        match own {
            Some(half) if half.is_half() && dtype == DType::F32 => half,
            _ => dtype,
        }
    }
}
