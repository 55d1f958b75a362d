//! The running cell, as the other threads see it: to interrupt it, to answer its `input()`, and to
//! tell clients that the kernel is still busy with it.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::handler::{InputError, InterruptFlag};
use crate::lock::lock;

#[derive(Default)]
struct State {
    /// Header of the running cell's request.
    parent: Option<Bytes>,
    /// Whether `input()` waits, and what came.
    is_asking: bool,
    answer: Option<String>,
}

/// At most one cell runs.
#[derive(Default)]
pub struct Running {
    flag: InterruptFlag,
    state: Mutex<State>,
    changed: Condvar,
}

impl Running {
    /// The flag that the interpreter polls.
    pub fn flag(&self) -> InterruptFlag {
        self.flag.clone()
    }

    /// A cell starts.
    pub fn begin(&self, parent: &Bytes) {
        let mut state = lock(&self.state);
        self.flag.store(false, Ordering::SeqCst);
        *state = State { parent: Some(parent.clone()), ..State::default() };
    }

    /// The cell has ended; `say_so` runs while nobody can say that it still runs.
    pub fn finish(&self, say_so: impl FnOnce()) {
        let mut state = lock(&self.state);
        say_so();
        self.flag.store(false, Ordering::SeqCst);
        *state = State::default();
        self.changed.notify_all();
    }

    /// Calls `tell` with the header of the running cell's request, if one runs.
    pub fn with_parent(&self, tell: impl FnOnce(&Bytes)) {
        if let Some(parent) = &lock(&self.state).parent {
            tell(parent);
        }
    }

    /// Asks the running cell to end; `false` if none runs.
    pub fn interrupt(&self) -> bool {
        let state = lock(&self.state);
        let runs = state.parent.is_some();
        if runs {
            self.flag.store(true, Ordering::SeqCst);
            self.changed.notify_all();
        }
        runs
    }

    /// Waits until no cell runs; `false` if one still runs after `limit`.
    pub fn wait_idle(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let mut state = lock(&self.state);
        while state.parent.is_some() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            let res = self.changed.wait_timeout(state, left);
            state = res.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Asks with `ask` and waits for the answer or an interrupt.
    pub fn input(&self, ask: impl FnOnce()) -> Result<String, InputError> {
        let mut state = lock(&self.state);
        state.is_asking = true;
        // An answer to an earlier question that came late is not one to this.
        state.answer = None;
        ask();
        let res = loop {
            if let Some(answer) = state.answer.take() {
                break Ok(answer);
            }
            if self.flag.load(Ordering::SeqCst) {
                break Err(InputError::Interrupted);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.is_asking = false;
        res
    }

    /// The user's answer; dropped if nobody asked.
    pub fn answer(&self, value: String) {
        let mut state = lock(&self.state);
        if state.is_asking {
            state.answer = Some(value);
            self.changed.notify_all();
        }
    }
}
