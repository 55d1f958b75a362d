//! Softmax along the middle axis of a row-major block `[outer, n, inner]`, and its logarithm, on all
//! threads; what a row gives does not depend on them.

use std::ops::Range;

use super::lane::{Part, Pieces, Scratch};
use super::number::Float;
use super::pool::{self, Shared};
use super::wide;

/// Which of the two is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `exp(x - m) / sum(exp(x - m))`
    Plain,
    /// `x - m - log(sum(exp(x - m)))`
    Log,
}

/// Computes the softmax of `x` into `out`, on which `part` follows; `m` is the largest element of each row.
///
/// # Panics
/// If there are not as many results as elements.
pub fn softmax<T: Float>(
    form: Form,
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    out: &mut [T],
    part: Part<'_>,
) {
    let block = n * inner;
    assert!(out.len() == x.len(), "as many results as elements");
    if block == 0 {
        return;
    }
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(x.len() / block, block, &|range| {
        let mut scratch = Scratch::default();
        for blocks in grouped(range, x.at_once() / block) {
            let range = blocks.start * block..blocks.end * block;
            // SAFETY: each range is given once, and `out` is as long as `x`.
            let (x, out) =
                unsafe { (x.range(range.clone(), &mut scratch), out.part(range.clone())) };
            wide::run(Blocks { form, x, n, inner, out });
            // SAFETY: the range is written, and given once.
            unsafe { part.done(range) };
        }
    });
}

/// The gradient of softmax, `y * (dy - sum(dy * y))` along the middle axis, into `dx`.
pub fn backward<T: Float>([dy, y]: [&[T]; 2], (n, inner): (usize, usize), dx: &mut [T]) {
    let block = n * inner;
    assert!(dy.len() == dx.len() && y.len() == dx.len(), "gradients of all elements");
    if block == 0 {
        return;
    }
    let out = Shared(dx.as_mut_ptr());
    pool::for_each_range(y.len() / block, block, &|range| {
        let range = range.start * block..range.end * block;
        // SAFETY: each range is given once, and `dx` is as long as `y`.
        let out = unsafe { out.part(range.clone()) };
        wide::run(Slopes { dy: &dy[range.clone()], y: &y[range], n, inner, out });
    });
}

/// The gradients of some blocks.
struct Slopes<'a, T> {
    dy: &'a [T],
    y: &'a [T],
    n: usize,
    inner: usize,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Slopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let block = self.n * self.inner;
        let blocks = self.dy.chunks_exact(block).zip(self.y.chunks_exact(block));
        let mut sums = vec![T::ZERO; self.inner];
        for ((dy, y), out) in blocks.zip(self.out.chunks_exact_mut(block)) {
            if self.inner == 1 {
                let sum = product(dy, y);
                let all = out.iter_mut().zip(dy.iter().zip(y));
                all.for_each(|(slot, (&dy, &y))| *slot = y * (dy - sum));
                continue;
            }
            sums.fill(T::ZERO);
            let lines = || dy.chunks_exact(self.inner).zip(y.chunks_exact(self.inner));
            for (dy, y) in lines() {
                let all = sums.iter_mut().zip(dy.iter().zip(y));
                all.for_each(|(sum, (&dy, &y))| *sum += dy * y);
            }
            for ((dy, y), out) in lines().zip(out.chunks_exact_mut(self.inner)) {
                let all = out.iter_mut().zip(&sums).zip(dy.iter().zip(y));
                all.for_each(|((slot, &sum), (&dy, &y))| *slot = y * (dy - sum));
            }
        }
    }
}

/// The sum of products of two rows.
#[inline(always)]
fn product<T: Float>(a: &[T], b: &[T]) -> T {
    let (a_chunks, a_rest) = a.as_chunks::<LANES>();
    let (b_chunks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [T::ZERO; LANES];
    for (a, b) in a_chunks.iter().zip(b_chunks) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (&a, &b))| *sum += a * b);
    }
    sums.iter_mut().zip(a_rest.iter().zip(b_rest)).for_each(|(sum, (&a, &b))| *sum += a * b);
    T::from_f64(sums.iter().map(|it| it.to_f64()).sum())
}

/// A range in groups of so many, at least one.
pub(super) fn grouped(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.clamp(1, range.len().max(1));
    range.clone().step_by(size).map(move |start| start..(start + size).min(range.end))
}

struct Blocks<'a, T> {
    form: Form,
    x: &'a [T],
    n: usize,
    inner: usize,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Blocks<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { form, x, n, inner, out } = self;
        for (x, out) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(n * inner)) {
            match inner {
                1 => Row { form, x, out }.run(),
                _ => Columns { form, x, inner, out }.run(),
            }
        }
    }
}

/// The logarithm of the sum of exponentials along the middle axis of `x`; `part` follows on `out`.
pub fn log_sums<T: Float>(
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    out: &mut [T],
    part: Part<'_>,
) {
    if inner == 0 {
        return;
    }
    let slots = Shared(out.as_mut_ptr());
    pool::for_each_range(out.len() / inner, n * inner, &|range| {
        let mut scratch = Scratch::default();
        let mut row = vec![T::ZERO; n];
        for blocks in grouped(range, x.at_once() / (n * inner).max(1)) {
            // SAFETY: each range is given once.
            let (x, slots) = unsafe {
                let elements = blocks.start * n * inner..blocks.end * n * inner;
                let slots = slots.part(blocks.start * inner..blocks.end * inner);
                (x.range(elements, &mut scratch), slots)
            };
            log_sums_of(x, (n, inner), slots, &mut row);
            // SAFETY: as above.
            unsafe { part.done(blocks.start * inner..blocks.end * inner) };
        }
    });
}

/// The logarithms for some blocks. A row that does not lie so is brought together in `row`.
fn log_sums_of<T: Float>(x: &[T], (n, inner): (usize, usize), slots: &mut [T], row: &mut [T]) {
    for (at, slot) in slots.iter_mut().enumerate() {
        let (block, column) = (at / inner, at % inner);
        let block = &x[block * n * inner..(block + 1) * n * inner];
        let row = match inner {
            1 => block,
            _ => {
                let column = block.iter().skip(column).step_by(inner);
                row.iter_mut().zip(column).for_each(|(slot, &x)| *slot = x);
                &*row
            }
        };
        *slot = T::from_f64(log_sum(row).0);
    }
}

/// The logarithm of the sum of exponentials of a row, and its largest element.
pub fn log_sum<T: Float>(row: &[T]) -> (f64, T) {
    let (sum, largest) = wide::run(ExpSum { row, exps: &mut [] });
    // Where the largest is infinite, or there is none, the differences say nothing.
    let log = if largest.to_f64().is_infinite() { 0.0 } else { sum.ln() };
    (largest.to_f64() + log, largest)
}

/// Elements that are taken at a time.
const LANES: usize = 16;

/// Chunks after which the sums of lanes go to a double: what they lose grows with their size.
const CHUNKS: usize = 256;

/// The sum of `exp(x - m)` over a row, and its largest element m. The exponentials go to `exps`, which may be empty.
struct ExpSum<'a, T> {
    row: &'a [T],
    exps: &'a mut [T],
}

impl<T: Float> wide::Loop for ExpSum<'_, T> {
    type Output = (f64, T);

    #[inline(always)]
    fn run(self) -> (f64, T) {
        let (chunks, rest) = self.row.as_chunks::<LANES>();
        // A whole chunk of the rest as well, since loops of a known length are vectors; the padding is not counted.
        let mut last = [self.row.first().copied().unwrap_or(T::LOWEST); LANES];
        last.iter_mut().zip(rest).for_each(|(lane, &x)| *lane = x);
        let largest = largest(chunks, &last);
        let mut sums = [T::ZERO; LANES];
        let (slots, last_slots) = self.exps.as_chunks_mut::<LANES>();
        let mut slots = slots.iter_mut();
        let mut total = 0.0;
        for (idx, chunk) in chunks.iter().enumerate() {
            if idx % CHUNKS == CHUNKS - 1 {
                total += sums.iter().map(|it| it.to_f64()).sum::<f64>();
                sums = [T::ZERO; LANES];
            }
            let exps = exps_of(chunk, largest);
            sums.iter_mut().zip(exps).for_each(|(sum, exp)| *sum += exp);
            if let Some(slots) = slots.next() {
                *slots = exps;
            }
        }
        if !rest.is_empty() {
            let exps = exps_of(&last, largest);
            sums.iter_mut().zip(&exps[..rest.len()]).for_each(|(sum, exp)| *sum += *exp);
            last_slots.copy_from_slice(&exps[..last_slots.len()]);
        }
        (total + sums.iter().map(|it| it.to_f64()).sum::<f64>(), largest)
    }
}

#[inline(always)]
fn exps_of<T: Float>(chunk: &[T; LANES], largest: T) -> [T; LANES] {
    let mut exps = *chunk;
    exps.iter_mut().for_each(|it| *it = (*it - largest).exp_fast());
    exps
}

#[inline(always)]
fn largest<T: Float>(chunks: &[[T; LANES]], last: &[T; LANES]) -> T {
    let larger = |a: T, b: T| if b > a || b.is_nan() { b } else { a };
    let mut lanes = *last;
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, x);
        }
    }
    lanes.into_iter().fold(T::LOWEST, larger)
}

struct Row<'a, T> {
    form: Form,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Row<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        match self.form {
            Form::Log => {
                let (sum, largest) = ExpSum { row: self.x, exps: &mut [] }.run();
                let rest = T::from_f64(sum.ln());
                for (slot, &x) in self.out.iter_mut().zip(self.x) {
                    *slot = x - largest - rest;
                }
            }
            Form::Plain => {
                let (sum, _) = ExpSum { row: self.x, exps: self.out }.run();
                let scale = T::from_f64(sum.recip());
                self.out.iter_mut().for_each(|it| *it = it.times(scale));
            }
        }
    }
}

struct Columns<'a, T> {
    form: Form,
    x: &'a [T],
    inner: usize,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut largest = vec![T::LOWEST; self.inner];
        let mut sums = vec![T::ZERO; self.inner];
        for row in self.x.chunks_exact(self.inner) {
            for (max, &x) in largest.iter_mut().zip(row) {
                *max = if x > *max || x.is_nan() { x } else { *max };
            }
        }
        for row in self.x.chunks_exact(self.inner) {
            for ((sum, &x), &max) in sums.iter_mut().zip(row).zip(&largest) {
                *sum += (x - max).exp_fast();
            }
        }
        for sum in &mut sums {
            *sum = if self.form == Form::Log { sum.ln() } else { T::ONE / *sum };
        }
        for (row, out) in self.x.chunks_exact(self.inner).zip(self.out.chunks_exact_mut(self.inner))
        {
            for (((slot, &x), &max), &sum) in out.iter_mut().zip(row).zip(&largest).zip(&sums) {
                *slot = match self.form {
                    Form::Log => x - max - sum,
                    Form::Plain => (x - max).exp_fast() * sum,
                };
            }
        }
    }
}
