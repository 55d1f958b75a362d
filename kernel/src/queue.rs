//! Cells that wait for the interpreter.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::wire::header::Request;
use crate::wire::shell::ExecuteRequest;

/// A cell with the request that asked for it.
#[derive(Debug)]
pub struct Job {
    /// Where the reply goes, and what outputs belong to.
    pub request: Request,
    /// What to run.
    pub execute: ExecuteRequest,
    number: u64,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    pushed: u64,
    aborted_through: u64,
    is_closed: bool,
}

/// First in, first out; a failing cell or an interrupt aborts what waits.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    /// Adds a cell.
    pub fn push(&self, request: Request, execute: ExecuteRequest) {
        let mut state = lock(&self.state);
        state.pushed += 1;
        let number = state.pushed;
        state.jobs.push_back(Job { request, execute, number });
        self.changed.notify_all();
    }

    /// Waits for the next cell; `true` beside it means that it was aborted. `None` once closed.
    pub fn pop(&self) -> Option<(Job, bool)> {
        let mut state = lock(&self.state);
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.jobs.pop_front() {
                let is_aborted = job.number <= state.aborted_through;
                return Some((job, is_aborted));
            }
            state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Aborts all cells that wait now.
    pub fn abort(&self) {
        let mut state = lock(&self.state);
        state.aborted_through = state.pushed;
    }

    /// Waits until no cell has come for `quiet`, at most `limit`. A frontend sends a notebook's cells
    /// at once; a cell that fails at once must not overtake those behind it.
    pub fn settle(&self, quiet: Duration, limit: Duration) {
        let end = Instant::now() + limit;
        let mut state = lock(&self.state);
        loop {
            let before = state.pushed;
            let res = self.changed.wait_timeout(state, quiet);
            state = res.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            if state.pushed == before || state.is_closed || Instant::now() >= end {
                return;
            }
        }
    }

    /// Ends `pop` for good.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::header::Wire;
    use bytes::Bytes;

    fn push(queue: &Queue) {
        let wire = Wire::new("");
        let frames = wire.write(vec![], "execute_request", &Bytes::new(), &());
        let execute = serde_json::from_str(r#"{"code":""}"#).unwrap();
        queue.push(wire.read(&frames).unwrap(), execute);
    }

    #[test]
    fn aborts_only_what_waits() {
        let queue = Queue::default();
        push(&queue);
        push(&queue);
        queue.abort();
        push(&queue);
        let aborted: Vec<bool> = (0..3).map(|_| queue.pop().unwrap().1).collect();
        assert_eq!(aborted, [true, true, false]);
        queue.close();
        assert!(queue.pop().is_none());
    }
}
