//! Places on the tape, not leaves, whose gradients somebody wants to keep: a reverse walk to all leaves reports them too.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::tape::{self, Edge};

/// Numbers by node and output.
pub(super) type Retained = FxHashMap<(u64, u32), u64>;

thread_local! {
    static RETAINED: RefCell<Retained> = RefCell::default();
}

/// Has the gradient at a place reported from now on, under a number that no leaf has.
pub fn retain(edge: &Edge) -> u64 {
    let place = (edge.id(), edge.output);
    RETAINED.with_borrow_mut(|it| *it.entry(place).or_insert_with(tape::fresh_id))
}

/// Ends that for all numbers that nobody asks for any more.
pub fn retain_only(is_wanted: impl Fn(u64) -> bool) {
    RETAINED.with_borrow_mut(|it| it.retain(|_, number| is_wanted(*number)));
}

pub(super) fn all() -> Retained {
    RETAINED.with_borrow(Clone::clone)
}

pub(super) fn none() -> bool {
    RETAINED.with_borrow(FxHashMap::is_empty)
}
