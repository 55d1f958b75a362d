//! Places on the tape, not leaves, whose gradients somebody wants to keep: a reverse walk to all leaves reports them too.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use super::{Edge, NEXT_ID};

/// Numbers by node and output.
pub(super) type Retained = FxHashMap<(u64, u32), u64>;

thread_local! {
    static RETAINED: RefCell<Retained> = RefCell::default();
}

/// Has the gradient at a place reported from now on, under a number that no leaf has.
pub fn retain(edge: &Edge) -> u64 {
    let fresh = || NEXT_ID.fetch_add(1, Ordering::Relaxed);
    RETAINED.with_borrow_mut(|it| *it.entry((edge.id(), edge.output)).or_insert_with(fresh))
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
