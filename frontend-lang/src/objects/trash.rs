//! Dropping deep structures without deep recursion, and large ones without delay.
//!
//! Past a depth, contents wait in a queue. What is large is dropped in pieces: millions of objects take longer than a user waits for
//! a cell that is to stop, so after an interrupt the pieces are put off until the cell has been answered ([`empty`]).

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use engine::cpu::interrupt;

use crate::error::Raised;
use crate::memory;
use crate::objects::function::{CellVar, Func};
use crate::objects::generator::{GenState, Generator, abandon};
use crate::objects::iterator::{Iter, IterState};
use crate::patience::ITEMS;
use crate::value::{BoundMethod, List, Slice, Tuple, Value};

const DEEPEST: u32 = 60;
/// How long after an interrupt things are put off: a cell that has caught it and goes on frees what it lets go.
const HURRY: Duration = Duration::from_millis(100);

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static QUEUE: RefCell<Vec<Box<dyn Sized>>> = const { RefCell::new(Vec::new()) };
    static PUT_OFF: RefCell<Vec<Box<dyn Sized>>> = const { RefCell::new(Vec::new()) };
    static INTERRUPTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

trait Sized {}
impl<T> Sized for T {}

/// Drops `contents` now, or soon if drops are already nested deeply.
pub(crate) fn dispose<T: 'static>(contents: T) {
    let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
    if depth >= DEEPEST {
        let boxed: Box<dyn Sized> = Box::new(contents);
        let mut boxed = Some(boxed);
        let queued = QUEUE.try_with(|queue| {
            if let (Ok(mut queue), Some(boxed)) = (queue.try_borrow_mut(), boxed.take()) {
                queue.push(boxed);
            }
        });
        drop((queued, boxed));
        return;
    }
    let _ = DEPTH.try_with(|it| it.set(depth + 1));
    drop(contents);
    if depth == 0 {
        while let Ok(Some(next)) = QUEUE.try_with(|queue| queue.borrow_mut().pop()) {
            drop(next);
        }
    }
    let _ = DEPTH.try_with(|it| it.set(depth));
}

/// The user waits for the cell to stop.
pub(crate) fn note_interrupt() {
    INTERRUPTED.set(Some(Instant::now()));
}

/// Drops what was put off.
pub(crate) fn empty() {
    INTERRUPTED.set(None);
    while let Some(next) = PUT_OFF.with_borrow_mut(Vec::pop) {
        drop(next);
    }
}

fn is_hurried() -> bool {
    interrupt::is_up()
        || INTERRUPTED.try_with(Cell::get).is_ok_and(|it| it.is_some_and(|at| at.elapsed() < HURRY))
}

/// Drops what may be large.
pub(crate) fn free_many<T: 'static>(mut contents: Vec<T>) {
    while contents.len() > ITEMS {
        if is_hurried() {
            return put_off(contents);
        }
        dispose(contents.split_off(contents.len() - ITEMS));
    }
    dispose(contents);
}

/// Items on their way into a list; what is not handed over, since the list is not to be after all, is freed as a list's.
#[derive(Default)]
pub(crate) struct Items(Vec<Value>);

impl Items {
    /// Makes room for `count` more items, or `MemoryError`.
    pub(crate) fn reserve(&mut self, count: usize) -> Result<(), Raised> {
        memory::reserve(&mut self.0, count)
    }

    /// Adds an item, or `MemoryError`.
    #[inline]
    pub(crate) fn push(&mut self, item: Value) -> Result<(), Raised> {
        memory::push(&mut self.0, item)
    }

    /// All of them.
    pub(crate) fn take(mut self) -> Vec<Value> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        free(std::mem::take(&mut self.0));
    }
}

fn put_off<T: 'static>(contents: Vec<T>) {
    let mut boxed: Option<Box<dyn Sized>> = Some(Box::new(contents));
    let _ = PUT_OFF.try_with(|it| it.borrow_mut().extend(boxed.take()));
}

fn nests(value: &Value) -> bool {
    value.address().is_some() && !matches!(value, Value::Str(_) | Value::Native(_))
}

impl Drop for List {
    fn drop(&mut self) {
        free(std::mem::take(self.items.get_mut()));
    }
}

/// Drops items; numbers are only looked at, which is the quicker way through millions of them.
pub(crate) fn free(mut items: Vec<Value>) {
    while let Some(at) = items.len().checked_sub(ITEMS).filter(|_| !is_hurried())
        && items[at..].iter().all(Value::is_plain)
    {
        items.drain(at..).for_each(std::mem::forget);
    }
    if items.len() > ITEMS {
        free_many(items);
    } else if items.iter().any(nests) {
        dispose(items);
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        if self.len() > ITEMS {
            free_many(self.take().into_vec());
        } else if self.iter().any(nests) {
            dispose(self.take());
        }
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        let parts = [&mut self.start, &mut self.stop, &mut self.step];
        for part in parts.into_iter().filter(|it| nests(it)) {
            dispose(std::mem::take(part));
        }
    }
}

impl Drop for BoundMethod {
    fn drop(&mut self) {
        dispose((std::mem::take(&mut self.func), std::mem::take(&mut self.this)));
    }
}

impl Drop for CellVar {
    fn drop(&mut self) {
        let value = self.value_mut();
        if nests(value) {
            dispose(std::mem::take(value));
        }
    }
}

impl Drop for Func {
    fn drop(&mut self) {
        let values = self.defaults.len() + self.keyword_defaults.len() + self.attrs.get_mut().len();
        if values > 0 {
            dispose(std::mem::take(&mut self.defaults));
            dispose(std::mem::take(&mut self.keyword_defaults));
            dispose(std::mem::take(self.attrs.get_mut()));
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        let state = std::mem::replace(self.state.get_mut(), GenState::Done);
        if let Some(state @ GenState::Waiting(_)) = abandon(state) {
            dispose(state);
        }
    }
}

impl Drop for Iter {
    fn drop(&mut self) {
        use IterState::*;
        let state = self.state.get_mut();
        if !matches!(state, Done | Range { .. } | Str { .. }) {
            dispose(std::mem::replace(state, Done));
        }
    }
}
