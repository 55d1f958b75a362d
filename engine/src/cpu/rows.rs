//! Outputs that are filled stretch by stretch; what follows on one is handed each stretch once it is done.

use std::ops::Range;

use super::interrupt;
use super::lane::Part;
use super::pool::{self, Shared};
use super::wide;

/// Elements of a stretch that is filled in turn: with what follows on it, it stays in the first-level cache.
const STRETCH: usize = 2048;

/// Calls `fill` with the number of each row of `len` elements and the row itself, on several threads; `part` follows on the rows.
///
/// # Panics
/// If `out` does not consist of whole rows.
pub(crate) fn for_each<T: Send>(
    out: &mut [T],
    len: usize,
    part: Part<'_>,
    fill: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    if out.is_empty() {
        return;
    }
    assert!(out.len().is_multiple_of(len), "whole rows");
    let (n_rows, out) = (out.len() / len, Shared(out.as_mut_ptr()));
    pool::for_each_range(n_rows, len, &|rows| {
        for row in rows.clone() {
            // SAFETY: each row is given once, and `out` has as many.
            fill(row, unsafe { out.part(row * len..(row + 1) * len) });
        }
        // SAFETY: these rows are written, and given once.
        unsafe { part.done(rows.start * len..rows.end * len) };
    });
}

/// Sets each element to what `at` gives for its place, on several threads.
pub(crate) fn set_each<T: Send>(out: &mut [T], at: impl Fn(usize) -> T + Sync) {
    let (n, out) = (out.len(), Shared(out.as_mut_ptr()));
    pool::for_each_range(n, 1, &|range| {
        // SAFETY: each range is given once, and `out` is as long.
        let part = unsafe { out.part(range.clone()) };
        wide::run(Set { part, first: range.start, at: &at });
    });
}

struct Set<'a, T, F> {
    part: &'a mut [T],
    first: usize,
    at: &'a F,
}

impl<T, F: Fn(usize) -> T> wide::Loop for Set<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { part, first, at } = self;
        part.iter_mut().zip(first..).for_each(|(slot, idx)| *slot = at(idx));
    }
}

/// Calls `fill` with one stretch after the other, on this thread; `part` follows on each.
pub(crate) fn in_turn<T>(out: &mut [T], part: Part<'_>, mut fill: impl FnMut(&mut [T])) {
    for piece in interrupt::pieces(out.len()) {
        for start in piece.clone().step_by(STRETCH) {
            let stretch: Range<usize> = start..(start + STRETCH).min(piece.end);
            fill(&mut out[stretch.clone()]);
            // SAFETY: the stretch is written, and given once.
            unsafe { part.done(stretch) };
        }
    }
}
