//! One running call of a traced function: matches op applications against the tree, or records a further branch.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::identity::{Key, Slot, fits, key_of};
use super::segment;
use super::traced::Options;
use super::tree::{Captured, Out, ROOT, Ref, Step, StepId, Tree};
use super::{Mark, Pending};
use crate::apply::{self, Outputs};
use crate::op::Body;
use crate::tensor::Data;
use crate::{Attrs, Error, OpDef, Result, Tensor};

/// What happened in one call, or in all calls of a traced function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Calls that finished.
    pub calls: usize,
    /// Compiled stretches that ran.
    pub segments: usize,
    /// Paths recorded so far, over all signatures.
    pub branches: usize,
    /// Op applications recorded.
    pub recorded: usize,
    /// Op applications answered from the recording.
    pub replayed: usize,
    /// Reverse walks answered from the recording as a whole.
    pub walks: usize,
    /// Seconds spent on compiling.
    pub compile_seconds: f64,
    /// One line for the user, when another path was recorded.
    pub notice: Option<String>,
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} calls, {} branches, {} ops recorded, {} replayed, {} segments run, {:.3} s compiling",
            self.calls,
            self.branches,
            self.recorded,
            self.replayed,
            self.segments,
            self.compile_seconds
        )
    }
}

static NEXT_CALL: AtomicU64 = AtomicU64::new(1);

/// Steps that one tree keeps.
const MOST_STEPS: usize = 1 << 20;

/// How the rest of a call is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Ops are matched with the tree.
    Replay,
    /// Ops run eagerly and are appended to the tree.
    Record,
    /// Ops are matched or appended, and never run inside the call.
    Symbolic,
    /// Ops run eagerly; the tree has no room for more branches.
    Eager,
}

/// The state of one call.
pub(crate) struct State {
    /// Its number; no two calls have the same.
    pub(super) call: u64,
    pub(super) options: Options,
    pub(super) tree: Tree,
    pub(super) mode: Mode,
    /// The last step that matched or was recorded.
    pub(super) cursor: StepId,
    /// The step after which the current segment begins.
    pub(super) start: StepId,
    /// Results up to here belong to earlier segments.
    pub(super) settled: usize,
    pub(super) args: Vec<Slot>,
    pub(super) captures: Vec<Slot>,
    pub(super) results: Vec<Slot>,
    /// Numbers fed in the current segment, in order.
    pub(super) fed: Vec<Tensor>,
    pub(super) stats: Stats,
    /// Recording: values by identity.
    known: FxHashMap<Key, Ref>,
    /// Recording: where it began, and the number of steps then.
    recording: Option<(StepId, usize)>,
}

impl State {
    /// A call with these arguments; the body sees `seen`, which differ from `args` when it runs symbolically.
    pub(super) fn new(options: Options, tree: Tree, args: &[Tensor], seen: &[Tensor]) -> Self {
        let first = tree.steps.len() == 1 && tree.step(ROOT).end.is_none();
        let mode = match (options.symbolic, first) {
            (true, _) => Mode::Symbolic,
            (false, true) => Mode::Record,
            (false, false) => Mode::Replay,
        };
        let hold = |it: (&Tensor, &Tensor)| Slot { held: Some(it.0.detach()), ..Slot::of(it.1) };
        let n_steps = tree.steps.len().min(4096);
        let mut state = Self {
            call: NEXT_CALL.fetch_add(1, Ordering::Relaxed),
            options,
            tree,
            mode,
            cursor: ROOT,
            start: ROOT,
            settled: 0,
            args: args.iter().zip(seen).map(hold).collect(),
            captures: Vec::new(),
            results: Vec::with_capacity(n_steps),
            fed: Vec::new(),
            stats: Stats::default(),
            known: FxHashMap::default(),
            recording: None,
        };
        if mode != Mode::Replay {
            state.index();
            state.recording = Some((ROOT, state.tree.steps.len()));
        }
        state
    }

    pub(super) fn replay(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> Result<Option<(Outputs, Mark)>> {
        if matches!(self.mode, Mode::Record | Mode::Eager) || inputs.iter().any(Tensor::is_abstract)
        {
            return Ok(None);
        }
        if let Some(id) = self.find(op, inputs, attrs)? {
            let outputs = self.follow(id, inputs)?;
            return Ok(Some((outputs, Mark::new(self.call, id))));
        }
        let reads_values = reads_values(op, inputs, attrs);
        if self.mode == Mode::Symbolic {
            if reads_values {
                let problem = format!("the shape that {} gives depends on values", op.name);
                return Err(Error::Trace { problem });
            }
            return Ok(Some((self.extend(op, inputs, attrs)?, Mark::NONE)));
        }
        if reads_values {
            self.flush()?
        } else {
            self.diverge(op.name)?
        }
        Ok(None)
    }

    pub(super) fn record(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        outputs: &Outputs,
    ) {
        if self.mode != Mode::Record
            || inputs.iter().any(Tensor::is_abstract)
            || reads_values(op, inputs, attrs)
        {
            return;
        }
        let outs = outputs.iter().map(|it| {
            let alias = matches!(op.body, Body::View(_)) && shares_storage(it, &inputs[0]);
            // Plans deliver what is no view in row-major order.
            let contiguous = || crate::Layout::contiguous(it.shape().clone());
            let layout = if alias { it.layout().clone() } else { contiguous() };
            Out { layout, dtype: it.dtype(), alias }
        });
        let outs = outs.collect();
        self.append(op, inputs, attrs, outs);
        for output in outputs {
            self.add_result(output, self.results.len());
        }
    }

    /// Delivers all values that someone can still read; the current segment ends here.
    pub(super) fn flush(&mut self) -> Result<()> {
        match self.mode {
            Mode::Replay => segment::settle(self, true),
            Mode::Symbolic => Err(Error::Trace {
                problem: "the value of a tensor is not known while a graph is built symbolically; \
                          compute with tensors, or trace without symbolic=True"
                    .into(),
            }),
            Mode::Record | Mode::Eager => Ok(()),
        }
    }

    /// As `flush`, op by op instead of through a compiled plan.
    pub(super) fn flush_eagerly(&mut self) -> Result<()> {
        if self.mode == Mode::Replay { segment::settle(self, false) } else { Ok(()) }
    }

    /// Marks the end of a path; `results` are what the function returns.
    pub(super) fn end(&mut self, results: &[Tensor]) {
        if self.mode == Mode::Eager {
            return;
        }
        if self.tree.step(self.cursor).end.is_none() {
            if self.mode == Mode::Replay {
                self.index();
            }
            let refs = results.iter().map(|it| self.known_ref(it)).collect();
            self.tree.step_mut(self.cursor).end = Some(refs);
            self.tree.n_paths += 1;
        }
        self.recording = None;
    }

    /// Forgets what this call recorded.
    pub(super) fn forget(&mut self) {
        if let Some((parent, len)) = self.recording.take()
            && self.tree.steps.len() > len
        {
            self.tree.truncate(len, parent);
        }
    }

    /// The child of the cursor that this application matches.
    fn find(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> Result<Option<StepId>> {
        let mut similar = None;
        for &id in &self.tree.step(self.cursor).children {
            let step = self.tree.step(id);
            if step.op != Some(op) || &step.attrs != attrs || step.inputs.len() != inputs.len() {
                continue;
            }
            match self.compare(step, inputs)? {
                Match::Exact => return Ok(Some(id)),
                Match::OtherNumbers => similar = similar.or(Some(id)),
                Match::No => {}
            }
        }
        if let Some(id) = similar {
            let now: SmallVec<[_; 3]> = inputs.iter().map(Tensor::as_number).collect();
            let then = self.tree.step(id).inputs.clone();
            self.tree.generalise(id, |idx| match (then[idx], now[idx]) {
                (Ref::Number(then), Some(now)) => !then.same(now),
                _ => false,
            });
        }
        Ok(similar)
    }

    fn compare(&self, step: &Step, inputs: &[Tensor]) -> Result<Match> {
        let mut res = Match::Exact;
        for (idx, (it, tensor)) in step.inputs.iter().zip(inputs).enumerate() {
            let fine = match *it {
                Ref::Result(at) => self.results[at as usize].is(tensor),
                Ref::Arg(at) => self.args[at as usize].is(tensor),
                Ref::Capture(at) => match self.captures.get(at as usize) {
                    Some(slot) => slot.is(tensor),
                    None => self.captures_fit(step, idx, at, inputs),
                },
                Ref::Number(then) => match tensor.as_number() {
                    Some(now) if then.same(now) => true,
                    Some(now) if then.dtype() == now.dtype() => {
                        res = Match::OtherNumbers;
                        true
                    }
                    _ => false,
                },
                Ref::Fed(dtype) => tensor.as_number().is_some_and(|now| now.dtype() == dtype),
            };
            if !fine {
                return Ok(Match::No);
            }
        }
        self.check_constants(step, inputs)?;
        Ok(res)
    }

    /// Whether operand `idx` can be the first use of capture `at` in this call.
    fn captures_fit(&self, step: &Step, idx: usize, at: u32, inputs: &[Tensor]) -> bool {
        let first = step.inputs.iter().position(|it| it.same(Ref::Capture(at))).unwrap_or(idx);
        if first != idx {
            return key_of(&inputs[first]) == key_of(&inputs[idx]);
        }
        let captured = &step.captures[at as usize - self.captures.len()];
        fits(&inputs[idx], captured.dtype, &captured.layout)
    }

    /// Captures that became constants must be the same tensors as before.
    fn check_constants(&self, step: &Step, inputs: &[Tensor]) -> Result<()> {
        if !self.options.capture_as_const {
            return Ok(());
        }
        for (it, tensor) in step.inputs.iter().zip(inputs) {
            let Ref::Capture(at) = *it else { continue };
            let Some(new) = (at as usize).checked_sub(self.captures.len()) else { continue };
            let Some(constant) = &step.captures[new].constant else { continue };
            if key_of(constant) != key_of(tensor) {
                let op = step.op.map_or("", |op| op.name);
                let problem = format!(
                    "captured tensor {at} ({}, used by {op}) is another tensor than when the function was \
                     recorded, but capture_as_const made it part of the graph; pass it as an argument",
                    tensor.meta()
                );
                return Err(Error::Trace { problem });
            }
        }
        Ok(())
    }

    /// Takes a matching step: the outputs are pending, or views of what is there.
    fn follow(&mut self, id: StepId, inputs: &[Tensor]) -> Result<Outputs> {
        self.stats.replayed += 1;
        self.cursor = id;
        let step = &self.tree.steps[id as usize];
        for (it, tensor) in step.inputs.iter().zip(inputs) {
            match *it {
                Ref::Capture(at) => match self.captures.get_mut(at as usize) {
                    Some(slot) => slot.hold(tensor),
                    None => {
                        self.captures.push(Slot { held: Some(tensor.detach()), ..Slot::of(tensor) })
                    }
                },
                Ref::Result(at) if (at as usize) < self.settled => {
                    self.results[at as usize].hold(tensor);
                }
                Ref::Arg(at) => self.args[at as usize].hold(tensor),
                Ref::Fed(_) => self.fed.push(tensor.clone()),
                Ref::Number(_) | Ref::Result(_) => {}
            }
        }
        let mut outputs = Outputs::new();
        for out in &step.outputs {
            let output = deliver_later(step, out, inputs)?;
            self.results.push(Slot::of_result(&output, out.alias));
            outputs.push(output);
        }
        if self.mode == Mode::Symbolic {
            let first = self.results.len() - outputs.len();
            for (idx, output) in outputs.iter().enumerate() {
                self.know(output, Ref::Result((first + idx) as u32));
            }
        }
        Ok(outputs)
    }

    /// Symbolic: appends an application that was not run, and takes it.
    fn extend(&mut self, op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> Result<Outputs> {
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
                && !fits(tensor, tensor.dtype(), tensor.layout())
            {
                let problem = format!("operand {idx} of {} belongs to another trace", op.name);
                return Err(Error::Trace { problem });
            }
        }
        let n_captures = self.captures.len();
        self.append(op, inputs, attrs, outs);
        self.captures.truncate(n_captures);
        let id = self.cursor;
        self.follow(id, inputs)
    }

    /// Ends replay where the recording does not fit: what matched is delivered, the rest is recorded.
    fn diverge(&mut self, op: &'static str) -> Result<()> {
        self.flush_eagerly()?;
        let full = self.tree.n_paths >= self.options.max_branches;
        let at = self.results.len();
        self.stats.notice = Some(if full {
            format!(
                "{} paths are recorded already; this call runs eagerly from `{op}` (op {at}) on",
                self.tree.n_paths
            )
        } else {
            format!("another path was recorded from `{op}` (op {at}) on")
        });
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
        outputs: SmallVec<[Out; 1]>,
    ) {
        if self.tree.steps.len() >= MOST_STEPS && self.mode == Mode::Record {
            self.forget();
            self.mode = Mode::Eager;
            self.stats.notice = Some(format!("more than {MOST_STEPS} ops: the call runs eagerly"));
            return;
        }
        let n_captures = self.captures.len();
        let refs = inputs.iter().map(|it| self.ref_of(it)).collect();
        let as_const = self.options.capture_as_const;
        let captured = |slot: &mut Slot| Captured {
            layout: slot.layout.clone(),
            dtype: slot.dtype,
            constant: slot.held.take().filter(|_| as_const),
        };
        let captures = self.captures[n_captures..].iter_mut().map(captured).collect();
        let step = Step {
            op: Some(op),
            attrs: attrs.clone(),
            inputs: refs,
            outputs,
            captures,
            ..Step::default()
        };
        self.cursor = self.tree.push(self.cursor, step);
        self.stats.recorded += 1;
    }

    fn ref_of(&mut self, tensor: &Tensor) -> Ref {
        if let Some(number) = tensor.as_number() {
            return Ref::Number(number);
        }
        if let Some(known) = self.known_ref(tensor) {
            return known;
        }
        let it = Ref::Capture(self.captures.len() as u32);
        self.captures.push(Slot { held: Some(tensor.detach()), ..Slot::of(tensor) });
        self.know(tensor, it);
        it
    }

    fn known_ref(&self, tensor: &Tensor) -> Option<Ref> {
        if let Some(number) = tensor.as_number() {
            return Some(Ref::Number(number));
        }
        self.known.get(&key_of(tensor)?).copied()
    }

    fn know(&mut self, tensor: &Tensor, it: Ref) {
        if let Some(key) = key_of(tensor) {
            self.known.entry(key).or_insert(it);
        }
    }

    fn add_result(&mut self, tensor: &Tensor, at: usize) {
        self.results.push(Slot::of(tensor));
        self.know(tensor, Ref::Result(at as u32));
    }

    /// Fills `known` from the slots.
    fn index(&mut self) {
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

/// How an application compares with a recorded step.
enum Match {
    Exact,
    OtherNumbers,
    No,
}

/// The output of a replayed step: a view of its operand's storage, or a value still to come.
pub(super) fn deliver_later(step: &Step, out: &Out, inputs: &[Tensor]) -> Result<Tensor> {
    if !out.alias {
        let pending = Data::Pending(Arc::new(Pending::default()));
        return Ok(Tensor::make(out.dtype, out.layout.clone(), pending, None));
    }
    let (Some(OpDef { body: Body::View(view), .. }), [input]) = (step.op, inputs) else {
        return Err(Error::Trace { problem: "a view lost its operand".into() });
    };
    let layout = view(input.layout(), &step.attrs, &out.layout.shape);
    let layout = layout.ok_or_else(|| Error::Trace { problem: "a view changed".into() })?;
    Ok(Tensor::make(out.dtype, layout, input.data().clone(), None))
}

/// Whether shapes depend on the elements of the operands. Such an op runs eagerly in every call, and what it gives is
/// captured.
fn reads_values(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs) -> bool {
    let stand_in = |it: &Tensor| match it.as_number() {
        Some(_) => it.clone(),
        None => Tensor::abstract_of(it.meta()),
    };
    let inputs: SmallVec<[Tensor; 3]> = inputs.iter().map(stand_in).collect();
    matches!(apply::infer(op, &inputs, attrs), Err(Error::Abstract))
}

fn shares_storage(a: &Tensor, b: &Tensor) -> bool {
    let root = |it: &Tensor| key_of(it).map(|key| key.0);
    root(a).is_some() && root(a) == root(b)
}

impl State {
    /// Ends the current segment at the cursor; nothing of it is held any longer.
    pub(super) fn settled(&mut self) {
        for slot in &mut self.results[self.settled..] {
            slot.root.settle();
        }
        self.start = self.cursor;
        self.settled = self.results.len();
        self.fed.clear();
        for slot in self.captures.iter_mut().chain(&mut self.results) {
            slot.held = None;
        }
    }

    /// Results of the current segment that someone can still read.
    pub(super) fn live(&self) -> Vec<(u32, Arc<Pending>)> {
        let new = self.results.iter().enumerate().skip(self.settled);
        new.filter_map(|(idx, slot)| Some((idx as u32, slot.live()?))).collect()
    }

    /// Hands out the elements of a result.
    pub(super) fn deliver(&mut self, at: u32, pending: &Pending, tensor: &Tensor) -> Result<()> {
        pending.deliver(tensor.storage()?);
        self.results[at as usize].root.settle();
        Ok(())
    }
}
