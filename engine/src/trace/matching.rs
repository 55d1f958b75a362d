//! Replay: whether an application is a recorded step, and what it gives then.

use std::sync::Arc;

use smallvec::SmallVec;

use super::call::{Mode, State};
use super::identity::{Slot, fits, key_of};
use super::tree::{Out, Ref, Step, StepId};
use crate::admit;
use crate::op::Body;
use crate::pending::Pending;
use crate::tensor::Data;
use crate::tensor::Outputs;
use crate::{Attrs, Device, Error, OpDef, Result, Tensor};

impl State {
    /// The child of the cursor that this application matches.
    pub(super) fn find(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Option<StepId>> {
        let mut similar = None;
        for &id in &self.tree.step(self.cursor).children {
            let step = self.tree.step(id);
            let alike = step.op == Some(op) && step.device == device && &step.attrs == attrs;
            if !alike || step.inputs.len() != inputs.len() {
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
        fits(&inputs[idx], captured.device, captured.dtype, &captured.layout)
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

    /// Refuses what the op refuses, before its result is promised: elements that are still to come are computed for that. A reverse
    /// walk names no places but those of the ops that it goes back through, which have been looked at, or were made by them.
    pub(super) fn admit(
        &mut self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
    ) -> Result<()> {
        let seen = admit::ahead(op, inputs, attrs)?;
        if !seen && self.mode == Mode::Replay && self.walking == 0 {
            self.flush()?;
            admit::ahead(op, inputs, attrs)?;
        }
        Ok(())
    }

    /// Ends the current segment where a step on another device comes next: a graph runs on one.
    pub(super) fn stay_on(&mut self, device: Device) -> Result<()> {
        let leaves = self.start != self.cursor && self.tree.step(self.cursor).device != device;
        if leaves && self.mode == Mode::Replay { self.flush() } else { Ok(()) }
    }

    /// Takes a matching step: the outputs are pending, or views of what is there.
    pub(super) fn follow(&mut self, id: StepId, inputs: &[Tensor]) -> Result<Outputs> {
        self.stats.replayed += 1;
        self.cursor = id;
        let n_captures = self.captures.len();
        let step = &self.tree.steps[id as usize];
        for (it, tensor) in step.inputs.iter().zip(inputs) {
            match *it {
                Ref::Capture(at) => {
                    self.held.push(*it);
                    match self.captures.get_mut(at as usize) {
                        Some(slot) => slot.hold(tensor),
                        None => {
                            let made = self.following.map(|_| &mut self.made);
                            State::capture(&mut self.captures, made, tensor)
                        }
                    }
                }
                Ref::Result(at) if (at as usize) < self.settled => {
                    self.held.push(*it);
                    self.results[at as usize].hold(tensor);
                }
                Ref::Arg(at) => self.args[at as usize].hold(tensor),
                Ref::Fed(_) => {
                    self.fed.push(tensor.clone());
                    if self.following.is_some() {
                        self.all_fed.push(tensor.clone());
                    }
                }
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
            for at in n_captures..self.captures.len() {
                if let Some(key) = self.captures[at].key() {
                    self.known.entry(key).or_insert(Ref::Capture(at as u32));
                }
            }
            let first = self.results.len() - outputs.len();
            for (idx, output) in outputs.iter().enumerate() {
                self.know(output, Ref::Result((first + idx) as u32));
            }
        }
        Ok(outputs)
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
        let pending = Data::Pending(Arc::new(Pending::on(step.device)));
        return Ok(Tensor::make(out.dtype, out.layout.clone(), pending, None));
    }
    let (Some(OpDef { body: Body::View(view), .. }), [input]) = (step.op, inputs) else {
        return Err(Error::Trace { problem: "a view lost its operand".into() });
    };
    let layout = view(input.layout(), &step.attrs, &out.layout.shape);
    let layout = layout.ok_or_else(|| Error::Trace { problem: "a view changed".into() })?;
    Ok(Tensor::make(out.dtype, layout, input.data().clone(), None))
}
