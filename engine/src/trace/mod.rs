//! Tracing: a function's tensor ops are recorded once, then answered from a compiled plan while its body still runs.
//!
//! This file holds the hooks into op application and the reverse walk; `tree` what was recorded, `call` one running call,
//! `matching` and `recording` what it does with an op, `walk` reverse walks as single events, `segment` the compiled
//! stretches, `deferred` those that failed, `traced` the handle that callers use, `latest` what one looks at afterwards.
//!
//! **Invariant:** a value that anyone can still read is delivered before the trace lets go of it, so a traced call never
//! returns what the eager call would not.

mod call;
mod deferred;
mod departure;
mod identity;
mod latest;
mod matching;
mod recording;
mod segment;
mod traced;
mod tree;
mod walk;

#[cfg(test)]
mod failure_tests;
#[cfg(test)]
pub(crate) mod test_ops;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod training_tests;
#[cfg(test)]
mod walk_tests;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

pub use call::Stats;
pub use departure::{Departure, just_departed};
pub use latest::{Compiled, Given, Latest, Left, Place};
pub use traced::{Call, Excluded, Finished, Options, Path, Traced, exclude};

use crate::apply::Outputs;
use crate::autograd::{Node, Root};
use crate::cpu::alloc::Bytes;
use crate::{Attrs, Error, OpDef, Result, Tensor};
use call::State;
use deferred::Owed;
use tree::StepId;
pub(crate) use walk::Begun;

/// A value that a compiled segment will deliver.
#[derive(Default)]
pub struct Pending {
    cell: OnceLock<Arc<Bytes>>,
    /// How to come by it after the segment failed.
    owed: OnceLock<Arc<Owed>>,
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").field("cell", &self.cell).finish_non_exhaustive()
    }
}

impl Pending {
    /// The elements; runs the active trace up to here when they are not there yet.
    pub(crate) fn force(&self) -> Result<&Arc<Bytes>> {
        if self.cell.get().is_none() {
            flush()?;
        }
        if let (None, Some(owed)) = (self.cell.get(), self.owed.get()) {
            owed.compute()?;
        }
        self.cell.get().ok_or_else(lost)
    }

    /// The elements, if they have been delivered.
    pub(crate) fn delivered(&self) -> Option<&Arc<Bytes>> {
        self.cell.get()
    }

    /// Delivers the elements; a second delivery is ignored.
    pub(crate) fn deliver(&self, bytes: Arc<Bytes>) {
        let _ = self.cell.set(bytes);
    }
}

fn lost() -> Error {
    Error::Trace { problem: "this value belongs to a trace that did not finish".into() }
}

type Active = Rc<RefCell<State>>;

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
}

/// Whether op applications on this thread go through a trace.
pub fn active() -> bool {
    ON.get()
}

/// Whether the running trace only builds a graph, for a file say, and computes nothing.
pub(crate) fn records_only() -> bool {
    active() && with(|it| it.options.record_only).unwrap_or(false)
}

/// Delivers all values that the running trace still owes; does nothing outside a trace.
///
/// Callers that change what ops do (the random seed, say) call this first.
pub fn flush() -> Result<()> {
    with(State::flush).unwrap_or(Ok(()))
}

/// Names the step of a running call that an application was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    call: u64,
    step: StepId,
}

impl Mark {
    /// Of what no call answered from its recording.
    pub(crate) const NONE: Self = Self { call: 0, step: 0 };

    fn new(call: u64, step: StepId) -> Self {
        Self { call, step }
    }

    /// The step, if it was one of this call.
    fn step_of(self, call: u64) -> Option<StepId> {
        (self.call == call).then_some(self.step)
    }
}

/// Called before an op runs. `Some` when the application matches the recording: the outputs are pending.
pub(crate) fn replay(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
) -> Result<Option<(Outputs, Mark)>> {
    with(|it| it.replay(op, inputs, attrs)).unwrap_or(Ok(None))
}

/// Called after an op ran eagerly while recording.
pub(crate) fn record(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, outputs: &Outputs) {
    with(|it| it.record(op, inputs, attrs, outputs));
}

/// Called before a reverse walk to all leaves: their gradients, when the recording holds this walk.
pub(crate) fn take_walk(roots: &[Root], retain: bool) -> Result<Option<Vec<(u64, Tensor)>>> {
    if !active() {
        return Ok(None);
    }
    with(|it| it.take_walk(roots, retain)).unwrap_or(Ok(None))
}

/// Called before such a walk when the recording does not hold it.
pub(crate) fn walk_begins() -> Option<Begun> {
    with(|it| it.walk_begins())?
}

/// Called after it, with the nodes that it went through in order and the gradients by leaf, ascending.
pub(crate) fn walk_ends(
    begun: &Begun,
    roots: &[Root],
    retain: bool,
    passed: &[Arc<Node>],
    found: &[(u64, Tensor)],
) {
    with(|it| it.walk_ends(begun, roots, retain, passed, found));
}

/// While it exists, a reverse walk is under way.
pub(crate) struct Walking(());

/// Called as a reverse walk begins.
pub(crate) fn walking() -> Walking {
    with(|it| it.walking += 1);
    Walking(())
}

impl Drop for Walking {
    fn drop(&mut self) {
        with(|it| {
            it.walking = it.walking.saturating_sub(1);
            it.walked = true;
        });
    }
}

/// Makes `state` the active one; returns the former.
fn install(state: Option<Active>) -> Option<Active> {
    ON.set(state.is_some());
    ACTIVE.replace(state)
}

/// Calls `body` with the active state; `None` outside a trace, or when the state is busy running a segment.
fn with<R>(body: impl FnOnce(&mut State) -> R) -> Option<R> {
    let state = ACTIVE.with_borrow(Clone::clone)?;
    let mut state = state.try_borrow_mut().ok()?;
    Some(body(&mut state))
}
