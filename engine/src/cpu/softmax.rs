//! Softmax along the middle axis of a row-major block `[outer, n, inner]`, and its logarithm, on all
//! threads; what a row gives does not depend on them.

use std::ops::Range;

use super::element::Element;
use super::features::isa;
use super::lane::{Block, Part, Pieces, Scratch};
use super::number::Float;
use super::pool::{self, Shared};
use super::simd::{Columns, Rows};
use super::strips::{self, Strip};
use super::wide;

/// Which of the two is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `exp(x - m) / sum(exp(x - m))`
    Plain,
    /// `x - m - log(sum(exp(x - m)))`
    Log,
}

/// Elements of a block that is not cut into strips of columns.
const WHOLE: usize = 1 << 16;
/// Columns of a strip, at most.
const COLUMNS: usize = 256;

/// Computes the softmax of `x` into `out`, on which `part` follows; `m` is the largest element of each row.
///
/// # Panics
/// If there are not as many results as elements.
pub fn softmax<T: Float + Element>(
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
    let (n_blocks, out) = (x.len() / block, Shared(out.as_mut_ptr()));
    if inner > 1 && block > WHOLE {
        return by_strips(form, x, n_blocks, (n, inner), (out, part));
    }
    pool::for_each_range(n_blocks, block, &|range| {
        let mut scratch = Scratch::default();
        for blocks in grouped(range, x.at_once() / block) {
            let range = blocks.start * block..blocks.end * block;
            // SAFETY: each range is given once, and `out` is as long as `x`.
            let (x, out) =
                unsafe { (x.range(range.clone(), &mut scratch), out.part(range.clone())) };
            of_blocks(form, x, (n, inner), out);
            // SAFETY: the range is written, and given once.
            unsafe { part.done(range) };
        }
    });
}

/// Of blocks whose lines stay near some columns at a time.
fn by_strips<T: Float + Element>(
    form: Form,
    x: &Pieces<'_, T>,
    n_blocks: usize,
    (n, inner): (usize, usize),
    (out, part): (Shared<T>, Part<'_>),
) {
    let log = form == Form::Log;
    let columns = strips::width(x, n, inner.min(COLUMNS));
    strips::for_each(n_blocks, (n, inner), columns, &|Strip { first, len, .. }, scratch| {
        let block = Block { first, len, count: n, step: inner };
        // SAFETY: each strip is given once.
        let (x, step) = unsafe { x.block(block, scratch) };
        let y = out.get().wrapping_add(first);
        let columns = Columns { x: x.as_ptr(), y, steps: [step, inner], n, len, log };
        // SAFETY: `x` holds the columns, and so does `out`, where they belong to this strip; the table is that of the processor.
        unsafe { (T::kernels(isa()).softmax_columns)(&columns) };
        if !part.is_empty() {
            for start in (0..n).map(|line| first + line * inner) {
                // SAFETY: the elements are written, and belong to this strip.
                unsafe { part.done(start..start + len) };
            }
        }
    });
}

/// The softmax of some blocks, or its logarithm.
fn of_blocks<T: Element>(form: Form, x: &[T], (n, inner): (usize, usize), out: &mut [T]) {
    assert!(out.len() == x.len(), "as many results as elements");
    let kernels = T::kernels(isa());
    if inner == 1 {
        let run = match form {
            Form::Plain => kernels.softmax,
            Form::Log => kernels.log_softmax,
        };
        let (n_rows, y) = (x.len() / n, out.as_mut_ptr());
        // SAFETY: the rows are as long as the slices; the table is that of the processor.
        return unsafe { run(&Rows { x: x.as_ptr(), y, n_rows, n, factor: T::ONE }) };
    }
    for (x, out) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(n * inner)) {
        let log = form == Form::Log;
        let (x, y) = (x.as_ptr(), out.as_mut_ptr());
        let columns = Columns { x, y, steps: [inner; 2], n, len: inner, log };
        // SAFETY: the columns are as long as the slices; the table is that of the processor.
        unsafe { (kernels.softmax_columns)(&columns) };
    }
}

/// The gradient of softmax, `y * (dy - sum(dy * y))` along the middle axis, into `dx`.
pub fn backward<T: Float + Element>(both: [&[T]; 2], (n, inner): (usize, usize), dx: &mut [T]) {
    each_block(both, n * inner, dx, |[dy, y], out| match inner {
        1 => slopes_of_rows(T::kernels(isa()).softmax_slopes, [dy, y], n, out),
        _ => wide::run(Slopes { dy, y, n, inner, out }),
    });
}

/// The gradient of the logarithm of softmax, `dy - exp(y) * sum(dy)` in rows of `n`, into `dx`.
pub fn log_backward<T: Float + Element>(both: [&[T]; 2], n: usize, dx: &mut [T]) {
    let slopes = T::kernels(isa()).log_softmax_slopes;
    each_block(both, n, dx, |both, out| slopes_of_rows(slopes, both, n, out));
}

/// Calls `run` with whole blocks of both, and where what becomes of them goes.
fn each_block<T: Element>(
    [dy, y]: [&[T]; 2],
    block: usize,
    dx: &mut [T],
    run: impl Fn([&[T]; 2], &mut [T]) + Sync,
) {
    assert!(dy.len() == dx.len() && y.len() == dx.len(), "gradients of all elements");
    if block == 0 {
        return;
    }
    let out = Shared(dx.as_mut_ptr());
    pool::for_each_range(y.len() / block, block, &|range| {
        let range = range.start * block..range.end * block;
        // SAFETY: each range is given once, and `dx` is as long as `y`.
        let out = unsafe { out.part(range.clone()) };
        run([&dy[range.clone()], &y[range]], out);
    });
}

/// Runs a function of [`crate::cpu::simd::Kernels`] on rows of `n`.
fn slopes_of_rows<T: Element>(
    slopes: unsafe fn(&Rows<T>, *const T),
    [dy, y]: [&[T]; 2],
    n: usize,
    out: &mut [T],
) {
    let n_rows = out.len() / n;
    let rows = Rows { x: dy.as_ptr(), y: out.as_mut_ptr(), n_rows, n, factor: Element::ONE };
    // SAFETY: the rows are as long as the slices; the table is that of the processor.
    unsafe { slopes(&rows, y.as_ptr()) };
}

/// The gradients of some blocks of columns.
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

/// A range in groups of so many, at least one.
pub(super) fn grouped(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let size = size.clamp(1, range.len().max(1));
    range.clone().step_by(size).map(move |start| start..(start + size).min(range.end))
}

/// The logarithm of the sum of exponentials along the middle axis of `x`; `part` follows on `out`.
pub fn log_sums<T: Float + Element>(
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    out: &mut [T],
    part: Part<'_>,
) {
    if inner == 0 {
        return;
    }
    let slots = Shared(out.as_mut_ptr());
    if inner > 1 && n > 0 {
        let columns = strips::width(x, n, inner.min(COLUMNS));
        let n_blocks = out.len() / inner;
        return strips::for_each(n_blocks, (n, inner), columns, &|strip, scratch| {
            let Strip { first, column, len } = strip;
            // SAFETY: each strip is given once.
            unsafe {
                let (x, step) = x.block(Block { first, len, count: n, step: inner }, scratch);
                log_sums_of(x, step, n, slots.part(column..column + len));
                part.done(column..column + len);
            }
        });
    }
    pool::for_each_range(out.len(), n, &|range| {
        let mut scratch = Scratch::default();
        for rows in grouped(range, x.at_once() / n.max(1)) {
            // SAFETY: each range is given once.
            unsafe {
                let x = x.range(rows.start * n..rows.end * n, &mut scratch);
                for (at, slot) in slots.part(rows.clone()).iter_mut().enumerate() {
                    *slot = Element::from_f64(log_sum(&x[at * n..(at + 1) * n]));
                }
                part.done(rows);
            }
        }
    });
}

/// Columns that are brought together at a time, and elements of these.
const TURNED: usize = 16;
const BROUGHT: usize = 1 << 16;

/// The logarithms for columns of `n` elements, the lines of which are `step` apart.
fn log_sums_of<T: Element>(x: &[T], step: usize, n: usize, slots: &mut [T]) {
    let turned = (BROUGHT / n).clamp(1, TURNED).min(slots.len());
    let mut rows = vec![T::ZERO; turned * n];
    for (start, slots) in (0..).step_by(turned).zip(slots.chunks_mut(turned)) {
        for line in 0..n {
            let line_of = &x[line * step + start..][..slots.len()];
            line_of.iter().enumerate().for_each(|(row, &x)| rows[row * n + line] = x);
        }
        for (row, slot) in slots.iter_mut().enumerate() {
            *slot = T::from_f64(log_sum(&rows[row * n..(row + 1) * n]));
        }
    }
}

/// The logarithm of the sum of exponentials of a row.
pub fn log_sum<T: Element>(row: &[T]) -> f64 {
    let (x, y, n) = (row.as_ptr(), std::ptr::null_mut(), row.len());
    let mut sum = 0.0;
    // SAFETY: the row is as long as the slice; the table is that of the processor.
    unsafe { (T::kernels(isa()).log_sums)(&Rows { x, y, n_rows: 1, n, factor: T::ONE }, &mut sum) };
    sum
}

/// `log(sum(exp(x))) - x[class]` for rows of `n` scores; 0 for rows whose class is the one that is ignored.
///
/// # Panics
/// If there are not as many classes and results as rows, or another class is none of the scores.
pub fn cross_entropies<T: Element>(
    scores: &[T],
    n: usize,
    (classes, ignored): (&[i64], i64),
    out: &mut [f64],
) {
    assert!(classes.len() == out.len() && scores.len() == n * out.len(), "rows and results");
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(classes.len(), n, &|range| {
        // SAFETY: each range is given once, and there are as many results as rows.
        let slots = unsafe { out.part(range.clone()) };
        for (row, slot) in range.zip(slots) {
            let scores = &scores[row * n..(row + 1) * n];
            *slot = match classes[row] {
                class if class == ignored => 0.0,
                class => log_sum(scores) - scores[class as usize].to_f64(),
            };
        }
    });
}

/// The gradients of [`cross_entropies`], `softmax(x) - one_hot(class)`, times a scale, one for each row or one for all.
///
/// # Panics
/// As there.
pub fn cross_entropy_slopes<T: Element>(
    scores: &[T],
    n: usize,
    (classes, ignored): (&[i64], i64),
    scales: &[T],
    out: &mut [T],
) {
    let n_rows = classes.len();
    assert!(scores.len() == out.len() && out.len() == n * n_rows, "rows and results");
    let out = Shared(out.as_mut_ptr());
    pool::for_each_range(n_rows, n, &|range| {
        for row in range {
            let elements = row * n..(row + 1) * n;
            // SAFETY: each row is given once, and there are as many results as scores.
            let out = unsafe { out.part(elements.clone()) };
            if classes[row] == ignored {
                out.fill(T::ZERO);
                continue;
            }
            let factor = scales[row % scales.len()];
            let rows =
                Rows { x: scores[elements].as_ptr(), y: out.as_mut_ptr(), n_rows: 1, n, factor };
            // SAFETY: the row is as long as the slices; the table is that of the processor.
            unsafe { (T::kernels(isa()).softmax)(&rows) };
            let slot = &mut out[classes[row] as usize];
            *slot = *slot - factor;
        }
    });
}
