//! Stopping natives that run long without calling code of the language: they count steps, and look at the interrupt flag now and then.
//!
//! A loop that has a `Cx` counts with [`Pace`]; one that has none, such as a comparison within a sort, calls [`tick`]
//! inside [`stoppable`]. **Invariant:** outside of `stoppable` a `tick` does nothing.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cx::Cx;
use crate::error::Raised;

/// Steps between two looks: some microseconds of the simplest ones.
const STEPS: u32 = 4096;

/// Steps of one loop.
#[derive(Default)]
pub(crate) struct Pace(u32);

impl Pace {
    /// Counts a step; now and then looks whether the user has interrupted.
    #[inline]
    pub(crate) fn step(&mut self, cx: &mut Cx) -> Result<(), Raised> {
        self.0 += 1;
        if self.0 < STEPS {
            return Ok(());
        }
        self.0 = 0;
        cx.poll()
    }
}

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// What unwinds from a `tick` to its `stoppable`.
struct Stopped;

/// Counts a step of what [`stoppable`] runs, which ends here when the user interrupts.
#[inline]
pub(crate) fn tick() {
    let count = COUNT.get() + 1;
    COUNT.set(count);
    if count >= STEPS {
        look();
    }
}

#[cold]
fn look() {
    COUNT.set(0);
    let is_set = |it: &Arc<AtomicBool>| it.load(Ordering::Relaxed);
    if FLAG.with_borrow(|flag| flag.as_ref().is_some_and(is_set)) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Runs code that ticks; `KeyboardInterrupt` if it was stopped. What it was changing holds some of the changes then.
pub(crate) fn stoppable<R>(cx: &mut Cx, body: impl FnOnce() -> R) -> Result<R, Raised> {
    let outer = FLAG.replace(Some(cx.interrupt.clone()));
    let result = catch_unwind(AssertUnwindSafe(body));
    FLAG.set(outer);
    match result {
        Ok(value) => Ok(value),
        Err(payload) if is_stopped(&*payload) => Err(match cx.poll() {
            Err(raised) => raised,
            Ok(()) => Raised::with_args(&crate::error::KEYBOARD_INTERRUPT, Vec::new()),
        }),
        Err(payload) => resume_unwind(payload),
    }
}

/// As [`stoppable`], where `size` steps are to be made; few are not worth it.
#[inline]
pub(crate) fn stoppable_if_long<R>(
    cx: &mut Cx,
    size: usize,
    body: impl FnOnce() -> R,
) -> Result<R, Raised> {
    if size < STEPS as usize { Ok(body()) } else { stoppable(cx, body) }
}

fn is_stopped(payload: &(dyn Any + Send)) -> bool {
    payload.is::<Stopped>()
}

/// The characters of a text, each a step.
pub(crate) fn chars(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().inspect(|_| tick())
}
