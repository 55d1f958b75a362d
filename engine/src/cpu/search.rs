//! Places of values in sorted lines, on all threads.

use std::ops::Range;

use super::number::Num;
use super::pool::{self, Shared};

/// For each value how many elements of its line, which is sorted with NaN at the end, come before it; with `right` also those that equal it. Lines
/// have `n` elements, and `each` values in a row belong to one. The steps of a search depend on `n` alone, not on what is found: none is
/// guessed by the processor.
pub fn positions<T: Num>(
    lines: &[T],
    values: &[T],
    (n, each): (usize, usize),
    right: bool,
    out: &mut [i64],
) {
    assert!(out.len() == values.len(), "as many positions as values");
    let slots = Shared(out.as_mut_ptr());
    pool::for_each_range(
        values.len(),
        1 + n.checked_ilog2().unwrap_or(0) as usize,
        &|range: Range<usize>| {
            // SAFETY: each range is given once, and there are as many slots as values.
            let out = unsafe { slots.part(range.clone()) };
            for ((idx, &x), slot) in range.clone().zip(&values[range]).zip(out) {
                let start = idx / each * n;
                let line = &lines[start..start + n];
                *slot = match (x.is_nan(), right) {
                    (false, false) => before(line, |it| it < x),
                    (false, true) => before(line, |it| it <= x),
                    (true, false) => before(line, |it| !it.is_nan()),
                    (true, true) => n,
                } as i64;
            }
        },
    );
}

/// How many elements there are for which `is_before` holds, which are the first.
#[inline(always)]
fn before<T: Copy>(line: &[T], is_before: impl Fn(T) -> bool) -> usize {
    let (mut base, mut size) = (0, line.len());
    while size > 1 {
        let half = size / 2;
        base += if is_before(line[base + half - 1]) { half } else { 0 };
        size -= half;
    }
    base + usize::from(size == 1 && is_before(line[base]))
}
