//! Sums of squared distances from means, in `f64`, on all threads.
//!
//! Both are found in two passes over as much as stays near. What pieces of a longer line give is joined: the order of operations depends
//! on the sizes alone, so results do not depend on the threads.

use super::lane::{Part, Pieces, Scratch};
use super::moments::{COLUMNS, Strip, sum};
use super::number::Float;
use super::pool::{self, Shared};
use super::softmax::grouped;
use super::strips::{self, Lines};
use super::wide;

/// Elements of a piece, which is read twice.
const PIECE: usize = 1 << 16;

/// For each position along the outer and inner axes of `x`, which is `[outer, n, inner]` in row-major order: the sum of
/// squared distances from the mean, through `finish`. What follows on `out` is `part`.
pub fn squares<T: Float>(
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    out: &mut [T],
    finish: &(dyn Fn(f64) -> T + Sync),
    part: Part<'_>,
) {
    if n == 0 || inner == 0 {
        out.fill(finish(0.0));
        // SAFETY: all is written, by this thread.
        return unsafe { part.all_done() };
    }
    if inner == 1 && n <= PIECE {
        return of_rows(x, n, out, finish, part);
    }
    let lines = (PIECE / inner.min(COLUMNS)).max(1);
    let (sizes, slots) = (((n, inner), out.len()), Shared(out.as_mut_ptr()));
    strips::fold(&Spread, x, sizes, lines, &|first, totals| {
        let done = first..first + totals.len();
        // SAFETY: each result is given once.
        let slots = unsafe { slots.part(done.clone()) };
        slots.iter_mut().zip(totals).for_each(|(slot, it)| *slot = finish(it.squares));
        // SAFETY: as above.
        unsafe { part.done(done) };
    });
}

/// Of rows that are no longer than a piece.
fn of_rows<T: Float>(
    x: &Pieces<'_, T>,
    n: usize,
    out: &mut [T],
    finish: &(dyn Fn(f64) -> T + Sync),
    part: Part<'_>,
) {
    let slots = Shared(out.as_mut_ptr());
    pool::for_each_range(out.len(), n, &|range| {
        let mut scratch = Scratch::default();
        for rows in grouped(range, x.at_once() / n) {
            // SAFETY: each range is given once.
            let (x, slots) = unsafe {
                let x = x.range(rows.start * n..rows.end * n, &mut scratch);
                (x, slots.part(rows.clone()))
            };
            for (slot, row) in slots.iter_mut().zip(x.chunks_exact(n)) {
                let mean = sum(row, 0.0, false) / n as f64;
                *slot = finish(sum(row, mean, true));
            }
            // SAFETY: as above.
            unsafe { part.done(rows) };
        }
    });
}

/// The number of some elements, their mean, and the sum of squared distances from it.
#[derive(Clone, Copy)]
struct Moments {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    const NONE: Self = Self { n: 0.0, mean: 0.0, squares: 0.0 };

    /// Those of these elements and others.
    fn with(self, other: Self) -> Self {
        if self.n == 0.0 {
            return other;
        }
        let (n, apart) = (self.n + other.n, other.mean - self.mean);
        let squares = apart * apart * (self.n * (other.n / n));
        Self {
            n,
            mean: self.mean + apart * (other.n / n),
            squares: self.squares + other.squares + squares,
        }
    }
}

/// The moments of each column.
struct Spread;

impl<T: Float> strips::Fold<T> for Spread {
    type Total = Moments;
    const START: Moments = Moments::NONE;
    const COLUMNS: usize = COLUMNS;

    fn take(&self, totals: &mut [Moments], lines: &Lines<'_, T>) {
        let &Lines { x, step, len, ref range } = lines;
        let n = range.len() as f64;
        if let ([total], 1) = (&mut *totals, step) {
            return *total = total.with(of_row(x));
        }
        let (means, squares) = wide::run(Strip { x, step, len, n: range.len() });
        for (total, (mean, squares)) in totals.iter_mut().zip(means.into_iter().zip(squares)) {
            *total = total.with(Moments { n, mean, squares });
        }
    }

    fn join(&self, first: Moments, second: Moments) -> Moments {
        first.with(second)
    }
}

fn of_row<T: Float>(row: &[T]) -> Moments {
    let n = row.len() as f64;
    let mean = sum(row, 0.0, false) / n;
    let (squares, rest) = wide::run(Distances { x: row, mean });
    // What the mean lacks by rounding counts where it is compared with that of other pieces.
    Moments { n, mean: mean + rest / n, squares }
}

/// The sums of squared distances from a mean and of distances.
struct Distances<'a, T> {
    x: &'a [T],
    mean: f64,
}

impl<T: Float> wide::Loop for Distances<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let (mut squares, mut rest) = ([0.0; 8], [0.0; 8]);
        let (chunks, last) = self.x.as_chunks::<8>();
        for chunk in chunks.iter().map(|it| &it[..]).chain([last]) {
            for ((square, rest), x) in squares.iter_mut().zip(&mut rest).zip(chunk) {
                let x = x.to_f64() - self.mean;
                *square += x * x;
                *rest += x;
            }
        }
        (squares.iter().sum(), rest.iter().sum())
    }
}
