//! Recording a region: while it is under way, the ops of this thread become nodes of its graph and compute nothing.
//!
//! A value is known again by where its elements will be, as in a trace. What is not known comes from outside: a capture, which becomes an
//! input of the graph. What the program takes off the tape, by `detach` or `no_grad`, is a node of its own, since the gradient of a region
//! comes from its graph.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::build::Recorded;
use crate::graph::{Graph, Value};
use crate::interpreter::{self, Interpreter, Root};
use crate::op::{Body, Grad};
use crate::ops::control::stop_gradient;
use crate::ops::create::full;
use crate::pending::{self, Pending, Promiser};
use crate::tape::{self, Mark, Node};
use crate::tensor::{Data, Outputs};
use crate::trace::{Key, key_of, reads_values};
use crate::{
    Attr, Attrs, DType, Device, Error, Layout, Meta, Number, OpDef, Result, Scope, Site, Tensor,
    apply,
};

thread_local! {
    /// Regions under way, the innermost last.
    static UNDER_WAY: RefCell<Vec<Recorder>> = const { RefCell::new(Vec::new()) };
}

/// Whether a region is recorded on this thread.
pub fn is_recording() -> bool {
    UNDER_WAY.with_borrow(|it| !it.is_empty())
}

/// A region under way. Dropping it without [`Recording::finish`] forgets it.
pub struct Recording {
    before: Option<&'static dyn Interpreter>,
    promiser: Option<Promiser>,
    taped: bool,
}

impl Recording {
    /// Begins a region.
    pub fn begin() -> Self {
        let before = interpreter::current();
        interpreter::install(Some(&Regions));
        let promiser = pending::replace(Some(Promiser { flush: refuse, read: || Ok(()) }));
        let taped = tape::enabled();
        UNDER_WAY.with_borrow_mut(|it| it.push(Recorder { taped, ..Recorder::default() }));
        Self { before, promiser, taped }
    }

    /// A value on a device that the region takes, before what it captures; `edged` if gradients may flow to it.
    pub fn parameter(&self, meta: Meta, device: Device, edged: bool) -> Tensor {
        let pending = Data::Pending(Arc::new(Pending::on(device)));
        let layout = Layout::contiguous(meta.shape.clone());
        let plain = Tensor::make(meta.dtype, layout, pending, None);
        let edged = edged && self.taped;
        let tensor = if edged && meta.dtype.is_differentiable() { plain.leaf() } else { plain };
        with(|it| it.parameter(&tensor));
        tensor
    }

    /// Ends the region with what it gives.
    pub fn finish(self, outputs: &[Tensor]) -> Result<Recorded> {
        self.pause()?.finish(outputs)
    }

    /// No more ops belong to the region; what it gives is said later.
    pub fn pause(self) -> Result<Paused> {
        let recorder = UNDER_WAY.with_borrow_mut(Vec::pop);
        let this = std::mem::ManuallyDrop::new(self);
        this.restore();
        recorder.map(Paused).ok_or_else(nothing)
    }

    fn restore(&self) {
        interpreter::install(self.before);
        pending::replace(self.promiser);
        tape::set_enabled(self.taped);
    }
}

/// A region whose ops are known.
pub struct Paused(Recorder);

impl Paused {
    /// Whether a value was computed by an op of the region: others come from outside.
    pub fn has_made(&self, tensor: &Tensor) -> bool {
        let Some(key) = key_of(tensor) else { return false };
        let known = [true, false].map(|taped| self.0.known.get(&(key.clone(), taped)));
        known.into_iter().flatten().any(|it| self.0.graph.node(it.node).op().is_some())
    }

    /// Ends the region with what it gives. A number becomes a tensor.
    pub fn finish(self, outputs: &[Tensor]) -> Result<Recorded> {
        self.finish_as(outputs, &[])
    }

    /// As [`Paused::finish`], numbers as tensors of these dtypes, where one is said.
    pub fn finish_as(self, outputs: &[Tensor], dtypes: &[Option<DType>]) -> Result<Recorded> {
        let mut recorder = self.0;
        let dtypes = dtypes.iter().copied().chain(std::iter::repeat(None));
        let values = outputs.iter().zip(dtypes).map(|(it, dtype)| recorder.output(it, dtype));
        recorder.graph.outputs = values.collect::<Result<_>>()?;
        let Recorder { graph, captures, n_parameters, .. } = recorder;
        let edged = outputs.iter().map(Tensor::requires_grad).collect();
        let place = |it: &Tensor| (it.rank() > 0).then(|| it.device());
        let devices = outputs.iter().map(place).collect();
        Ok(Recorded { graph, captures, n_parameters, edged, devices })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        UNDER_WAY.with_borrow_mut(Vec::pop);
        self.restore();
    }
}

/// Somebody reads a value.
fn refuse() -> Result<()> {
    Err(Error::Trace {
        problem: "the value of a tensor is not known while a graph is built symbolically; \
                  compute with tensors, or trace without symbolic=True"
            .into(),
    })
}

fn nothing() -> Error {
    Error::Trace { problem: "no branch or loop is recorded here".into() }
}

fn lost<T>() -> Result<T> {
    Err(nothing())
}

/// Calls `body` with the innermost region.
fn with<R>(body: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    UNDER_WAY.with_borrow_mut(|it| it.last_mut().map(body))
}

/// What was noted so far.
#[derive(Default)]
struct Recorder {
    graph: Graph,
    /// Values by identity, and whether they are on the tape.
    known: FxHashMap<(Key, bool), Value>,
    /// Values that gradients flow through.
    edged: FxHashSet<Value>,
    /// Keeps what is known, so that no other value comes to lie in its place.
    held: Vec<Tensor>,
    n_parameters: usize,
    captures: Vec<Tensor>,
    /// Whether more than single elements are computed.
    is_large: bool,
    /// Whether the tape was on as it began: gradients may flow through what it becomes.
    taped: bool,
}

impl Recorder {
    fn parameter(&mut self, tensor: &Tensor) {
        let value = self.input(tensor);
        self.n_parameters += 1;
        self.know(tensor, value);
    }

    fn input(&mut self, tensor: &Tensor) -> Value {
        let value = self.graph.input(tensor.dtype(), Layout::contiguous(tensor.shape().clone()));
        if tensor.requires_grad() {
            self.edged.insert(value);
        }
        value
    }

    fn know(&mut self, tensor: &Tensor, value: Value) {
        self.held.push(tensor.clone());
        if let Some(key) = key_of(tensor) {
            self.known.entry((key, self.edged.contains(&value))).or_insert(value);
        }
    }

    /// The node of an operand; one from outside becomes an input.
    fn operand(&mut self, tensor: &Tensor) -> Result<Value> {
        if let Some(number) = tensor.as_number() {
            return Ok(self.graph.number(number));
        }
        let key = key_of(tensor).ok_or_else(nothing)?;
        let (on_tape, off_tape) =
            (self.known.get(&(key.clone(), true)), self.known.get(&(key, false)));
        let is_capture = |it: &&Value| self.graph.inputs().contains(&it.node);
        let value = match tensor.requires_grad() {
            true => on_tape.or_else(|| off_tape.filter(|it| !is_capture(it))).copied(),
            false => off_tape.or(on_tape).copied(),
        };
        let value = value.unwrap_or_else(|| {
            let value = self.input(tensor);
            self.captures.push(tensor.clone());
            self.know(tensor, value);
            value
        });
        let stops = self.taped && (!tensor.requires_grad() || !tape::enabled());
        match stops && self.edged.contains(&value) {
            true => self.graph.apply_one(&stop_gradient::OP, &[value], &Attrs::new()),
            false => Ok(value),
        }
    }

    /// As [`Recorder::operand`], of what the region gives.
    fn output(&mut self, tensor: &Tensor, dtype: Option<DType>) -> Result<Value> {
        if let Some(number) = tensor.as_number() {
            let dtype = dtype.map_or(Attr::None, Attr::DType);
            let attrs: Attrs = [Attr::ints(&[]), attr_of(number), dtype].into_iter().collect();
            return self.graph.apply_one(&full::OP, &[], &attrs);
        }
        let taped = tape::set_enabled(true);
        let value = self.operand(tensor);
        tape::set_enabled(taped);
        value
    }

    /// Refuses an op on another device than those before it: a region runs on one. Single elements may be anywhere.
    fn stay_on(&mut self, device: Device, inputs: &[Tensor], metas: &[Meta]) -> Result<()> {
        let small = |rank: usize| rank == 0;
        let is_small = inputs.iter().all(|it| small(it.rank()))
            && metas.iter().all(|it| small(it.shape.rank()));
        let here = self.graph.device;
        if here != device && !(is_small && device == Device::Cpu) {
            if self.is_large {
                let problem = format!(
                    "a branch or a loop on a tensor computes on {here} and on {device}, and it runs on one device; bring all \
                     to one before it"
                );
                return Err(Error::Trace { problem });
            }
            self.graph.device = device;
        }
        self.is_large |= !is_small;
        Ok(())
    }

    fn apply(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        metas: crate::Metas,
        device: Device,
    ) -> Result<Outputs> {
        self.stay_on(device, inputs, &metas)?;
        (self.graph.origin.site, self.graph.origin.scope) = (Site::here(), Scope::here());
        let operands = inputs.iter().map(|it| self.operand(it));
        let operands = operands.collect::<Result<SmallVec<[Value; 3]>>>()?;
        let node = self.graph.apply_known(op, &operands, attrs, metas.clone());
        let flows = tape::enabled()
            && !matches!(op.grad, Grad::Stops(_))
            && inputs.iter().any(Tensor::requires_grad);
        let mut outputs = Outputs::new();
        for (output, meta) in (0..).zip(metas) {
            let value = Value { node, output };
            if flows && meta.dtype.is_differentiable() {
                self.edged.insert(value);
            }
            let tensor = promised(op, inputs, attrs, meta, device);
            self.know(&tensor, value);
            outputs.push(tensor);
        }
        Ok(outputs)
    }
}

fn attr_of(number: Number) -> Attr {
    match number {
        Number::Bool(it) => Attr::Bool(it),
        Number::Int(it) => Attr::Int(it),
        Number::Float(it) => Attr::Float(it),
        Number::Complex(real, imag) => Attr::Complex(real, imag),
    }
}

/// The output of an op on a device as it will lie: a view of its operand, or a value to come.
fn promised(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    meta: Meta,
    device: Device,
) -> Tensor {
    let view = match op.body {
        Body::View(view) if inputs[0].as_number().is_none() => {
            view(inputs[0].layout(), attrs, &meta.shape)
        }
        _ => None,
    };
    match view {
        Some(layout) => Tensor::make(meta.dtype, layout, inputs[0].data().clone(), None),
        None => {
            let pending = Data::Pending(Arc::new(Pending::on(device)));
            Tensor::make(meta.dtype, Layout::contiguous(meta.shape), pending, None)
        }
    }
}

/// The interpreter of all regions: it asks the innermost.
struct Regions;

impl Interpreter for Regions {
    fn replay(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Option<(Outputs, Mark)>> {
        if inputs.iter().any(Tensor::is_abstract) {
            return Ok(None);
        }
        if reads_values(op, inputs, attrs) {
            let problem = format!("the shape that {} gives depends on values", op.name);
            return Err(Error::Trace { problem });
        }
        let metas = apply::infer(op, inputs, attrs)?;
        let outputs = with(|it| it.apply(op, inputs, attrs, metas, device)).unwrap_or_else(lost)?;
        Ok(Some((outputs, Mark::NONE)))
    }

    fn record(&self, _: &'static OpDef, _: &[Tensor], _: &Attrs, _: Device, _: &Outputs) {}

    fn follows(&self, _: Device) -> bool {
        true
    }

    fn moves(&self, to: Device) -> Result<()> {
        let problem = format!(
            "a tensor is brought to {to} in a branch or a loop on a tensor, which runs on one device; bring it there before"
        );
        Err(Error::Trace { problem })
    }

    fn records_only(&self) -> bool {
        false
    }

    fn walking(&self, _: bool) {}

    fn take_walk(&self, _: &[Root], _: bool) -> Result<Option<Vec<(u64, Tensor)>>> {
        let problem = "backward() cannot stand in a branch or a loop on a tensor: it changes the .grad of tensors that \
                       are outside of it; compute the loss there, and call backward() on the result afterwards";
        Err(Error::Trace { problem: problem.into() })
    }

    fn walk_begins(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn walk_ends(&self, _: &dyn Any, _: &[Root], _: bool, _: &[Arc<Node>], _: &[(u64, Tensor)]) {}
}
