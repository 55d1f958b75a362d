//! Recording: ops that ran, or symbolically will run, are appended to the tree.

use smallvec::SmallVec;

use super::call::{Mode, State};
use super::departure::{Departure, depart};
use super::identity::{Slot, fits, key_of};
use super::tree::{Captured, Out, Ref, Step};
use crate::apply;
use crate::graph::{Origin, Phase};
use crate::op::Body;
use crate::tensor::Outputs;
use crate::{Attrs, Device, Error, OpDef, Result, Scope, Site, Tensor};

/// Ops from which on a call is long.
const LONG: usize = 4096;

/// Steps that one tree keeps.
pub(super) const MOST_STEPS: usize = 1 << 20;

impl State {
    pub(super) fn record(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
        outputs: &Outputs,
    ) {
        if self.mode != Mode::Record
            || inputs.iter().any(Tensor::is_abstract)
            || reads_values(op, inputs, attrs)
        {
            return;
        }
        let outs = outputs.iter().map(|it| {
            let alias = matches!(op.body, Body::View(_)) && same_storage(it, &inputs[0]);
            // Plans deliver what is no view in row-major order.
            let contiguous = || crate::Layout::contiguous(it.shape().clone());
            let layout = if alias { it.layout().clone() } else { contiguous() };
            Out { layout, dtype: it.dtype(), alias }
        });
        let outs = outs.collect();
        self.append(op, inputs, attrs, device, outs);
        for output in outputs {
            self.add_result(output, self.results.len());
        }
    }

    /// Symbolic: appends an application that was not run, and takes it.
    pub(super) fn extend(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Outputs> {
        let metas = apply::infer(op, inputs, attrs)?;
        let outs = metas.into_iter().map(|meta| {
            let view = match op.body {
                Body::View(view) if inputs[0].as_number().is_none() => {
                    view(inputs[0].layout(), attrs, &meta.shape)
                }
                _ => None,
            };
            let alias = view.is_some();
            let layout = view.unwrap_or_else(|| crate::Layout::contiguous(meta.shape));
            Out { layout, dtype: meta.dtype, alias }
        });
        let outs: SmallVec<[Out; 1]> = outs.collect();
        for (idx, tensor) in inputs.iter().enumerate() {
            if key_of(tensor).is_some_and(|key| !self.known.contains_key(&key))
                && !fits(tensor, tensor.device(), tensor.dtype(), tensor.layout())
            {
                let problem = format!("operand {idx} of {} belongs to another trace", op.name);
                return Err(Error::Trace { problem });
            }
        }
        let most = self.options.max_ops;
        if self.tree.steps.len() > most {
            let problem = format!(
                "the graph has more than {most} ops, which is too much to build at once; put what a loop repeats into a function, and \
                 trace that"
            );
            return Err(Error::Trace { problem });
        }
        let n_captures = self.captures.len();
        self.append(op, inputs, attrs, device, outs);
        self.captures.truncate(n_captures);
        self.made.truncate(n_captures);
        let id = self.cursor;
        self.compute_beside(id, inputs)?;
        self.follow(id, inputs)
    }

    /// Ends replay where the recording does not fit: what matched is delivered, the rest is recorded.
    pub(super) fn diverge(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> Result<()> {
        let why = self.departure(op, inputs, attrs);
        self.flush_eagerly()?;
        let full = self.tree.n_paths >= self.options.max_branches;
        let paths = self.tree.n_paths;
        self.stats.departure = Some(if full { Departure::Full { paths } } else { why });
        depart(true);
        if full {
            self.mode = Mode::Eager;
            return Ok(());
        }
        self.mode = Mode::Record;
        self.recording = Some((self.cursor, self.tree.steps.len()));
        self.index();
        Ok(())
    }

    /// Appends a step after the cursor and moves there. New captures get slots; results do not yet. Where the recording
    /// gets too long it is given up.
    fn append(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
        outputs: SmallVec<[Out; 1]>,
    ) {
        if self.tree.steps.len() >= MOST_STEPS && self.mode == Mode::Record {
            self.give_up(Departure::TooLong { ops: MOST_STEPS });
            return;
        }
        let n_captures = self.captures.len();
        let refs = inputs.iter().map(|it| self.ref_of(it)).collect();
        let as_const = self.options.capture_as_const;
        let captured = |slot: &mut Slot| Captured {
            layout: slot.layout.clone(),
            dtype: slot.dtype,
            device: slot.device,
            constant: slot.held.take().filter(|_| as_const),
        };
        let captures = self.captures[n_captures..].iter_mut().map(captured).collect();
        let step = Step {
            op: Some(op),
            device,
            attrs: attrs.clone(),
            inputs: refs,
            outputs,
            captures,
            origin: Origin { phase: self.phase(), site: Site::here(), scope: Scope::here() },
            ..Step::default()
        };
        self.has_updated |= step.origin.phase == Phase::Update;
        self.cursor = self.tree.push(self.cursor, step);
        self.stats.recorded += 1;
    }

    /// The recording is given up: the rest of the call runs eagerly.
    fn give_up(&mut self, why: Departure) {
        self.forget();
        self.mode = Mode::Eager;
        self.stats.departure = Some(why);
    }

    /// The tape has been walked backwards.
    pub(super) fn has_walked(&mut self) {
        self.walked = true;
        self.n_walks += usize::from(std::mem::take(&mut self.has_updated));
        let walks = self.n_walks;
        let is_long = self.stats.recorded > LONG && walks > self.options.max_walks;
        if is_long && self.mode == Mode::Record && self.walking == 0 {
            self.give_up(Departure::ManySteps { walks });
        }
    }

    fn ref_of(&mut self, tensor: &Tensor) -> Ref {
        if let Some(number) = tensor.as_number() {
            return Ref::Number(number);
        }
        if let Some(known) = self.known_ref(tensor) {
            return known;
        }
        let it = Ref::Capture(self.captures.len() as u32);
        let made = self.following.map(|_| &mut self.made);
        Self::capture(&mut self.captures, made, tensor);
        self.know(tensor, it);
        it
    }

    pub(super) fn known_ref(&self, tensor: &Tensor) -> Option<Ref> {
        if let Some(number) = tensor.as_number() {
            return Some(Ref::Number(number));
        }
        self.known.get(&key_of(tensor)?).copied()
    }

    pub(super) fn know(&mut self, tensor: &Tensor, it: Ref) {
        if let Some(key) = key_of(tensor) {
            self.known.entry(key).or_insert(it);
        }
    }

    fn add_result(&mut self, tensor: &Tensor, at: usize) {
        self.results.push(Slot::of(tensor));
        self.know(tensor, Ref::Result(at as u32));
    }

    /// Fills `known` from the slots.
    pub(super) fn index(&mut self) {
        self.known.clear();
        let args = self.args.iter().enumerate().map(|it| (it.1, Ref::Arg(it.0 as u32)));
        let captures = self.captures.iter().enumerate().map(|it| (it.1, Ref::Capture(it.0 as u32)));
        let results = self.results.iter().enumerate().map(|it| (it.1, Ref::Result(it.0 as u32)));
        for (slot, it) in args.chain(captures).chain(results) {
            if let Some(key) = slot.key() {
                self.known.entry(key).or_insert(it);
            }
        }
    }
}

/// Whether shapes depend on the elements of the operands. Such an op runs eagerly in every call, and what it gives is
/// captured.
pub(crate) fn reads_values(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> bool {
    let stand_in = |it: &Tensor| match it.as_number() {
        Some(_) => it.clone(),
        None => Tensor::abstract_on(it.device(), it.meta()),
    };
    let inputs: SmallVec<[Tensor; 3]> = inputs.iter().map(stand_in).collect();
    matches!(apply::infer(op, &inputs, attrs), Err(Error::Abstract))
}

fn same_storage(a: &Tensor, b: &Tensor) -> bool {
    let root = |it: &Tensor| key_of(it).map(|key| key.0);
    root(a).is_some() && root(a) == root(b)
}
