//! Lists that get shorter while a loop goes over them, so that the loop passes over items.

use super::lint::REMOVE_IN_LOOP;
use crate::cx::Cx;
use crate::objects::iterator::IterState;
use crate::source::Span;
use crate::value::{List, Value};

/// Iterators that will pass over an item if they are asked for the next one, and where that came about.
#[derive(Default)]
pub(super) struct Shortened(Vec<(usize, Span)>);

impl Cx {
    /// Item `at` of a list is about to be removed.
    pub(crate) fn lint_removed(&mut self, list: &List, at: usize) {
        if self.check.is_none() {
            return;
        }
        let Some(span) = self.line_of_cell() else { return };
        let loops = self.machine.stack.iter().filter(|it| passes_over(it, list, at));
        let found: Vec<_> = loops.filter_map(|it| Some((it.address()?, span))).collect();
        self.shadow().shortened.0.extend(found);
    }

    /// A loop asks the iterator on top of the stack for its next item.
    pub(super) fn lint_next(&mut self) {
        if self.shadow().shortened.0.is_empty() {
            return;
        }
        let iter = self.machine.stack.last().and_then(Value::address);
        let waiting = &mut self.shadow().shortened.0;
        let Some(found) = waiting.iter().position(|it| Some(it.0) == iter) else { return };
        let (_, span) = waiting.swap_remove(found);
        self.note_at(&REMOVE_IN_LOOP, span);
    }
}

/// Whether an iterator that has passed item `at` of a list has another before it, which will move to where it has been.
fn passes_over(iter: &Value, list: &List, at: usize) -> bool {
    let Value::Iter(iter) = iter else { return false };
    let Ok(state) = iter.state.try_borrow() else { return false };
    match &*state {
        IterState::List { list: own, at: next } => {
            std::ptr::eq(&**own, list) && at < *next && *next < list.items.borrow().len()
        }
        IterState::Enumerate { inner, .. } => passes_over(inner, list, at),
        _ => false,
    }
}
