//! Means and squared distances from them, in `f64` and in two passes, and what is standardised by them, on all threads.
//!
//! The order of operations depends on the sizes alone, so results do not depend on the threads.

use super::lane::{Block, Part, Pieces, Scratch};
use super::number::Float;
use super::pool::{self, Shared};
use super::softmax::grouped;
use super::strips;
use super::wide;

/// Columns that are computed together.
pub(super) const COLUMNS: usize = 512;
/// Elements of a kept position that stay near.
const NEAR: usize = 1 << 16;
/// Elements of a run that are best made at a time.
const RUN: usize = 512;
/// Elements of a kept position side by side below which runs are not worth it: those of images of 7 x 7 took longer than two launches.
const SHORT: usize = 128;
/// A run longer than this is cut into pieces of this length.
const PIECE: usize = 1 << 17;

/// Where a kept position lies in a block `[before, kept, after]`, whose other two axes are averaged over.
#[derive(Clone, Copy)]
pub struct Kept {
    pub before: usize,
    pub kept: usize,
    pub after: usize,
}

/// What is made of each kept position: results, its mean and its (biased) variance.
pub struct Standard<'a, T> {
    pub y: &'a mut [T],
    pub means: &'a mut [T],
    pub variances: &'a mut [T],
}

/// Weight and bias of kept positions, where there are any, and what is added to variances.
#[derive(Clone, Copy)]
pub struct Affine<'a, T> {
    pub weight: Option<&'a [T]>,
    pub bias: Option<&'a [T]>,
    pub eps: f64,
}

impl<T: Float> Affine<'_, T> {
    /// What stands for a kept position: `y = (x - centre) * scale + shift`.
    fn line(&self, at: usize, mean: f64, variance: f64) -> Line<T> {
        let weight = self.weight.map_or(1.0, |it| it[at].to_f64());
        Line {
            centre: T::from_f64(mean),
            scale: T::from_f64(weight / (variance + self.eps).sqrt()),
            shift: self.bias.map_or(T::ZERO, |it| it[at]),
        }
    }
}

/// `y = (x - centre) * scale + shift`.
#[derive(Clone, Copy)]
struct Line<T> {
    centre: T,
    scale: T,
    shift: T,
}

impl Kept {
    /// Kept positions whose elements are made at a time: so many that runs are not short, if they stay near.
    fn together(self) -> usize {
        let n = self.before * self.after;
        RUN.div_ceil(self.after.max(1)).min(NEAR / n.max(1)).clamp(1, self.kept.max(1))
    }

    /// Whether the elements of a kept position stay near, which are read more than once, and can be made in runs that are not short.
    pub(crate) fn is_near(self) -> bool {
        if self.after == 1 {
            return strips::are_near(self.before, self.kept);
        }
        self.before * self.after <= NEAR && (self.before == 1 || self.after >= SHORT)
    }

    /// `y = (x - mean) / sqrt(variance + eps) * weight + bias` for each kept position, and the two. What follows on `y` is `part`.
    pub fn standardize<T: Float>(
        self,
        x: &Pieces<'_, T>,
        affine: Affine<'_, T>,
        out: Standard<'_, T>,
        part: Part<'_>,
    ) {
        let Self { kept, after, .. } = self;
        let Standard { y, means, variances } = out;
        if x.len() == 0 {
            means.fill(T::from_f64(f64::NAN));
            variances.fill(T::from_f64(f64::NAN));
            // SAFETY: there is nothing to write.
            return unsafe { part.all_done() };
        }
        assert!(y.len() == x.len(), "as many results as elements");
        assert!(means.len() >= kept && variances.len() >= kept, "fewer means than kept");
        let slots = Slots {
            y: Shared(y.as_mut_ptr()),
            means: Shared(means.as_mut_ptr()),
            variances: Shared(variances.as_mut_ptr()),
            part,
        };
        if after == 1 {
            self.by_columns(x, affine, &slots)
        } else {
            self.by_runs(x, affine, &slots)
        }
    }

    /// Neighbours along the last axis belong to one kept position.
    fn by_runs<T: Float>(self, x: &Pieces<'_, T>, affine: Affine<'_, T>, slots: &Slots<'_, T>) {
        let Self { before, kept, after } = self;
        let n = before * after;
        let together = (x.at_once() / n.max(1)).max(self.together());
        pool::for_each_range(kept, n, &|range| {
            let mut scratch = Scratch::default();
            for group in grouped(range, together) {
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
                    let line = affine.line(at, mean, variance);
                    for block in 0..before {
                        let start = (block * kept + at) * after;
                        // SAFETY: each kept position is given once.
                        unsafe {
                            let out = slots.y.part(start..start + after);
                            wide::run(Shifted { x: run(block), line, out });
                            slots.part.done(start..start + after);
                        }
                    }
                    // SAFETY: as above.
                    unsafe { slots.note(at, mean, variance) };
                }
            }
        });
    }

    /// Neighbours along the last axis belong to neighbours of what is kept.
    fn by_columns<T: Float>(self, x: &Pieces<'_, T>, affine: Affine<'_, T>, slots: &Slots<'_, T>) {
        let Self { before, kept, .. } = self;
        // Several strips for the threads; sums do not depend on how wide they are.
        let columns = strips::width(x, before, kept.div_ceil(16).clamp(64, COLUMNS));
        pool::for_each_range(kept.div_ceil(columns), before * kept.min(columns), &|range| {
            let mut scratch = Scratch::default();
            for first in range.map(|it| it * columns) {
                let len = columns.min(kept - first);
                let block = Block { first, len, count: before, step: kept };
                // SAFETY: each strip is given once.
                let (x, step) = unsafe { x.block(block, &mut scratch) };
                let (means, squares) = wide::run(Strip { x, step, len, n: before });
                let mut lines = [Line { centre: T::ZERO, scale: T::ZERO, shift: T::ZERO }; COLUMNS];
                for (at, line) in lines[..len].iter_mut().enumerate() {
                    let variance = squares[at] / before as f64;
                    *line = affine.line(first + at, means[at], variance);
                    // SAFETY: as above.
                    unsafe { slots.note(first + at, means[at], variance) };
                }
                for row in 0..before {
                    let (x, to) = (&x[row * step..row * step + len], row * kept + first);
                    // SAFETY: as above.
                    unsafe {
                        let out = slots.y.part(to..to + len);
                        wide::run(Across { x, lines: &lines[..len], out });
                        slots.part.done(to..to + len);
                    }
                }
            }
        });
    }
}

/// Where results go, from all threads.
struct Slots<'a, T> {
    y: Shared<T>,
    means: Shared<T>,
    variances: Shared<T>,
    part: Part<'a>,
}

impl<T: Float> Slots<'_, T> {
    /// Notes mean and variance of a kept position.
    ///
    /// # Safety
    /// Each kept position is noted by one thread alone.
    unsafe fn note(&self, at: usize, mean: f64, variance: f64) {
        // SAFETY: the caller's.
        unsafe {
            self.means.get().add(at).write(T::from_f64(mean));
            self.variances.get().add(at).write(T::from_f64(variance));
        }
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

pub(super) struct Sum<'a, T> {
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

/// The line of one kept position, on neighbours.
struct Shifted<'a, T> {
    x: &'a [T],
    line: Line<T>,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Shifted<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Line { centre, scale, shift } = self.line;
        let all = self.out.iter_mut().zip(self.x);
        all.for_each(|(slot, &x)| *slot = (x - centre) * scale + shift);
    }
}

/// A line for each of some neighbours.
struct Across<'a, T> {
    x: &'a [T],
    lines: &'a [Line<T>],
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Across<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((slot, &x), line) in self.out.iter_mut().zip(self.x).zip(self.lines) {
            *slot = (x - line.centre) * line.scale + line.shift;
        }
    }
}

/// Means, and squared distances from them, for some columns: `len` elements of each of `n` rows, which are `step` apart.
pub(super) struct Strip<'a, T> {
    pub(super) x: &'a [T],
    pub(super) step: usize,
    pub(super) len: usize,
    pub(super) n: usize,
}

impl<T: Float> wide::Loop for Strip<'_, T> {
    type Output = ([f64; COLUMNS], [f64; COLUMNS]);

    #[inline(always)]
    fn run(self) -> Self::Output {
        let rows = || (0..self.n).map(|row| &self.x[row * self.step..row * self.step + self.len]);
        let n = self.n as f64;
        let (mut means, mut squares) = ([0.0; COLUMNS], [0.0; COLUMNS]);
        for row in rows() {
            row.iter().zip(&mut means).for_each(|(&x, sum)| *sum += x.to_f64());
        }
        means.iter_mut().for_each(|it| *it /= n);
        // What the mean lacks by rounding: the sum of what is left of all, over n.
        let mut rest = [0.0; COLUMNS];
        for row in rows() {
            let sums = squares.iter_mut().zip(&mut rest);
            for ((&x, mean), (square, rest)) in row.iter().zip(&means).zip(sums) {
                let x = x.to_f64() - mean;
                *square += x * x;
                *rest += x;
            }
        }
        means.iter_mut().zip(rest).for_each(|(mean, rest)| *mean += rest / n);
        (means, squares)
    }
}
