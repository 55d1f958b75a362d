//! Where the best element is along one axis of a row-major block `[outer, n, inner]`, on all threads.
//!
//! Lines are cut into pieces, of which only those that hold something better are looked at twice. What is found does not depend on that.

use super::lane::{Part, Pieces, Scratch};
use super::number::Num;
use super::pool::{self, Shared};
use super::reduce;
use super::softmax::grouped;
use super::strips::{self, Lines};
use super::wide;

/// Elements of which values and places are looked for at a time: they are read twice.
const AT_ONCE: usize = 1 << 13;
/// Columns that are walked together.
const COLUMNS: usize = 512;
/// Elements of columns that are walked at a time.
const WALKED: usize = 1 << 15;

/// The largest (or smallest) element along the axis and its first index; NaN beats everything. `part` follows on either of the two.
pub fn best<T: Num>(
    largest: bool,
    x: &Pieces<'_, T>,
    sizes: (usize, usize),
    values: &mut [T],
    indices: &mut [i64],
    part: Part<'_>,
) {
    assert!(indices.len() == values.len(), "as many indices as values");
    match largest {
        true => side::<T, true>(x, sizes, values, indices, part),
        false => side::<T, false>(x, sizes, values, indices, part),
    }
}

/// The largest, or the smallest.
fn side<T: Num, const LARGEST: bool>(
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    values: &mut [T],
    indices: &mut [i64],
    part: Part<'_>,
) {
    let block = n * inner;
    if block == 0 {
        return;
    }
    if block <= AT_ONCE {
        return of_blocks::<T, LARGEST>(x, (n, inner), values, indices, part);
    }
    let len = values.len();
    let lines = if inner == 1 { AT_ONCE } else { WALKED / inner.min(COLUMNS) };
    let (slots, values) = (Shared(indices.as_mut_ptr()), Shared(values.as_mut_ptr()));
    strips::fold(&Best::<LARGEST>, x, ((n, inner), len), lines, &|first, totals| {
        let done = first..first + totals.len();
        // SAFETY: each result is given once.
        let (values, slots) = unsafe { (values.part(done.clone()), slots.part(done.clone())) };
        for ((value, slot), total) in values.iter_mut().zip(slots).zip(totals) {
            (*value, *slot) = *total;
        }
        // SAFETY: as above.
        unsafe { part.done(done) };
    });
}

/// Of blocks some of which are near together.
fn of_blocks<T: Num, const LARGEST: bool>(
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    values: &mut [T],
    indices: &mut [i64],
    part: Part<'_>,
) {
    let block = n * inner;
    let (n_blocks, at_once) = (values.len() / inner, x.at_once().min(AT_ONCE) / block);
    let (slots, values) = (Shared(indices.as_mut_ptr()), Shared(values.as_mut_ptr()));
    pool::for_each_range(n_blocks, block, &|range| {
        let mut scratch = Scratch::default();
        for blocks in grouped(range, at_once) {
            let columns = blocks.start * inner..blocks.end * inner;
            // SAFETY: each range is given once.
            let (x, values, slots) = unsafe {
                let x = x.range(blocks.start * block..blocks.end * block, &mut scratch);
                (x, values.part(columns.clone()), slots.part(columns.clone()))
            };
            extreme::<T, LARGEST>(x, (n, inner), values);
            let places = values.chunks_exact(inner).zip(slots.chunks_exact_mut(inner));
            for (block, (values, slots)) in x.chunks_exact(block).zip(places) {
                find(block, inner, values, slots);
            }
            // SAFETY: as above; the values of these blocks are written before.
            unsafe { part.done(columns) };
        }
    });
}

/// The best elements themselves.
fn extreme<T: Num, const LARGEST: bool>(x: &[T], sizes: (usize, usize), values: &mut [T]) {
    match LARGEST {
        true => reduce::fold(reduce::Max, &x.into(), sizes, values, |x| x, Part::NONE),
        false => reduce::fold(reduce::Min, &x.into(), sizes, values, |x| x, Part::NONE),
    }
}

/// Where each value stands first in its column of a block `[n, inner]`; a NaN stands for itself.
fn find<T: Num>(block: &[T], inner: usize, values: &[T], slots: &mut [i64]) {
    if inner == 1 {
        slots[0] = place(block, values[0]) as i64;
        return;
    }
    for (idx, row) in block.chunks_exact(inner).enumerate().rev() {
        for ((&x, &value), slot) in row.iter().zip(values).zip(slots.iter_mut()) {
            *slot = if x == value || x.is_nan() { idx as i64 } else { *slot };
        }
    }
}

/// Where a value, or else the first NaN, stands in a row that holds it.
fn place<T: Num>(row: &[T], value: T) -> usize {
    row.iter().position(|&x| x == value || x.is_nan()).unwrap_or(0)
}

/// Whether an element takes the place of the best one before it.
#[inline(always)]
fn wins<T: Num, const LARGEST: bool>(x: T, best: T) -> bool {
    let is_better = if LARGEST { x > best } else { x < best };
    is_better || (x.is_nan() && !best.is_nan())
}

/// The best element of each column, and its line.
struct Best<const LARGEST: bool>;

impl<T: Num, const LARGEST: bool> strips::Fold<T> for Best<LARGEST> {
    type Total = (T, i64);
    const START: (T, i64) = (if LARGEST { T::LOWEST } else { T::HIGHEST }, 0);
    const COLUMNS: usize = COLUMNS;

    fn take(&self, totals: &mut [(T, i64)], lines: &Lines<'_, T>) {
        let first = lines.range.start as i64;
        if let ([total], 1) = (&mut *totals, lines.step) {
            let mut value = [total.0];
            extreme::<T, LARGEST>(lines.x, (lines.x.len(), 1), &mut value);
            if wins::<T, LARGEST>(value[0], total.0) {
                *total = (value[0], first + place(lines.x, value[0]) as i64);
            }
            return;
        }
        let (mut values, mut places) = ([T::default(); COLUMNS], [-1; COLUMNS]);
        let (values, places) = (&mut values[..totals.len()], &mut places[..totals.len()]);
        values.iter_mut().zip(totals.iter()).for_each(|(value, total)| *value = total.0);
        wide::run(Walk::<T, LARGEST> { lines, values, places });
        for (total, (&value, &place)) in totals.iter_mut().zip(values.iter().zip(places.iter())) {
            *total = if place < 0 { *total } else { (value, first + i64::from(place)) };
        }
    }

    fn join(&self, first: (T, i64), second: (T, i64)) -> (T, i64) {
        if wins::<T, LARGEST>(second.0, first.0) { second } else { first }
    }
}

/// Some lines, of which each column's best so far is known; places are counted from the first of them.
struct Walk<'a, 'b, T, const LARGEST: bool> {
    lines: &'a Lines<'b, T>,
    values: &'a mut [T],
    places: &'a mut [i32],
}

impl<T: Num, const LARGEST: bool> wide::Loop for Walk<'_, '_, T, LARGEST> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (line, row) in self.lines.each().enumerate() {
            let slots = self.values.iter_mut().zip(self.places.iter_mut());
            for (&x, (value, place)) in row.iter().zip(slots) {
                let wins = wins::<T, LARGEST>(x, *value);
                *value = if wins { x } else { *value };
                *place = if wins { line as i32 } else { *place };
            }
        }
    }
}
