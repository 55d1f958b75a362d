//! Folds over one axis of a row-major block `[outer, n, inner]`.
//!
//! Rows are folded in 16 lanes and blocks of 1024, so that loops vectorise and rounding errors stay small; block
//! results are joined in a wider type. The order of operations does not depend on the machine.

use super::number::Num;
use super::wide;

const LANES: usize = 16;
const BLOCK: usize = 1024;
/// Columns folded together: their accumulators stay in the first-level cache.
const COLUMNS: usize = 512;
/// Rows per block when columns are folded.
const ROWS: usize = 64;

/// How elements are combined.
pub trait Fold<T>: Copy {
    /// Accumulator within a block.
    type Part: Copy;
    /// Accumulator over blocks.
    type Total: Copy;
    const START: Self::Part;
    const EMPTY: Self::Total;
    fn take(self, acc: Self::Part, x: T) -> Self::Part;
    fn join(self, a: Self::Part, b: Self::Part) -> Self::Part;
    fn total(self, total: Self::Total, part: Self::Part) -> Self::Total;
}

/// Folds the middle axis of `x`, which is `[outer, n, inner]` in row-major order; `out[outer * inner]`.
pub fn fold<T: Num, F: Fold<T>, O>(
    fold: F,
    x: &[T],
    (n, inner): (usize, usize),
    out: &mut [O],
    finish: impl Fn(F::Total) -> O + Copy,
) {
    if n == 0 {
        out.iter_mut().for_each(|it| *it = finish(F::EMPTY));
    } else if inner == 1 {
        for (row, slot) in x.chunks_exact(n).zip(out) {
            *slot = finish(wide::run(Row { fold, row }));
        }
    } else if inner > 0 {
        for (block, slots) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(inner)) {
            wide::run(Columns { fold, block, inner, slots, finish });
        }
    }
}

struct Row<'a, T, F> {
    fold: F,
    row: &'a [T],
}

impl<T: Num, F: Fold<T>> wide::Loop for Row<'_, T, F> {
    type Output = F::Total;

    #[inline(always)]
    fn run(self) -> F::Total {
        let mut total = F::EMPTY;
        for block in self.row.chunks(BLOCK) {
            let mut lanes = [F::START; LANES];
            let chunks = block.chunks_exact(LANES);
            let rest = chunks.remainder();
            for chunk in chunks {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane = self.fold.take(*lane, x);
                }
            }
            for (lane, &x) in lanes.iter_mut().zip(rest) {
                *lane = self.fold.take(*lane, x);
            }
            let mut width = LANES / 2;
            while width > 0 {
                for idx in 0..width {
                    lanes[idx] = self.fold.join(lanes[idx], lanes[idx + width]);
                }
                width /= 2;
            }
            total = self.fold.total(total, lanes[0]);
        }
        total
    }
}

struct Columns<'a, T, F, O, E> {
    fold: F,
    block: &'a [T],
    inner: usize,
    slots: &'a mut [O],
    finish: E,
}

impl<T: Num, F: Fold<T>, O, E: Fn(F::Total) -> O + Copy> wide::Loop for Columns<'_, T, F, O, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut parts = [F::START; COLUMNS];
        let mut totals = [F::EMPTY; COLUMNS];
        for (idx, slots) in self.slots.chunks_mut(COLUMNS).enumerate() {
            let (start, width) = (idx * COLUMNS, slots.len());
            totals[..width].fill(F::EMPTY);
            for rows in self.block.chunks(ROWS * self.inner) {
                parts[..width].fill(F::START);
                for row in rows.chunks_exact(self.inner) {
                    for (part, &x) in parts[..width].iter_mut().zip(&row[start..start + width]) {
                        *part = self.fold.take(*part, x);
                    }
                }
                for (total, &part) in totals[..width].iter_mut().zip(&parts[..width]) {
                    *total = self.fold.total(*total, part);
                }
            }
            for (slot, &total) in slots.iter_mut().zip(&totals[..width]) {
                *slot = (self.finish)(total);
            }
        }
    }
}

/// The larger, or NaN when one is.
#[derive(Clone, Copy)]
pub struct Max;

impl<T: Num> Fold<T> for Max {
    type Part = T;
    type Total = T;
    const START: T = T::LOWEST;
    const EMPTY: T = T::LOWEST;
    #[inline(always)]
    fn take(self, acc: T, x: T) -> T {
        if x > acc || x.is_nan() { x } else { acc }
    }
    #[inline(always)]
    fn join(self, a: T, b: T) -> T {
        <Self as Fold<T>>::take(self, a, b)
    }
    #[inline(always)]
    fn total(self, total: T, part: T) -> T {
        <Self as Fold<T>>::take(self, total, part)
    }
}

/// The smaller, or NaN when one is.
#[derive(Clone, Copy)]
pub struct Min;

impl<T: Num> Fold<T> for Min {
    type Part = T;
    type Total = T;
    const START: T = T::HIGHEST;
    const EMPTY: T = T::HIGHEST;
    #[inline(always)]
    fn take(self, acc: T, x: T) -> T {
        if x < acc || x.is_nan() { x } else { acc }
    }
    #[inline(always)]
    fn join(self, a: T, b: T) -> T {
        <Self as Fold<T>>::take(self, a, b)
    }
    #[inline(always)]
    fn total(self, total: T, part: T) -> T {
        <Self as Fold<T>>::take(self, total, part)
    }
}

/// A sum or product of floats: parts in the element type, totals in `f64`.
macro_rules! float_fold {
    ($Fold:ident, $T:ident, $start:expr, $op:tt) => {
        impl Fold<$T> for $Fold {
            type Part = $T;
            type Total = f64;
            const START: $T = $start;
            const EMPTY: f64 = $start;
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
        }
    };
}

/// As above for integers, wrapping in `i64`.
macro_rules! int_fold {
    ($Fold:ident, $T:ident, $start:expr, $op:ident) => {
        impl Fold<$T> for $Fold {
            type Part = i64;
            type Total = i64;
            const START: i64 = $start;
            const EMPTY: i64 = $start;
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
        }
    };
}

/// The sum.
#[derive(Clone, Copy)]
pub struct Sum;

/// The product.
#[derive(Clone, Copy)]
pub struct Product;

float_fold!(Sum, f32, 0.0, +);
float_fold!(Sum, f64, 0.0, +);
int_fold!(Sum, u8, 0, wrapping_add);
int_fold!(Sum, i32, 0, wrapping_add);
int_fold!(Sum, i64, 0, wrapping_add);
float_fold!(Product, f32, 1.0, *);
float_fold!(Product, f64, 1.0, *);
int_fold!(Product, u8, 1, wrapping_mul);
int_fold!(Product, i32, 1, wrapping_mul);
int_fold!(Product, i64, 1, wrapping_mul);

/// The sum of `f(x)` over elements, in `f64`.
#[derive(Clone, Copy)]
pub struct SumOf<F>(pub F);

impl<T: Num, F: Fn(f64) -> f64 + Copy> Fold<T> for SumOf<F> {
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
}

/// Whether any element is not zero (NaN is not).
#[derive(Clone, Copy)]
pub struct Any;

impl<T: Num> Fold<T> for Any {
    type Part = u8;
    type Total = u8;
    const START: u8 = 0;
    const EMPTY: u8 = 0;
    #[inline(always)]
    fn take(self, acc: u8, x: T) -> u8 {
        acc | u8::from(x != T::ZERO)
    }
    #[inline(always)]
    fn join(self, a: u8, b: u8) -> u8 {
        a | b
    }
    #[inline(always)]
    fn total(self, total: u8, part: u8) -> u8 {
        total | part
    }
}

/// Whether no element is zero.
#[derive(Clone, Copy)]
pub struct All;

impl<T: Num> Fold<T> for All {
    type Part = u8;
    type Total = u8;
    const START: u8 = 1;
    const EMPTY: u8 = 1;
    #[inline(always)]
    fn take(self, acc: u8, x: T) -> u8 {
        acc & u8::from(x != T::ZERO)
    }
    #[inline(always)]
    fn join(self, a: u8, b: u8) -> u8 {
        a & b
    }
    #[inline(always)]
    fn total(self, total: u8, part: u8) -> u8 {
        total & part
    }
}
