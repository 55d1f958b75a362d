//! Softmax along the middle axis of a row-major block `[outer, n, inner]`, and its logarithm.

use super::number::Float;
use super::wide;

/// Which of the two is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `exp(x - m) / sum(exp(x - m))`
    Plain,
    /// `x - m - log(sum(exp(x - m)))`
    Log,
}

/// Computes the softmax of `x` into `out`; `m` is the largest element of each row.
pub fn softmax<T: Float>(form: Form, x: &[T], (n, inner): (usize, usize), out: &mut [T]) {
    if n == 0 || inner == 0 {
        return;
    }
    if inner == 1 {
        for (x, out) in x.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            wide::run(Row { form, x, out });
        }
        return;
    }
    for (x, out) in x.chunks_exact(n * inner).zip(out.chunks_exact_mut(n * inner)) {
        wide::run(Columns { form, x, inner, out });
    }
}

/// The logarithm of the sum of exponentials of a row, and its largest element.
pub fn log_sum<T: Float>(row: &[T]) -> (f64, T) {
    wide::run(LogSum { row })
}

struct LogSum<'a, T> {
    row: &'a [T],
}

impl<T: Float> wide::Loop for LogSum<'_, T> {
    type Output = (f64, T);

    #[inline(always)]
    fn run(self) -> (f64, T) {
        let largest = largest(self.row);
        let mut sums = [T::ZERO; 16];
        let chunks = self.row.chunks_exact(16);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (sum, &x) in sums.iter_mut().zip(chunk) {
                *sum += (x - largest).exp_fast();
            }
        }
        for (sum, &x) in sums.iter_mut().zip(rest) {
            *sum += (x - largest).exp_fast();
        }
        let total: f64 = sums.iter().map(|it| it.to_f64()).sum();
        (largest.to_f64() + total.ln(), largest)
    }
}

#[inline(always)]
fn largest<T: Float>(row: &[T]) -> T {
    let mut lanes = [T::LOWEST; 16];
    for chunk in row.chunks(16) {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = if x > *lane || x.is_nan() { x } else { *lane };
        }
    }
    lanes.into_iter().fold(T::LOWEST, |a, b| if b > a || b.is_nan() { b } else { a })
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
        let (log, largest) = LogSum { row: self.x }.run();
        let rest = T::from_f64(log - largest.to_f64());
        match self.form {
            Form::Log => {
                for (slot, &x) in self.out.iter_mut().zip(self.x) {
                    *slot = x - largest - rest;
                }
            }
            Form::Plain => {
                let scale = T::from_f64((-(log - largest.to_f64())).exp());
                for (slot, &x) in self.out.iter_mut().zip(self.x) {
                    *slot = (x - largest).exp_fast() * scale;
                }
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
