//! What a stretch owes whose run failed or was interrupted: it is computed op by op when somebody asks for it.
//!
//! So stopping a traced call costs no value that eager code would have: whoever reads one later waits for it, and only
//! values that depend on the op that failed cannot be had. Where it failed for want of memory it is tried again by whoever reads next.

use std::sync::{Arc, PoisonError, Weak};

use crate::graph::{Graph, op_by_op};
use crate::lower;
use crate::pending::{self, Pending};
use crate::sync::Mutex;
use crate::{Error, Result, Tensor};

/// A stretch to be computed.
pub(super) struct Deferred {
    graph: Graph,
    /// What waits for each output of the graph.
    outputs: Vec<Weak<Pending>>,
    state: Mutex<State>,
}

enum State {
    /// The inputs.
    Waits(Vec<Tensor>),
    /// Why an output has no value, for each.
    Done(Vec<Option<Error>>),
}

/// One output of a deferred stretch.
struct Owed {
    stretch: Arc<Deferred>,
    at: usize,
}

/// Makes each of `outputs` compute the graph when it is read.
pub(super) fn defer(graph: Graph, inputs: Vec<Tensor>, outputs: &[&Arc<Pending>]) {
    let waiting = outputs.iter().map(|it| Arc::downgrade(it)).collect();
    let state = Mutex::new(State::Waits(inputs));
    let stretch = Arc::new(Deferred { graph, outputs: waiting, state });
    for (at, pending) in outputs.iter().enumerate() {
        pending.owe(Owed { stretch: stretch.clone(), at });
    }
}

impl pending::Owed for Owed {
    /// Computes the stretch unless that has happened, and delivers all that can be computed. The error of this output, if it is
    /// not among that.
    fn compute(&self) -> Result<()> {
        let mut state = self.stretch.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Waits(inputs) = &*state {
            let errors = self.stretch.compute(inputs)?;
            if errors.iter().flatten().any(wants_memory) {
                return outcome(&errors, self.at);
            }
            *state = State::Done(errors);
        }
        match &*state {
            State::Done(errors) => outcome(errors, self.at),
            State::Waits(_) => Ok(()),
        }
    }
}

impl Deferred {
    /// Delivers all that can be computed; why an output cannot, for each.
    fn compute(&self, inputs: &[Tensor]) -> Result<Vec<Option<Error>>> {
        let values = op_by_op::run_each(&self.graph, inputs)?;
        let deliver = |(value, pending): (Result<Tensor>, &Weak<Pending>)| {
            let delivered = value.and_then(|it| lower::own(&it)?.storage());
            if let (Ok(bytes), Some(pending)) = (&delivered, pending.upgrade()) {
                pending.deliver(bytes.clone());
            }
            delivered.err()
        };
        Ok(values.into_iter().zip(&self.outputs).map(deliver).collect())
    }
}

fn outcome(errors: &[Option<Error>], at: usize) -> Result<()> {
    match errors.get(at) {
        Some(Some(error)) => Err(not_computed(error)),
        _ => Ok(()),
    }
}

fn wants_memory(error: &Error) -> bool {
    matches!(error.clone().apart().0, Error::OutOfMemory { .. })
}

fn not_computed(error: &Error) -> Error {
    let next = match wants_memory(error) {
        true => "`del` what is no longer needed, or raise the limit, and read it again",
        false => "make the tensor anew, or load what was saved",
    };
    let (error, site) = error.clone().apart();
    let problem =
        format!("this value could not be computed when its traced call ended ({error}); {next}");
    Error::Trace { problem }.at(site.unwrap_or_default())
}
