//! Dropping deep structures without deep recursion: past a depth, contents wait in a queue.

use std::cell::{Cell, RefCell};

use crate::value::{List, Tuple, Value};

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
        if self.items.get_mut().iter().any(nests) {
            dispose(std::mem::take(self.items.get_mut()));
        }
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        if self.iter().any(nests) {
            dispose(self.take());
        }
    }
}
