//! `__del__`: what is called when the last reference to an object goes.
//!
//! It cannot run where the object is dropped, since any code may be under way there. The object comes back with one last
//! reference and waits for the next call of a built-in function, jump back, or end of a cell. An object that only refers to
//! itself is freed without it. **Invariant:** it is called once for an object, and never in the check before running.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::check::unknown;
use crate::cx::Cx;
use crate::error::KEYBOARD_INTERRUPT;
use crate::objects::class::Instance;
use crate::objects::generator;
use crate::sym::Sym;
use crate::value::Value;

/// The method.
pub(crate) const NAME: &str = "__del__";

thread_local! {
    static WAITING: RefCell<Vec<Rc<Instance>>> = const { RefCell::new(Vec::new()) };
    static PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, objects that go are copies of a check.
pub(crate) struct Pause;

impl Pause {
    /// Begins a check.
    pub(crate) fn begin() -> Pause {
        PAUSED.set(true);
        Pause
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        PAUSED.set(false);
    }
}

/// Keeps an object whose `__del__` is to be called.
pub(crate) fn keep(instance: Instance) {
    if PAUSED.try_with(Cell::get).unwrap_or(true) {
        unknown::touch();
        return;
    }
    let kept = WAITING.try_with(|all| all.borrow_mut().push(Rc::new(instance)));
    if kept.is_ok() {
        generator::note_abandoned();
    }
}

/// The objects that wait; nobody else will call their `__del__`.
pub(crate) fn take_waiting() -> Vec<Rc<Instance>> {
    WAITING.take()
}

impl Cx {
    /// Calls `__del__` of the objects that wait.
    /// One interrupt ends all of them.
    pub(crate) fn run_finalizers(&mut self) {
        if PAUSED.get() {
            return;
        }
        for instance in WAITING.take() {
            // CPython prints errors here and goes on.
            let done = self.call_special(&Value::Instance(instance), Sym::of(NAME), &[]);
            if done.is_err_and(|it| it.is(&KEYBOARD_INTERRUPT)) {
                return;
            }
        }
    }
}
