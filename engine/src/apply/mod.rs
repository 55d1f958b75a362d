//! The one entry for op application: infer, then replay, view, choose a kernel and run; then tape and trace.

pub mod anomaly;
pub mod autocast;
pub(crate) mod complex;
pub(crate) mod compose;
mod cuts;
pub mod default_dtype;
mod in_place;
mod into;
mod onto;
pub(crate) mod pieces;
pub mod place;
mod prepared;
mod record;

pub use in_place::{apply_in_place, apply_to_itself};
pub use into::{apply_into, fill_in_order};
pub use onto::{LEAST as LEAST_TAKEN_OVER, apply_onto};

use std::cell::Cell;

use smallvec::{SmallVec, smallvec};

use anomaly::Watch;
use compose::{compose, compose_kernel};

use crate::interpreter::{self, Interpreter};
use crate::launch::{contiguous, run_kernel, run_on_gpu};
use crate::op::{Body, Case, Composed, ComposedCx, ControlCx, InferCx, OpDef, ParamKind};
use crate::random::HOST;
use crate::tape::{self, Mark};
use crate::tensor::{Metas, Outputs};
use crate::{
    Attrs, Device, Error, Layout, Meta, Result, Scope, Tensor, buffer, estimate, lane, rules,
};

thread_local! {
    static SHAPES_ONLY: Cell<bool> = const { Cell::new(false) };
}

/// While on, ops of this thread infer shapes and dtypes and compute nothing; gives what was set before.
pub fn set_shapes_only(on: bool) -> bool {
    SHAPES_ONLY.replace(on)
}

/// Whether ops of this thread compute nothing.
pub fn is_shapes_only() -> bool {
    SHAPES_ONLY.get()
}

/// Applies an op that has one output.
pub fn apply_one(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Tensor> {
    apply(op, inputs, attrs)?.pop().ok_or(Error::Arity { op: op.name, expected: 1, got: 0 })
}

/// As [`apply_one`] on two operands, which are only borrowed: what the operators of a language call. The plain case, elementwise on one
/// device with nothing to record, does without everything that only the others need.
pub fn apply_two(op: &'static OpDef, a: &Tensor, b: &Tensor, attrs: &Attrs) -> Result<Tensor> {
    let is_binary = matches!(op.body, Body::Binary(_)) && op.surface.instead.is_none();
    let is_complex = a.dtype().is_complex() || b.dtype().is_complex();
    if !is_binary || is_complex || is_heard([a, b]) || default_dtype::is_set() {
        return apply_one(op, &[a.clone(), b.clone()], attrs);
    }
    let refused = || match op.surface.refuses {
        Some(refuses) => refuses(&InferCx { op, inputs: &[a.clone(), b.clone()], attrs }),
        None => Ok(()),
    };
    match (a.gpu_at_hand(), b.gpu_at_hand()) {
        (Some(gpu), Some(other))
            if gpu == other && autocast::wanted(op, attrs, [a, b]).is_none() =>
        {
            refused()?;
            lane::on_gpu::eager(op, &[a, b], attrs, gpu)
        }
        (None, None) if a.is_at_hand() && b.is_at_hand() => {
            refused()?;
            lane::eager(op, &[a, b], attrs)
        }
        _ => apply_one(op, &[a.clone(), b.clone()], attrs),
    }
}

/// Whether the processor cannot compute an op on these operands at once, or anything besides the elements comes of it.
#[inline]
pub(crate) fn is_watched<'a>(operands: impl IntoIterator<Item = &'a Tensor> + Clone) -> bool {
    is_heard(operands.clone()) || operands.into_iter().any(|it| !it.is_at_hand())
}

/// Whether anything besides the elements comes of an op on these operands: a step of the tape, what a trace hears, or shapes alone.
#[inline]
fn is_heard<'a>(operands: impl IntoIterator<Item = &'a Tensor>) -> bool {
    let taped = tape::enabled();
    interpreter::active()
        || anomaly::watch() != Watch::Nothing
        || SHAPES_ONLY.get()
        || operands.into_iter().any(|it| taped && it.requires_grad())
}

/// Applies an op whose optional tensors may be absent.
pub fn apply_optional(
    op: &'static OpDef,
    inputs: &[Option<Tensor>],
    attrs: &Attrs,
) -> Result<Outputs> {
    if let Some(wanted) = autocast::wanted(op, attrs, inputs.iter().flatten()) {
        let inputs = autocast::cast(op, inputs, wanted)?;
        return autocast::left_alone(|| apply_optional(op, &inputs, attrs));
    }
    let given: SmallVec<[Tensor; 3]> = inputs.iter().flatten().cloned().collect();
    if let Body::Composed(body) = op.body {
        if given.is_empty() && op.params.iter().any(|it| it.kind == ParamKind::Tensors) {
            return Err(Error::NoTensors { op: op.name });
        }
        if given.len() == inputs.len() && complex::is_composed(op, &given, attrs) {
            return apply(op, &given, attrs);
        }
        rules::check_dtypes(op.name, &op.dtypes, &given)?;
        let device = place::device_of_given(op, inputs, &given)?;
        return composed(body, &ComposedCx { op, inputs, attrs }, device);
    }
    apply(op, &given, attrs)
}

/// Applies an op: the results, or what is wrong with the operands.
///
/// A composed op applies the ops it consists of; tape and trace see those. If any input is abstract, so are the outputs. On the device
/// `meta` shapes are inferred and nothing is computed; a trace does not hear of it.
pub fn apply(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    check_arity(op, inputs)?;
    if let Some(other) = op.surface.instead.and_then(|it| it(inputs)) {
        return apply(other, &inputs[..1], &other.default_attrs());
    }
    if autocast::wanted(op, attrs, inputs).is_some() {
        let inputs: SmallVec<[_; 3]> = inputs.iter().cloned().map(Some).collect();
        return apply_optional(op, &inputs, attrs);
    }
    if let Some(refuses) = op.surface.refuses {
        refuses(&InferCx { op, inputs, attrs })?;
    }
    match default_dtype::said(op, inputs, attrs)? {
        Some((inputs, attrs)) => apply_as_said(op, &inputs, &attrs),
        None => apply_as_said(op, inputs, attrs),
    }
}

/// As [`apply`], of an op that leaves no dtype to the default.
fn apply_as_said(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    let device = place::device_of(op, inputs)?;
    if complex::is_composed(op, inputs, attrs) {
        return on_parts(op, inputs, attrs, device);
    }
    if let Body::Composed(body) = op.body {
        rules::check_dtypes(op.name, &op.dtypes, inputs)?;
        let inputs: SmallVec<[Option<Tensor>; 3]> = inputs.iter().cloned().map(Some).collect();
        return composed(body, &ComposedCx { op, inputs: &inputs, attrs }, device);
    }
    let (outputs, mark) = match interpreter::current() {
        _ if device == Device::Meta => (on_meta(op, inputs, attrs)?, Mark::NONE),
        Some(interpreter) if interpreter.follows(device) => {
            interpreted(interpreter, op, inputs, attrs, device)?
        }
        _ => (run_on(device, op, inputs, attrs)?, Mark::NONE),
    };
    let watch = anomaly::watch();
    if watch != Watch::Nothing {
        anomaly::check_results(watch, op, inputs, attrs, &outputs)?;
    }
    record::record(op, inputs, attrs, outputs, mark)
}

fn composed(body: Composed, cx: &ComposedCx<'_>, device: Device) -> Result<Outputs> {
    let before = tape::next_id();
    let outputs =
        default_dtype::within(cx.inputs.iter().flatten(), || composed_on(device, body, cx))?;
    if cx.op.step.is_some() {
        tape::note_composed(cx.op, before, &outputs);
    }
    Ok(outputs)
}

fn composed_on(device: Device, body: Composed, cx: &ComposedCx<'_>) -> Result<Outputs> {
    match device {
        Device::Cpu => scoped(body, cx),
        Device::Cuda(_) => place::inside(device, || scoped(body, cx)),
        Device::Meta => {
            let outputs = place::inside(device, || compose(body, cx))?;
            Ok(outputs.iter().map(Tensor::to_meta).collect())
        }
    }
}

/// Runs the body of a composed op, under its name where somebody hears of the ops in it.
fn scoped(body: Composed, cx: &ComposedCx<'_>) -> Result<Outputs> {
    match interpreter::active() {
        true => Scope::within(cx.op.name, || compose(body, cx)),
        false => compose(body, cx),
    }
}

/// An op on complex numbers, by their parts.
fn on_parts(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    device: Device,
) -> Result<Outputs> {
    default_dtype::within(inputs, || match device {
        Device::Cpu => complex::composed(op, inputs, attrs),
        Device::Cuda(_) => place::inside(device, || complex::composed(op, inputs, attrs)),
        Device::Meta => {
            let outputs = place::inside(device, || complex::composed(op, inputs, attrs))?;
            Ok(outputs.iter().map(Tensor::to_meta).collect())
        }
    })
}

fn interpreted(
    interpreter: &dyn Interpreter,
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    device: Device,
) -> Result<(Outputs, Mark)> {
    if let Some(replayed) = interpreter.replay(op, inputs, attrs, device)? {
        return Ok(replayed);
    }
    let outputs = run_on(device, op, inputs, attrs)?;
    interpreter.record(op, inputs, attrs, device, &outputs);
    Ok((outputs, Mark::NONE))
}

/// Runs a primitive op at once on a device that computes, off the tape and outside any trace.
pub(crate) fn run_on(
    device: Device,
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<Outputs> {
    match device {
        Device::Cpu | Device::Meta => run(op, inputs, attrs),
        Device::Cuda(index) => on_gpu(op, inputs, attrs, index),
    }
}

/// As [`run_on`], on the CPU.
pub(crate) fn run(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    if SHAPES_ONLY.get() || inputs.iter().any(Tensor::is_abstract) {
        return shapes_only(op, inputs, attrs);
    }
    match op.body {
        Body::View(view) => run_view(view, &inputs[0], attrs, &infer(op, inputs, attrs)?[0]),
        Body::Kernels(kernels) => {
            let metas = infer(op, inputs, attrs)?;
            prepared::with(kernels, &Case::new(op, inputs, attrs), |kernel| {
                HOST.with(|stream| run_kernel(op, kernel, inputs, attrs, metas, stream))
            })
        }
        Body::Control(body) => {
            infer(op, inputs, attrs)?;
            body(&ControlCx { op, device: Device::Cpu, inputs, attrs })
        }
        _ => Ok(smallvec![lane::eager(op, inputs, attrs)?]),
    }
}

/// The outputs on the GPU of this number.
fn on_gpu(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, index: u8) -> Result<Outputs> {
    let device = Device::Cuda(index);
    if SHAPES_ONLY.get() || inputs.iter().any(Tensor::is_abstract) {
        return shapes_only(op, inputs, attrs);
    }
    match op.body {
        Body::View(view) => run_view(view, &inputs[0], attrs, &infer(op, inputs, attrs)?[0]),
        Body::Kernels(kernels) => {
            let metas = infer(op, inputs, attrs)?;
            place::as_one_step(device, || {
                run_on_gpu(op, kernels, inputs, attrs, metas, (index, compose_kernel))
            })
        }
        Body::Control(body) => {
            infer(op, inputs, attrs)?;
            place::as_one_step(device, || body(&ControlCx { op, device, inputs, attrs }))
        }
        _ => Ok(smallvec![lane::on_gpu::eager(op, inputs, attrs, index)?]),
    }
}

/// The outputs on the device `meta`.
fn on_meta(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    let metas = infer(op, inputs, attrs)?;
    let output = |meta: Meta| match op.body {
        Body::View(view) => match view(inputs[0].layout(), attrs, &meta.shape) {
            Some(layout) => inputs[0].seen_as(meta.dtype, layout),
            None => Tensor::on_meta(meta),
        },
        _ => Tensor::on_meta(meta),
    };
    Ok(metas.into_iter().map(output).collect())
}

/// The outputs without elements.
fn shapes_only(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
    let metas = infer(op, inputs, attrs)?;
    if let Body::View(view) = op.body {
        let seen = metas.into_iter().map(|it| shapes_of_view(view, &inputs[0], attrs, it));
        return Ok(seen.collect());
    }
    estimate::spend(&InferCx { op, inputs, attrs }, &metas);
    let device = place::of(inputs);
    Ok(metas.into_iter().map(|it| estimate::computed(it, device)).collect())
}

/// Shapes and dtypes of the outputs, or what is wrong with the operands. Of an op that is composed on complex numbers, those that it is
/// composed of are asked.
pub fn infer(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Metas> {
    if complex::is_composed(op, inputs, attrs) {
        return Err(complex::refused(op, inputs, attrs));
    }
    if !op.body.is_elementwise() {
        rules::check_dtypes(op.name, &op.dtypes, inputs)?;
    }
    let metas = (op.infer)(&InferCx { op, inputs, attrs })?;
    let memory = buffer::memory(place::of(inputs));
    for meta in &metas {
        meta.shape.checked_numel(op.name)?;
        // Also for views: what reads a view may have to copy all of it.
        if let Some(memory) = memory.filter(|it| meta.bytes() > it.budget()) {
            return Err(Error::OutOfMemory { bytes: meta.bytes(), live: memory.stats().live });
        }
    }
    Ok(metas)
}

pub(crate) fn check_arity(op: &'static OpDef, inputs: &[Tensor]) -> Result<()> {
    let (mut required, mut allowed, mut takes_list) = (0, 0, false);
    for param in op.params {
        required += usize::from(param.kind == ParamKind::Tensor);
        allowed += usize::from(param.kind.is_tensor());
        takes_list |= param.kind == ParamKind::Tensors;
    }
    let fits = match takes_list {
        true if inputs.is_empty() => return Err(Error::NoTensors { op: op.name }),
        true => true,
        false => (required..=allowed).contains(&inputs.len()),
    };
    if fits {
        return Ok(());
    }
    Err(Error::Arity { op: op.name, expected: required.max(1), got: inputs.len() })
}

type ViewOf = fn(&Layout, &Attrs, &crate::Shape) -> Option<Layout>;

/// Whether the output of a view op, of this shape, shares the storage of its input: strides may force a copy.
pub fn shares_storage(op: &OpDef, input: &Tensor, attrs: &Attrs, shape: &crate::Shape) -> bool {
    matches!(op.body, Body::View(view) if view(input.layout(), attrs, shape).is_some())
}

/// The output of a view op without elements: it lies as the real one will.
fn shapes_of_view(view: ViewOf, input: &Tensor, attrs: &Attrs, meta: Meta) -> Tensor {
    match view(input.layout(), attrs, &meta.shape) {
        Some(layout) => estimate::view(input, layout, meta.dtype),
        None => estimate::computed(meta, input.device()),
    }
}

fn run_view(view: ViewOf, input: &Tensor, attrs: &Attrs, meta: &Meta) -> Result<Outputs> {
    if let Some(layout) = view(input.layout(), attrs, &meta.shape) {
        let bytes = input.storage()?;
        return Ok(smallvec![Tensor::stored(bytes, layout, meta.dtype)]);
    }
    let copy = contiguous(input)?;
    let layout = view(copy.layout(), attrs, &meta.shape).ok_or_else(|| Error::Shapes {
        op: "view",
        shapes: vec![input.shape().clone(), meta.shape.clone()],
        rule: "the sizes do not describe the same elements".into(),
    })?;
    Ok(smallvec![Tensor::stored(copy.storage()?, layout, meta.dtype)])
}
