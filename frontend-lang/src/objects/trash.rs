//! Dropping deep structures without deep recursion: past a depth, contents wait in a queue.

use std::cell::{Cell, RefCell};

use crate::objects::function::{CellVar, Func};
use crate::objects::generator::{GenState, Generator, abandon};
use crate::objects::iterator::{Iter, IterState};
use crate::value::{BoundMethod, List, Slice, Tuple, Value};

const DEEPEST: u32 = 60;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static QUEUE: RefCell<Vec<Box<dyn Sized>>> = const { RefCell::new(Vec::new()) };
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

fn nests(value: &Value) -> bool {
    value.address().is_some() && !matches!(value, Value::Str(_) | Value::Native(_))
}

impl Drop for List {
    fn drop(&mut self) {
        free(std::mem::take(self.items.get_mut()));
    }
}

/// Drops items; numbers are only looked at, which is the quicker way through millions of them.
pub(crate) fn free(items: Vec<Value>) {
    if items.iter().all(|it| it.address().is_none()) {
        items.into_iter().for_each(std::mem::forget);
    } else if items.iter().any(nests) {
        dispose(items);
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        if self.iter().any(nests) {
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
