//! What a stretch owes whose run failed or was interrupted: it is computed op by op when somebody asks for it.
//!
//! So stopping a traced call costs no value that eager code would have: whoever reads one later waits for it, and only
//! values that depend on the op that failed cannot be had.

use std::sync::{Arc, PoisonError, Weak};

use crate::graph::{Graph, op_by_op};
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
            let values = op_by_op::run_each(&self.stretch.graph, inputs)?;
            let mut errors = Vec::with_capacity(values.len());
            for (value, pending) in values.into_iter().zip(&self.stretch.outputs) {
                let delivered = value.and_then(|it| it.storage());
                if let (Ok(bytes), Some(pending)) = (&delivered, pending.upgrade()) {
                    pending.deliver(bytes.clone());
                }
                errors.push(delivered.err());
            }
            *state = State::Done(errors);
        }
        match &*state {
            State::Done(errors) => match errors.get(self.at) {
                Some(Some(error)) => Err(not_computed(error)),
                _ => Ok(()),
            },
            State::Waits(_) => Ok(()),
        }
    }
}

fn not_computed(error: &Error) -> Error {
    let (error, site) = error.clone().apart();
    let problem = format!(
        "this value could not be computed when its traced call ended ({error}); make the tensor anew, or load what was saved"
    );
    Error::Trace { problem }.at(site.unwrap_or_default())
}
