//! Row-major blocks `[n, inner]` in strips of columns, and these in pieces of lines, so that what is read more than once stays near.
//!
//! How lines are cut, and the order in which pieces of them are joined, depends on the sizes alone: results depend neither on the threads
//! nor on whether the elements are there or made piece by piece.

use std::ops::Range;

use super::lane::{Block, Pieces, Scratch};
use super::pool::{self, Shared};
use super::typed::Plain;

/// Columns of a strip that is made, at least, if there are as many: to make shorter runs, far from each other, costs more than it spares.
const LEAST: usize = 128;
/// Elements of a strip that stays in the second-level cache, or next to it.
const NEAR: usize = 1 << 19;
/// Strips are cut along their lines, too, where there are fewer than this.
const FEW: usize = 16;

/// Whether strips of a block `[n, inner]` stay near as a whole.
pub(crate) fn are_near(n: usize, inner: usize) -> bool {
    n.saturating_mul(inner.min(LEAST)) <= NEAR
}

/// Columns of a strip with lines of `n` elements, at most `most`: what is made stays near.
pub(super) fn width<T: Plain>(x: &Pieces<'_, T>, n: usize, most: usize) -> usize {
    let is_made = x.at_once() < usize::MAX;
    if is_made { (NEAR / n.max(1)).clamp(LEAST, most.max(LEAST)) } else { most }
}

/// Some columns of a block with all their lines.
pub(super) struct Strip {
    /// Its first element.
    pub(super) first: usize,
    /// The number of its first column among those of all blocks.
    pub(super) column: usize,
    /// How many columns it has.
    pub(super) len: usize,
}

/// Calls `body` with strips of so many columns of blocks `[n, inner]`, each once, on several threads if there is enough to do.
pub(super) fn for_each(
    n_blocks: usize,
    (n, inner): (usize, usize),
    columns: usize,
    body: &(dyn Fn(Strip, &mut Scratch) + Sync),
) {
    let strips = inner.div_ceil(columns);
    pool::for_each_range(n_blocks * strips, n * columns, &|range| {
        let mut scratch = Scratch::default();
        for idx in range {
            let (block, start) = (idx / strips, idx % strips * columns);
            let (first, column) = (block * n * inner + start, block * inner + start);
            body(Strip { first, column, len: columns.min(inner - start) }, &mut scratch);
        }
    });
}

/// What is taken of some lines of a strip.
pub(super) struct Lines<'a, T> {
    pub(super) x: &'a [T],
    /// How far lines are apart in `x`.
    pub(super) step: usize,
    /// Elements of a line.
    pub(super) len: usize,
    /// Which lines of the block they are.
    pub(super) range: Range<usize>,
}

impl<'a, T> Lines<'a, T> {
    /// The elements of each.
    #[inline(always)]
    pub(super) fn each(&self) -> impl Iterator<Item = &'a [T]> + use<'a, T> {
        let Self { x, step, len, .. } = *self;
        (0..self.range.len()).map(move |it| &x[it * step..it * step + len])
    }
}

/// A fold over the lines of blocks that takes some of them at a time: in each of their columns.
pub(super) trait Fold<T>: Sync {
    /// What a column gives.
    type Total: Copy + Send + Sync;
    const START: Self::Total;
    /// Columns that are folded together, at most.
    const COLUMNS: usize;
    /// Adds lines to what those before them gave.
    fn take(&self, totals: &mut [Self::Total], lines: &Lines<'_, T>);
    /// What two neighbouring ranges of lines give together.
    fn join(&self, first: Self::Total, second: Self::Total) -> Self::Total;
}

/// How blocks are cut.
struct Cut {
    n: usize,
    inner: usize,
    columns: usize,
    /// Strips of a block.
    strips: usize,
    /// Lines that are taken at a time.
    lines: usize,
    /// Ranges of lines that are folded apart, of pieces that are taken at a time.
    ranges: usize,
}

impl Cut {
    fn new((n, inner): (usize, usize), n_blocks: usize, columns: usize, lines: usize) -> Self {
        let columns = inner.min(columns);
        let strips = inner.div_ceil(columns);
        let ranges = FEW.div_ceil(n_blocks * strips).min(n.div_ceil(lines));
        Self { n, inner, columns, strips, lines, ranges }
    }

    /// The results of a strip.
    fn columns_of(&self, strip: usize) -> Range<usize> {
        let start = strip % self.strips * self.columns;
        let first = strip / self.strips * self.inner + start;
        first..first + self.columns.min(self.inner - start)
    }

    /// Folds a range of lines of a strip.
    fn take<T: Plain, F: Fold<T>>(
        &self,
        fold: &F,
        x: &Pieces<'_, T>,
        (strip, range): (usize, usize),
        totals: &mut [F::Total],
        scratch: &mut Scratch,
    ) {
        let (len, range) = (totals.len(), self.range(range));
        let start = strip / self.strips * self.n * self.inner + strip % self.strips * self.columns;
        for from in range.clone().step_by(self.lines) {
            let range = from..(from + self.lines).min(range.end);
            let first = start + from * self.inner;
            let block = Block { first, len, count: range.len(), step: self.inner };
            // SAFETY: each line of a strip is asked for once.
            let (x, step) = unsafe { x.block(block, scratch) };
            fold.take(totals, &Lines { x, step, len, range });
        }
    }

    /// The lines of a range; it begins where a piece does.
    fn range(&self, idx: usize) -> Range<usize> {
        let pieces = self.n.div_ceil(self.lines);
        let at = |idx: usize| (pieces * idx / self.ranges * self.lines).min(self.n);
        at(idx)..at(idx + 1)
    }
}

/// Folds the middle axis of `x`, which is `[outer, n, inner]` with `n_results` columns in all, some `lines` at a time. `emit` gets the
/// totals of some columns and the number of the first one, each once, from several threads.
pub(super) fn fold<T: Plain, F: Fold<T>>(
    fold: &F,
    x: &Pieces<'_, T>,
    ((n, inner), n_results): ((usize, usize), usize),
    lines: usize,
    emit: &(dyn Fn(usize, &[F::Total]) + Sync),
) {
    let cut = Cut::new((n, inner), n_results / inner, F::COLUMNS, lines);
    let n_strips = n_results / inner * cut.strips;
    if cut.ranges == 1 {
        return pool::for_each_range(n_strips, n * cut.columns, &|strips| {
            let (mut scratch, mut totals) = (Scratch::default(), vec![F::START; cut.columns]);
            for strip in strips {
                let columns = cut.columns_of(strip);
                let totals = &mut totals[..columns.len()];
                totals.fill(F::START);
                cut.take(fold, x, (strip, 0), totals, &mut scratch);
                emit(columns.start, totals);
            }
        });
    }
    let mut parts = vec![F::START; cut.ranges * n_results];
    let slots = Shared(parts.as_mut_ptr());
    pool::for_each_chunk(n_strips * cut.ranges, &|job| {
        let (range, strip) = (job / n_strips, job % n_strips);
        let Range { start, end } = cut.columns_of(strip);
        // SAFETY: each strip of each range has slots of its own.
        let totals = unsafe { slots.part(range * n_results + start..range * n_results + end) };
        cut.take(fold, x, (strip, range), totals, &mut Scratch::default());
    });
    let (all, others) = parts.split_at_mut(n_results);
    for part in others.chunks_exact(n_results) {
        all.iter_mut().zip(part).for_each(|(total, &it)| *total = fold.join(*total, it));
    }
    emit(0, all);
}
