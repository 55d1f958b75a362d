//! Tracing: a function's tensor ops are recorded once, then answered from a compiled plan while its body still runs.
//!
//! This file holds the hooks into op application and the reverse walk; `tree` what was recorded, `call` one running call,
//! `matching` and `recording` what it does with an op, `walk` reverse walks as single events, `segment` the compiled
//! stretches, `deferred` those that failed, `check` calls that are compared with eager ones, `traced` the handle that callers use, `alone` runs without the body, `pace` whether tracing
//! pays, `latest` what one looks at afterwards.
//!
//! **Invariant:** a value that anyone can still read is delivered before the trace lets go of it, so a traced call never
//! returns what the eager call would not.

mod alone;
mod call;
mod check;
mod deferred;
mod departure;
mod identity;
mod latest;
mod matching;
mod pace;
mod recording;
mod segment;
mod traced;
mod tree;
mod walk;

#[cfg(test)]
mod alone_tests;
#[cfg(test)]
mod check_tests;
#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod gpu_tests;
#[cfg(test)]
mod onto_tests;
#[cfg(test)]
mod relaxed_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod training_tests;
#[cfg(test)]
mod walk_tests;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

pub use alone::{Alone, Now, Ran};
pub use call::Stats;
pub use check::{in_words, is_alike};
pub use departure::{Departure, just_departed, just_refused};
pub use latest::{Compiled, Given, Latest, Left, Place};
pub use pace::{Pace, Turn, Verdict};
pub use traced::{Call, Excluded, Finished, Following, Options, Path, Traced, exclude};
pub use tree::ArgSpec;

pub use crate::pending::flush;

pub(crate) use identity::{Key, key_of};
pub(crate) use recording::reads_values;

use crate::interpreter::{self, Interpreter, Root};
use crate::pending::{self, Promiser};
use crate::tape::{Mark, Node};
use crate::tensor::Outputs;
use crate::{Attrs, Device, OpDef, Result, Tensor};
use call::{Mode, State};
use walk::Begun;

type Active = Rc<RefCell<State>>;

thread_local! {
    static ACTIVE: RefCell<Option<Active>> = const { RefCell::new(None) };
    static READS_ALONG: Cell<bool> = const { Cell::new(false) };
}

/// Reads elements in a body that may be left out later, where the caller sees to it that a run without the body reads them too: among the
/// results that are told to [`Call::finish_storing`] is the tensor.
pub fn reading_along<R>(read: impl FnOnce() -> R) -> R {
    let before = READS_ALONG.replace(true);
    let res = read();
    READS_ALONG.set(before);
    res
}

/// Whether op applications on this thread go through a trace.
pub fn active() -> bool {
    interpreter::active()
}

/// Op applications of the running call so far, those of inline calls included; `None` outside a trace.
pub fn n_ops() -> Option<usize> {
    with(|it| it.stats.recorded + it.stats.replayed)
}

/// Whether the running call, inline calls included, has walked a tape backwards.
pub fn has_walked() -> bool {
    with(|it| it.walked).unwrap_or(false)
}

/// How often the running call has walked a tape backwards, each time behind an update since the time before.
pub fn n_updated_walks() -> usize {
    with(|it| it.n_walks).unwrap_or(0)
}

/// Whether ops on this thread build a graph and compute nothing yet.
pub fn is_symbolic() -> bool {
    with(|it| it.mode == Mode::Symbolic).unwrap_or(false)
}

/// Delivers all values that the running trace still owes, because somebody reads one.
fn deliver_all() -> Result<()> {
    with(|it| it.may_read().and_then(|()| it.flush())).unwrap_or(Ok(()))
}

/// A program looks at elements.
fn look() -> Result<()> {
    with(State::may_read).unwrap_or(Ok(()))
}

/// The interpreter of all traces: it asks the running one.
struct Tracing;

impl Interpreter for Tracing {
    fn replay(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
    ) -> Result<Option<(Outputs, Mark)>> {
        with(|it| it.replay(op, inputs, attrs, device)).unwrap_or(Ok(None))
    }

    fn record(
        &self,
        op: &'static OpDef,
        inputs: &[Tensor],
        attrs: &Attrs,
        device: Device,
        outputs: &Outputs,
    ) {
        with(|it| it.record(op, inputs, attrs, device, outputs));
    }

    fn follows(&self, _: Device) -> bool {
        true
    }

    fn moves(&self, to: Device) -> Result<()> {
        with(|it| it.moves(to)).unwrap_or(Ok(()))
    }

    fn records_only(&self) -> bool {
        with(|it| it.options.record_only).unwrap_or(false)
    }

    fn walking(&self, begins: bool) {
        with(|it| match begins {
            true => it.walking += 1,
            false => {
                it.walking = it.walking.saturating_sub(1);
                it.has_walked();
            }
        });
    }

    fn take_walk(&self, roots: &[Root], retain: bool) -> Result<Option<Vec<(u64, Tensor)>>> {
        with(|it| it.take_walk(roots, retain)).unwrap_or(Ok(None))
    }

    fn walk_begins(&self) -> Option<Box<dyn Any>> {
        with(|it| it.walk_begins())?.map(|it| Box::new(it) as Box<dyn Any>)
    }

    fn walk_ends(
        &self,
        begun: &dyn Any,
        roots: &[Root],
        retain: bool,
        passed: &[Arc<Node>],
        found: &[(u64, Tensor)],
    ) {
        if let Some(begun) = begun.downcast_ref::<Begun>() {
            with(|it| it.walk_ends(begun, roots, retain, passed, found));
        }
    }
}

/// Makes `state` the active one; returns the former.
fn install(state: Option<Active>) -> Option<Active> {
    let is_on = state.is_some();
    interpreter::install(is_on.then_some(&Tracing));
    pending::install(is_on.then_some(Promiser { flush: deliver_all, read: look }));
    ACTIVE.replace(state)
}

/// Calls `body` with the active state; `None` outside a trace, or when the state is busy running a segment.
fn with<R>(body: impl FnOnce(&mut State) -> R) -> Option<R> {
    let state = ACTIVE.with_borrow(Clone::clone)?;
    let mut state = state.try_borrow_mut().ok()?;
    Some(body(&mut state))
}
