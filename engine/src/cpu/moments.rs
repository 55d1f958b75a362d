//! Means and squared distances from them, in `f64` and in two passes, on all threads.
//!
//! The order of operations depends on the sizes alone, so results do not depend on the threads.

use std::ops::Range;

use super::lane::Part;
use super::number::Float;
use super::pool::{self, Shared};
use super::wide;

/// Columns that are computed together.
const COLUMNS: usize = 512;
/// A run longer than this is cut into pieces of this length.
const PIECE: usize = 1 << 17;

/// For each position along the outer and inner axes of `x`, which is `[outer, n, inner]` in row-major order: the sum of
/// squared distances from the mean, through `finish`. What follows on `out` is `part`.
pub fn squares<T: Float>(
    x: &[T],
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
    let slots = Shared(out.as_mut_ptr());
    if inner == 1 {
        pool::for_each_range(out.len(), n, &|range| {
            // SAFETY: each range is given once.
            let slots = unsafe { slots.part(range.clone()) };
            for (slot, row) in slots.iter_mut().zip(x[range.start * n..].chunks_exact(n)) {
                let mean = sum(row, 0.0, false) / n as f64;
                *slot = finish(sum(row, mean, true));
            }
            // SAFETY: as above.
            unsafe { part.done(range) };
        });
        return;
    }
    let strips = inner.div_ceil(COLUMNS);
    pool::for_each_range(out.len() / inner * strips, n * inner.min(COLUMNS), &|range| {
        for strip in range {
            let (block, start) = (strip / strips, strip % strips * COLUMNS);
            let columns = start..(start + COLUMNS).min(inner);
            let first = block * inner;
            // SAFETY: each strip is given once.
            let done = first + columns.start..first + columns.end;
            let slots = unsafe { slots.part(done.clone()) };
            let block = &x[block * n * inner..(block + 1) * n * inner];
            let squares = wide::run(Strip { block, inner, columns });
            slots.iter_mut().zip(squares).for_each(|(slot, sum)| *slot = finish(sum));
            // SAFETY: as above.
            unsafe { part.done(done) };
        }
    });
}

/// Where a kept position lies in a block `[before, kept, after]`, whose other two axes are averaged over.
#[derive(Clone, Copy)]
pub struct Kept {
    pub before: usize,
    pub kept: usize,
    pub after: usize,
}

impl Kept {
    fn runs(self, at: usize) -> impl Iterator<Item = Range<usize>> {
        let start = move |block: usize| (block * self.kept + at) * self.after;
        (0..self.before).map(move |block| start(block)..start(block) + self.after)
    }

    /// `y = (x - mean) / sqrt(variance + eps)` for each kept position, and the two. What follows on `y` is `part`.
    pub fn standardize<T: Float>(
        self,
        x: &[T],
        eps: f64,
        y: &mut [T],
        (means, variances): (&mut [T], &mut [T]),
        part: Part<'_>,
    ) {
        assert!(y.len() == x.len(), "as many results as elements");
        assert!(means.len() >= self.kept && variances.len() >= self.kept, "fewer means than kept");
        let n = (self.before * self.after) as f64;
        let (y, means) = (Shared(y.as_mut_ptr()), Shared(means.as_mut_ptr()));
        let variances = Shared(variances.as_mut_ptr());
        pool::for_each_range(self.kept, self.before * self.after, &|range| {
            for at in range {
                let total = |centre: f64, square: bool| -> f64 {
                    self.runs(at).map(|it| sum(&x[it], centre, square)).sum()
                };
                let mean = total(0.0, false) / n;
                let variance = total(mean, true) / n;
                let (centre, scale) =
                    (T::from_f64(mean), T::from_f64(1.0 / (variance + eps).sqrt()));
                for run in self.runs(at) {
                    // SAFETY: each kept position is given once.
                    let out = unsafe { y.part(run.clone()) };
                    wide::run(Scaled { x: &x[run.clone()], centre, scale, out });
                    // SAFETY: as above.
                    unsafe { part.done(run) };
                }
                // SAFETY: as above.
                unsafe {
                    means.get().add(at).write(centre);
                    variances.get().add(at).write(T::from_f64(variance));
                }
            }
        });
    }
}

/// The sum of `x - centre`, or of its square.
fn sum<T: Float>(x: &[T], centre: f64, square: bool) -> f64 {
    if x.len() <= PIECE {
        return wide::run(Sum { x, centre, square });
    }
    let mut parts = vec![0.0; x.len().div_ceil(PIECE)];
    let slots = Shared(parts.as_mut_ptr());
    pool::for_each_chunk(parts.len(), &|chunk| {
        let x = &x[chunk * PIECE..((chunk + 1) * PIECE).min(x.len())];
        // SAFETY: each chunk has a slot of its own.
        unsafe { slots.get().add(chunk).write(wide::run(Sum { x, centre, square })) };
    });
    parts.iter().sum()
}

struct Sum<'a, T> {
    x: &'a [T],
    centre: f64,
    square: bool,
}

impl<T: Float> wide::Loop for Sum<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (chunks, rest) = self.x.as_chunks::<8>();
        let mut lanes = [0.0_f64; 8];
        let term = |x: &T| {
            let x = x.to_f64() - self.centre;
            if self.square { x * x } else { x }
        };
        for chunk in chunks {
            lanes.iter_mut().zip(chunk).for_each(|(lane, x)| *lane += term(x));
        }
        lanes.iter_mut().zip(rest).for_each(|(lane, x)| *lane += term(x));
        lanes.iter().sum()
    }
}

/// `(x - centre) * scale` of each element.
struct Scaled<'a, T> {
    x: &'a [T],
    centre: T,
    scale: T,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Scaled<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let scaled = |x: T| (x - self.centre) * self.scale;
        self.out.iter_mut().zip(self.x).for_each(|(slot, &x)| *slot = scaled(x));
    }
}

/// Squared distances from the mean for some columns of a block `[n, inner]`.
struct Strip<'a, T> {
    block: &'a [T],
    inner: usize,
    columns: Range<usize>,
}

impl<T: Float> wide::Loop for Strip<'_, T> {
    type Output = [f64; COLUMNS];

    #[inline(always)]
    fn run(self) -> [f64; COLUMNS] {
        let rows = || self.block.chunks_exact(self.inner).map(|row| &row[self.columns.clone()]);
        let n = (self.block.len() / self.inner) as f64;
        let (mut means, mut squares) = ([0.0; COLUMNS], [0.0; COLUMNS]);
        for row in rows() {
            row.iter().zip(&mut means).for_each(|(&x, sum)| *sum += x.to_f64());
        }
        means.iter_mut().for_each(|it| *it /= n);
        for row in rows() {
            for ((&x, mean), square) in row.iter().zip(&means).zip(&mut squares) {
                let x = x.to_f64() - mean;
                *square += x * x;
            }
        }
        squares
    }
}
