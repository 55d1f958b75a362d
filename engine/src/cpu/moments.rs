//! Means and squared distances from them, in `f64` and in two passes, on all threads.
//!
//! The order of operations depends on the sizes alone, so results do not depend on the threads.

use super::lane::{Block, Part, Pieces, Scratch};
use super::number::Float;
use super::pool::{self, Shared};
use super::softmax::grouped;
use super::wide;

/// Columns that are computed together.
const COLUMNS: usize = 512;
/// Elements of some columns that are made at a time.
const MADE: usize = 1 << 16;
/// A run longer than this is cut into pieces of this length.
const PIECE: usize = 1 << 17;

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
    let slots = Shared(out.as_mut_ptr());
    if inner == 1 {
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
        return;
    }
    let made = x.at_once() < usize::MAX;
    let columns = if made { (MADE / n).clamp(64, COLUMNS) } else { COLUMNS };
    let strips = inner.div_ceil(columns);
    pool::for_each_range(out.len() / inner * strips, n * inner.min(columns), &|range| {
        let mut scratch = Scratch::default();
        for strip in range {
            let (block, start) = (strip / strips, strip % strips * columns);
            let len = columns.min(inner - start);
            let first = block * n * inner + start;
            let done = block * inner + start..block * inner + start + len;
            // SAFETY: each strip is given once.
            let (x, step) =
                unsafe { x.block(Block { first, len, count: n, step: inner }, &mut scratch) };
            let squares = wide::run(Strip { x, step, len });
            // SAFETY: as above.
            let slots = unsafe { slots.part(done.clone()) };
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
    /// `y = (x - mean) / sqrt(variance + eps)` for each kept position, and the two. What follows on `y` is `part`.
    pub fn standardize<T: Float>(
        self,
        x: &Pieces<'_, T>,
        eps: f64,
        y: &mut [T],
        (means, variances): (&mut [T], &mut [T]),
        part: Part<'_>,
    ) {
        let Self { before, kept, after } = self;
        assert!(y.len() == x.len(), "as many results as elements");
        assert!(means.len() >= kept && variances.len() >= kept, "fewer means than kept");
        let n = before * after;
        let (y, means) = (Shared(y.as_mut_ptr()), Shared(means.as_mut_ptr()));
        let variances = Shared(variances.as_mut_ptr());
        pool::for_each_range(kept, n, &|range| {
            let mut scratch = Scratch::default();
            for group in grouped(range, x.at_once() / n.max(1)) {
                let (first, len) = (group.start * after, group.len() * after);
                let block = Block { first, len, count: before, step: kept * after };
                // SAFETY: each kept position is given once.
                let (x, step) = unsafe { x.block(block, &mut scratch) };
                for (idx, at) in group.enumerate() {
                    let run = |block: usize| {
                        let start = block * step + idx * after;
                        &x[start..start + after]
                    };
                    let total = |centre: f64, square: bool| -> f64 {
                        (0..before).map(|it| sum(run(it), centre, square)).sum()
                    };
                    let mean = total(0.0, false) / n as f64;
                    let variance = total(mean, true) / n as f64;
                    let (centre, scale) =
                        (T::from_f64(mean), T::from_f64(1.0 / (variance + eps).sqrt()));
                    for block in 0..before {
                        let start = (block * kept + at) * after;
                        // SAFETY: each kept position is given once.
                        let out = unsafe { y.part(start..start + after) };
                        let (x, weight, bias) = (run(block), None, None);
                        wide::run(Scaled { x, centre, scale, weight, bias, out });
                        // SAFETY: as above.
                        unsafe { part.done(start..start + after) };
                    }
                    // SAFETY: as above.
                    unsafe {
                        means.get().add(at).write(centre);
                        variances.get().add(at).write(T::from_f64(variance));
                    }
                }
            }
        });
    }
}

/// The sum of `x - centre`, or of its square.
pub(super) fn sum<T: Float>(x: &[T], centre: f64, square: bool) -> f64 {
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

/// `(x - centre) * scale` of each element; times weight, plus bias, where there is one.
pub(super) struct Scaled<'a, T> {
    pub(super) x: &'a [T],
    pub(super) centre: T,
    pub(super) scale: T,
    pub(super) weight: Option<&'a [T]>,
    pub(super) bias: Option<&'a [T]>,
    pub(super) out: &'a mut [T],
}

impl<T: Float> wide::Loop for Scaled<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let scaled = |x: T| (x - self.centre) * self.scale;
        let all = self.out.iter_mut().zip(self.x);
        match (self.weight, self.bias) {
            (Some(weight), Some(bias)) => all
                .zip(weight.iter().zip(bias))
                .for_each(|((slot, &x), (&weight, &bias))| *slot = scaled(x) * weight + bias),
            (Some(weight), None) => {
                all.zip(weight).for_each(|((slot, &x), &weight)| *slot = scaled(x) * weight);
            }
            (None, Some(bias)) => {
                all.zip(bias).for_each(|((slot, &x), &bias)| *slot = scaled(x) + bias);
            }
            (None, None) => all.for_each(|(slot, &x)| *slot = scaled(x)),
        }
    }
}

/// Squared distances from the mean for some columns: `len` elements of each row, which are `step` apart.
struct Strip<'a, T> {
    x: &'a [T],
    step: usize,
    len: usize,
}

impl<T: Float> wide::Loop for Strip<'_, T> {
    type Output = [f64; COLUMNS];

    #[inline(always)]
    fn run(self) -> [f64; COLUMNS] {
        let rows = || self.x.chunks(self.step).map(|row| &row[..self.len]);
        let n = rows().len() as f64;
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
