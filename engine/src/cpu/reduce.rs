//! Folds over one axis of a row-major block `[outer, n, inner]`, on all threads.
//!
//! Rows are folded in 16 lanes and blocks of 1024, so that loops vectorise and rounding errors stay small; block
//! results are joined in a wider type. The order of operations depends neither on the machine nor on the threads.

use std::mem::MaybeUninit;

use super::lane::{Block, Part, Pieces, Scratch};
use super::number::Num;
use super::pool::{self, Shared};
use super::wide;

const LANES: usize = 16;
const BLOCK: usize = 1024;
/// Columns folded together: their accumulators stay in the first-level cache.
const COLUMNS: usize = 512;
/// Rows per block when columns are folded.
const ROWS: usize = 64;

/// How elements are combined.
pub trait Fold<T>: Copy + Send + Sync {
    /// Accumulator within a block.
    type Part: Copy;
    /// Accumulator over blocks.
    type Total: Copy + Send + Sync;
    const START: Self::Part;
    const EMPTY: Self::Total;
    /// Whether wide vectors are worth a loop of their own.
    const WIDE: bool = true;
    fn take(self, acc: Self::Part, x: T) -> Self::Part;
    fn join(self, a: Self::Part, b: Self::Part) -> Self::Part;
    fn total(self, total: Self::Total, part: Self::Part) -> Self::Total;
    /// Joins what two pieces of an axis gave, the earlier one first.
    fn merge(self, a: Self::Total, b: Self::Total) -> Self::Total;
}

/// Folds the middle axis of `x`, which is `[outer, n, inner]` in row-major order; `out[outer * inner]`. What follows on `out` is `part`.
pub fn fold<T: Num, F: Fold<T>, O: Send>(
    fold: F,
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    out: &mut [O],
    finish: impl Fn(F::Total) -> O + Sync,
    part: Part<'_>,
) {
    let slots = Shared(out.as_mut_ptr());
    let emit = |first: usize, totals: &[F::Total]| {
        for (idx, &total) in totals.iter().enumerate() {
            // SAFETY: `totals` gives each of the results to one call, and there are as many as slots.
            unsafe { slots.get().add(first + idx).write(finish(total)) };
        }
        // SAFETY: as above.
        unsafe { part.done(first..first + totals.len()) };
    };
    totals(fold, x, (n, inner), out.len(), &emit);
}

/// Takes the totals of some results: the number of the first one, and the totals from there on.
pub type Emit<'a, A> = &'a (dyn Fn(usize, &[A]) + Sync + 'a);

/// As [`fold`], handing out the totals of the `len` results in any order, each once, from several threads.
pub fn totals<T: Num, F: Fold<T>>(
    fold: F,
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    len: usize,
    emit: Emit<'_, F::Total>,
) {
    if n == 0 || len == 0 {
        let empty = [F::EMPTY; COLUMNS];
        let blocks = (0..len).step_by(COLUMNS);
        return blocks.for_each(|first| emit(first, &empty[..COLUMNS.min(len - first)]));
    }
    assert!(x.len() == len / inner * n * inner, "as many elements as results take");
    let split = Split::new(n, inner, len);
    // The slots are empty at first.
    let partial = |piece, first, slots: &mut [F::Total], scratch: &mut Scratch| {
        fold_groups(fold, x, (n, inner), split.steps(piece), first, slots, scratch);
    };
    if split.pieces == 1 {
        return split.for_each_group(&|first, width, scratch| {
            with_room(F::EMPTY, width, |slots| {
                partial(0, first, slots, scratch);
                emit(first, slots);
            });
        });
    }
    let mut parts = vec![F::EMPTY; split.pieces * len];
    let slots = Shared(parts.as_mut_ptr());
    let groups = split.groups();
    pool::for_each_chunk(groups * split.pieces, &|chunk| {
        let (piece, (first, width)) = (chunk / groups, split.group(chunk % groups));
        // SAFETY: each chunk has a range of its own.
        let slots =
            unsafe { std::slice::from_raw_parts_mut(slots.get().add(piece * len + first), width) };
        partial(piece, first, slots, &mut Scratch::default());
    });
    let (merged, others) = parts.split_at_mut(len);
    for piece in others.chunks_exact(len) {
        merged.iter_mut().zip(piece).for_each(|(total, &part)| *total = fold.merge(*total, part));
    }
    emit(0, merged);
}

/// As [`fold`], of axes that lie apart in `x`: of each, the last one first, how many elements it has and how many of those that are kept lie
/// behind it.
pub fn fold_apart<T: Num, F: Fold<T>, O: Send>(
    fold: F,
    x: &Pieces<'_, T>,
    axes: &[(usize, usize)],
    out: &mut [O],
    finish: impl Fn(F::Total) -> O + Sync,
    part: Part<'_>,
) {
    let Some((&last, others)) = axes.split_first() else { return };
    let len = out.len() * others.iter().map(|it| it.0).product::<usize>();
    let mut all = vec![F::EMPTY; len];
    let slots = Shared(all.as_mut_ptr());
    totals(fold, x, last, len, &|first, totals| {
        // SAFETY: each of the totals is given once, and there are as many slots.
        unsafe { slots.part(first..first + totals.len()) }.copy_from_slice(totals);
    });
    for &(n, inner) in others {
        merge_axis(fold, &mut all, (n, inner));
    }
    let finished = out.iter_mut().zip(all);
    finished.for_each(|(slot, total)| *slot = finish(total));
    // SAFETY: all of them have been written.
    unsafe { part.done(0..out.len()) };
}

/// Merges the totals along an axis, behind which `inner` lie, to its first ones, and leaves those.
fn merge_axis<T, F: Fold<T>>(fold: F, all: &mut Vec<F::Total>, (n, inner): (usize, usize)) {
    let mut left = 0;
    for start in (0..all.len()).step_by((n * inner).max(1)) {
        all.copy_within(start..start + inner, left);
        for step in 1..n {
            for at in 0..inner {
                all[left + at] = fold.merge(all[left + at], all[start + step * inner + at]);
            }
        }
        left += inner;
    }
    all.truncate(left);
}

/// Calls `body` with so many values, at most [`COLUMNS`], on the stack; the others there are not written, since most folds have few results.
#[inline(always)]
fn with_room<T: Copy>(value: T, len: usize, body: impl FnOnce(&mut [T])) {
    let mut room = [const { MaybeUninit::uninit() }; COLUMNS];
    let room = &mut room[..len];
    room.iter_mut().for_each(|it| _ = it.write(value));
    // SAFETY: all of them have just been written.
    body(unsafe { &mut *(std::ptr::from_mut(room) as *mut [T]) });
}

/// How a fold is cut into work for threads. It depends on the sizes alone, so results do not depend on the threads.
struct Split {
    n: usize,
    inner: usize,
    len: usize,
    /// Pieces of the folded axis.
    pieces: usize,
}

/// Elements of one claim of a thread.
const WORK: usize = 1 << 16;
/// The folded axis is cut when there are fewer groups of results than this.
const FEW: usize = 16;

impl Split {
    fn new(n: usize, inner: usize, len: usize) -> Self {
        let mut split = Self { n, inner, len, pieces: 1 };
        if split.groups() < FEW {
            let steps = n / if inner == 1 { BLOCK } else { ROWS };
            split.pieces = (n * inner.min(COLUMNS) / WORK).min(steps).clamp(1, 64);
        }
        split
    }

    /// Where a piece begins and ends on the folded axis; on borders of blocks.
    fn steps(&self, piece: usize) -> (usize, usize) {
        let grain = if self.inner == 1 { BLOCK } else { ROWS };
        let at = |piece: usize| match piece == self.pieces {
            true => self.n,
            false => self.n / grain * piece / self.pieces * grain,
        };
        (at(piece), at(piece + 1))
    }

    /// Results that are computed together: whole blocks, or a strip of one.
    fn width(&self) -> usize {
        if self.inner > COLUMNS {
            return self.inner.div_ceil(self.inner.div_ceil(COLUMNS));
        }
        let cut = self.pieces > 1;
        self.inner
            * if cut { 1 } else { (COLUMNS / self.inner).min(WORK / (self.n * self.inner) + 1) }
    }

    fn groups(&self) -> usize {
        if self.inner > COLUMNS {
            return self.len / self.inner * self.inner.div_ceil(COLUMNS);
        }
        self.len.div_ceil(self.width())
    }

    /// First result of a group, and how many results it has.
    fn group(&self, idx: usize) -> (usize, usize) {
        if self.inner > COLUMNS {
            let (strips, width) = (self.inner.div_ceil(COLUMNS), self.width());
            let start = idx % strips * width;
            return (idx / strips * self.inner + start, width.min(self.inner - start));
        }
        let first = idx * self.width();
        (first, self.width().min(self.len - first))
    }

    /// Calls `body(first result, results, scratch of the thread)` for each group, on several threads if there is enough to do.
    fn for_each_group(&self, body: &(dyn Fn(usize, usize, &mut Scratch) + Sync)) {
        let per_claim = (WORK / (self.n * self.width())).max(1);
        let groups = self.groups();
        pool::for_each_chunk(groups.div_ceil(per_claim), &|chunk| {
            let mut scratch = Scratch::default();
            for idx in chunk * per_claim..((chunk + 1) * per_claim).min(groups) {
                let (first, width) = self.group(idx);
                body(first, width, &mut scratch);
            }
        });
    }
}

/// Adds to the totals of results from `first` on what the steps give them: of whole rows or blocks, or of some columns of one block.
/// Elements are asked for block by block, or where not even one is near, in parts of one that end where its parts are joined.
fn fold_groups<T: Num, F: Fold<T>>(
    fold: F,
    x: &Pieces<'_, T>,
    (n, inner): (usize, usize),
    (from, to): (usize, usize),
    first: usize,
    slots: &mut [F::Total],
    scratch: &mut Scratch,
) {
    let (len, grain) = (slots.len().min(inner), if inner == 1 { BLOCK } else { ROWS });
    let blocks = (x.at_once() / ((to - from) * len)).clamp(1, slots.len() / len);
    let steps = (x.at_once() / len / grain).max(1).saturating_mul(grain);
    for (idx, slots) in slots.chunks_mut(blocks * len).enumerate() {
        let start = (first / inner + idx * blocks) * n * inner + first % inner;
        let blocks = slots.len() / len;
        let end = if blocks > 1 { from + 1 } else { to };
        for low in (from..end).step_by(steps) {
            let n_steps = if blocks > 1 { blocks * n } else { steps.min(to - low) };
            let block = Block { first: start + low * inner, len, count: n_steps, step: inner };
            // SAFETY: each element is in one group.
            let (x, step) = unsafe { x.block(block, scratch) };
            let strip = Strip { fold, x, n: n_steps / blocks, step, len, slots: &mut *slots };
            if F::WIDE { wide::run(strip) } else { wide::Loop::run(strip) }
        }
    }
}

/// Elements of rows or blocks, `n` steps of each, or of some columns of one block; `slots` has their totals so far.
struct Strip<'a, T, F: Fold<T>> {
    fold: F,
    x: &'a [T],
    n: usize,
    /// How far steps are apart, and how many of their elements are meant.
    step: usize,
    len: usize,
    slots: &'a mut [F::Total],
}

impl<T: Num, F: Fold<T>> wide::Loop for Strip<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { fold, x, n, step, len, slots } = self;
        if step == 1 {
            for (row, slot) in x.chunks_exact(n).zip(slots) {
                *slot = total_of_row(fold, *slot, row);
            }
            return;
        }
        for (block, slots) in x.chunks(n * step).zip(slots.chunks_exact_mut(len)) {
            for rows in block.chunks(ROWS * step) {
                with_room(F::START, len, |parts| {
                    for row in rows.chunks(step) {
                        for (part, &x) in parts.iter_mut().zip(&row[..len]) {
                            *part = fold.take(*part, x);
                        }
                    }
                    for (total, &part) in slots.iter_mut().zip(parts.iter()) {
                        *total = fold.total(*total, part);
                    }
                });
            }
        }
    }
}

/// The total of a row, of whose blocks `total` are done.
#[inline(always)]
fn total_of_row<T: Num, F: Fold<T>>(fold: F, mut total: F::Total, row: &[T]) -> F::Total {
    for block in row.chunks(BLOCK) {
        let mut lanes = [F::START; LANES];
        let (chunks, rest) = block.as_chunks::<LANES>();
        for chunk in chunks {
            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                *lane = fold.take(*lane, x);
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane = fold.take(*lane, x);
        }
        total = fold.total(total, joined(fold, lanes));
    }
    total
}

/// The lanes in one: those of each half with the other's, until one is left. In steps of fixed sizes, so that lanes stay in registers.
#[inline(always)]
fn joined<T, F: Fold<T>>(fold: F, lanes: [F::Part; LANES]) -> F::Part {
    let eight = halved::<T, F, 8>(fold, &lanes);
    let four = halved::<T, F, 4>(fold, &eight);
    let [a, b] = halved(fold, &four);
    fold.join(a, b)
}

#[inline(always)]
fn halved<T, F: Fold<T>, const N: usize>(fold: F, lanes: &[F::Part]) -> [F::Part; N] {
    let (low, high) = lanes.split_at(N);
    std::array::from_fn(|idx| fold.join(low[idx], high[idx]))
}

/// The better of two elements, or NaN when one is.
macro_rules! extreme {
    ($(#[$doc:meta])* $Fold:ident, $start:ident, $better:tt) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $Fold;

        impl<T: Num> Fold<T> for $Fold {
            type Part = T;
            type Total = T;
            const START: T = T::$start;
            const EMPTY: T = T::$start;
            const WIDE: bool = T::IS_FLOAT;
            #[inline(always)]
            fn take(self, acc: T, x: T) -> T {
                if x $better acc || x.is_nan() { x } else { acc }
            }
            #[inline(always)]
            fn join(self, a: T, b: T) -> T {
                <Self as Fold<T>>::take(self, a, b)
            }
            #[inline(always)]
            fn total(self, total: T, part: T) -> T {
                <Self as Fold<T>>::take(self, total, part)
            }
            #[inline(always)]
            fn merge(self, a: T, b: T) -> T {
                <Self as Fold<T>>::take(self, a, b)
            }
        }
    };
}

extreme!(/// The larger, or NaN when one is.
    Max, LOWEST, >);
extreme!(/// The smaller, or NaN when one is.
    Min, HIGHEST, <);

/// A sum or product of floats: parts in the element type, totals in `f64`.
macro_rules! float_fold {
    ($Fold:ident, $T:ident, $start:expr, $op:tt, $wide:literal) => {
        impl Fold<$T> for $Fold {
            type Part = $T;
            type Total = f64;
            const START: $T = $start;
            const EMPTY: f64 = $start;
            const WIDE: bool = $wide;
            #[inline(always)]
            fn take(self, acc: $T, x: $T) -> $T {
                acc $op x
            }
            #[inline(always)]
            fn join(self, a: $T, b: $T) -> $T {
                a $op b
            }
            #[inline(always)]
            fn total(self, total: f64, part: $T) -> f64 {
                total $op f64::from(part)
            }
            #[inline(always)]
            fn merge(self, a: f64, b: f64) -> f64 {
                a $op b
            }
        }
    };
}

/// As above for integers, wrapping in `i64`.
macro_rules! int_fold {
    ($Fold:ident, $T:ident, $start:expr, $op:ident, $wide:literal) => {
        impl Fold<$T> for $Fold {
            type Part = i64;
            type Total = i64;
            const START: i64 = $start;
            const EMPTY: i64 = $start;
            const WIDE: bool = $wide;
            #[inline(always)]
            fn take(self, acc: i64, x: $T) -> i64 {
                acc.$op(i64::from(x))
            }
            #[inline(always)]
            fn join(self, a: i64, b: i64) -> i64 {
                a.$op(b)
            }
            #[inline(always)]
            fn total(self, total: i64, part: i64) -> i64 {
                total.$op(part)
            }
            #[inline(always)]
            fn merge(self, a: i64, b: i64) -> i64 {
                a.$op(b)
            }
        }
    };
}

/// The sum.
#[derive(Clone, Copy)]
pub struct Sum;

/// The product.
#[derive(Clone, Copy)]
pub struct Product;

float_fold!(Sum, f32, 0.0, +, true);
float_fold!(Sum, f64, 0.0, +, true);
int_fold!(Sum, u8, 0, wrapping_add, true);
int_fold!(Sum, i32, 0, wrapping_add, true);
int_fold!(Sum, i64, 0, wrapping_add, true);
float_fold!(Product, f32, 1.0, *, false);
float_fold!(Product, f64, 1.0, *, false);
int_fold!(Product, u8, 1, wrapping_mul, false);
int_fold!(Product, i32, 1, wrapping_mul, false);
int_fold!(Product, i64, 1, wrapping_mul, false);

/// The sum of `f(x)` over elements, in `f64`.
#[derive(Clone, Copy)]
pub struct SumOf<F>(pub F);

impl<T: Num, F: Fn(f64) -> f64 + Copy + Send + Sync> Fold<T> for SumOf<F> {
    type Part = f64;
    type Total = f64;
    const START: f64 = 0.0;
    const EMPTY: f64 = 0.0;
    #[inline(always)]
    fn take(self, acc: f64, x: T) -> f64 {
        acc + (self.0)(x.to_f64())
    }
    #[inline(always)]
    fn join(self, a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline(always)]
    fn total(self, total: f64, part: f64) -> f64 {
        total + part
    }
    #[inline(always)]
    fn merge(self, a: f64, b: f64) -> f64 {
        a + b
    }
}

/// How many elements have a bit of `mask` set, for elements seen as plain bits: a float is not zero when a bit other than
/// its sign is.
#[derive(Clone, Copy)]
pub struct CountOf<T>(pub T);

macro_rules! count_fold {
    ($($T:ident)*) => {$(
        impl Fold<$T> for CountOf<$T> {
            /// A block has fewer elements than this holds.
            type Part = i32;
            type Total = i64;
            const START: i32 = 0;
            const EMPTY: i64 = 0;
            #[inline(always)]
            fn take(self, acc: i32, x: $T) -> i32 {
                acc + i32::from(x & self.0 != 0)
            }
            #[inline(always)]
            fn join(self, a: i32, b: i32) -> i32 {
                a + b
            }
            #[inline(always)]
            fn total(self, total: i64, part: i32) -> i64 {
                total + i64::from(part)
            }
            #[inline(always)]
            fn merge(self, a: i64, b: i64) -> i64 {
                a + b
            }
        }
    )*};
}

count_fold!(u8 i32 i64);
