//! Layer norm of rows, and its gradient, on all threads: means and variances in `f64` and in two passes.
//!
//! The order of operations depends on the sizes alone, so results do not depend on the threads.

use super::lane::{Part, Pieces, Scratch};
use super::moments::{self, Scaled};
use super::number::Float;
use super::pool::{self, Shared};
use super::softmax::grouped;
use super::wide;

/// Parts into which rows are cut where columns are added up, at most.
const MOST_PARTS: usize = 64;
/// Elements of such a part, at least.
const LEAST: usize = 1 << 14;

/// Mean and reciprocal deviation of a row.
fn stats<T: Float>(row: &[T], eps: f64) -> (f64, f64) {
    let n = row.len() as f64;
    let mean = moments::sum(row, 0.0, false) / n;
    (mean, 1.0 / (moments::sum(row, mean, true) / n + eps).sqrt())
}

/// `y = (x - mean) / sqrt(variance + eps) * weight + bias` for rows of `n` elements, which weight and bias have if they are there. What
/// follows on `y` is `part`.
pub fn forward<T: Float>(
    x: &Pieces<'_, T>,
    n: usize,
    [weight, bias]: [Option<&[T]>; 2],
    eps: f64,
    y: &mut [T],
    part: Part<'_>,
) {
    assert!(y.len() == x.len(), "as many results as elements");
    if n == 0 {
        return;
    }
    let y = Shared(y.as_mut_ptr());
    pool::for_each_range(x.len() / n, n, &|range| {
        let mut scratch = Scratch::default();
        for rows in grouped(range, x.at_once() / n) {
            let elements = rows.start * n..rows.end * n;
            // SAFETY: each range is given once, and `y` is as long as `x`.
            let (x, out) =
                unsafe { (x.range(elements.clone(), &mut scratch), y.part(elements.clone())) };
            for (x, out) in x.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
                let (mean, scale) = stats(x, eps);
                let (centre, scale) = (T::from_f64(mean), T::from_f64(scale));
                wide::run(Scaled { x, centre, scale, weight, bias, out });
            }
            // SAFETY: as above.
            unsafe { part.done(elements) };
        }
    });
}

/// What gradients of rows of `n` elements come from.
pub struct Backward<'a, T> {
    pub dy: &'a [T],
    pub x: &'a [T],
    pub weight: Option<&'a [T]>,
    pub n: usize,
    pub eps: f64,
}

impl<T: Float> Backward<'_, T> {
    /// The gradient of the rows; if there are slots for them, also those of weight and bias.
    pub fn run(&self, dx: &mut [T], parameters: Option<[&mut [T]; 2]>) {
        assert!(dx.len() == self.x.len() && dx.len() == self.dy.len(), "gradients of all elements");
        let n = self.n;
        let rows = self.x.len().checked_div(n).unwrap_or(0);
        let step = rows.div_ceil(MOST_PARTS).max(LEAST.div_ceil(n.max(1)));
        let parts = rows.div_ceil(step);
        let mut sums = vec![0.0; if parameters.is_some() { parts * 2 * n } else { 0 }];
        let (dx, slots) = (Shared(dx.as_mut_ptr()), Shared(sums.as_mut_ptr()));
        let wanted = parameters.is_some();
        pool::for_each_chunk(parts, &|part| {
            // SAFETY: each part has sums of its own.
            let sums =
                unsafe { slots.part(if wanted { part * 2 * n..(part + 1) * 2 * n } else { 0..0 }) };
            for row in part * step..((part + 1) * step).min(rows) {
                // SAFETY: each row is in one part.
                let out = unsafe { dx.part(row * n..(row + 1) * n) };
                self.row(row, out, sums);
            }
        });
        let Some([weight, bias]) = parameters else { return };
        let total = |column: usize| sums.iter().skip(column).step_by(2 * n).sum();
        let columns = weight.iter_mut().chain(bias).enumerate();
        columns.for_each(|(column, slot)| *slot = T::from_f64(total(column)));
    }

    /// The gradient of a row; what it adds to those of weight and bias goes to `sums`, unless that is empty.
    fn row(&self, row: usize, out: &mut [T], sums: &mut [f64]) {
        let range = row * self.n..(row + 1) * self.n;
        let (x, dy) = (&self.x[range.clone()], &self.dy[range]);
        let (mean, scale) = stats(x, self.eps);
        let row = Row { x, dy, weight: self.weight, mean, scale };
        let n = self.n as f64;
        let (sum, along) = wide::run(Products { row });
        wide::run(Slopes { row, mean: sum / n, along: along / n * scale * scale, out });
        if !sums.is_empty() {
            let (weight, bias) = sums.split_at_mut(self.n);
            wide::run(Columns { row, weight, bias });
        }
    }
}

/// The gradient of rows of `n` elements, `dy` being that of `y`, which they were standardised to: `r * (dy - mean(dy) - y * mean(dy * y))` with
/// `r = 1 / sqrt(variance + eps)` of each.
pub fn of_standard<T: Float>(
    dy: &[T],
    y: &[T],
    n: usize,
    (variances, eps): (&[T], f64),
    dx: &mut [T],
) {
    assert!(dx.len() == y.len() && dx.len() == dy.len(), "gradients of all elements");
    let rows = y.len().checked_div(n).unwrap_or(0);
    assert!(variances.len() >= rows, "a variance for each row");
    let dx = Shared(dx.as_mut_ptr());
    pool::for_each_range(rows, n, &|range| {
        for row in range {
            let all = row * n..(row + 1) * n;
            // SAFETY: each row is given once.
            let out = unsafe { dx.part(all.clone()) };
            let scale = 1.0 / (variances[row].to_f64() + eps).sqrt();
            let row = Row { x: &y[all.clone()], dy: &dy[all], weight: None, mean: 0.0, scale };
            let (sum, along) = wide::run(Products { row });
            wide::run(Slopes { row, mean: sum / n as f64, along: along / n as f64, out });
        }
    });
}

/// A row with the gradient of its result.
#[derive(Clone, Copy)]
struct Row<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    weight: Option<&'a [T]>,
    mean: f64,
    scale: f64,
}

impl<T: Float> Row<'_, T> {
    #[inline(always)]
    fn weight(&self, at: usize) -> T {
        self.weight.map_or(T::ONE, |it| it[at])
    }
}

/// With `g = dy * weight`: the sums of `g` and of `g * (x - mean)`.
struct Products<'a, T> {
    row: Row<'a, T>,
}

impl<T: Float> wide::Loop for Products<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let (mut sums, mut products) = ([0.0; 8], [0.0; 8]);
        let row = self.row;
        for start in (0..row.x.len()).step_by(8) {
            let end = (start + 8).min(row.x.len());
            for (lane, at) in (start..end).enumerate() {
                let slope = (row.dy[at] * row.weight(at)).to_f64();
                sums[lane] += slope;
                products[lane] += slope * (row.x[at].to_f64() - row.mean);
            }
        }
        (sums.iter().sum(), products.iter().sum())
    }
}

/// `(g - mean - (x - mean of x) * along) * scale`.
struct Slopes<'a, T> {
    row: Row<'a, T>,
    mean: f64,
    along: f64,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Slopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let [centre, scale] = [self.row.mean, self.row.scale].map(T::from_f64);
        let [mean, along] = [self.mean, self.along].map(T::from_f64);
        let slope = |x: T, g: T| (g - mean - (x - centre) * along) * scale;
        let all = self.out.iter_mut().zip(self.row.x.iter().zip(self.row.dy));
        match self.row.weight {
            Some(weight) => all
                .zip(weight)
                .for_each(|((slot, (&x, &dy)), &weight)| *slot = slope(x, dy * weight)),
            None => all.for_each(|(slot, (&x, &dy))| *slot = slope(x, dy)),
        }
    }
}

/// Adds `dy * (x - mean) * scale` and `dy` to the sums of columns.
struct Columns<'a, T> {
    row: Row<'a, T>,
    weight: &'a mut [f64],
    bias: &'a mut [f64],
}

impl<T: Float> wide::Loop for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Row { mean, scale, .. } = self.row;
        let slots = self.weight.iter_mut().zip(self.bias);
        for ((weight, bias), (x, dy)) in slots.zip(self.row.x.iter().zip(self.row.dy)) {
            let dy = dy.to_f64();
            *weight += dy * ((x.to_f64() - mean) * scale);
            *bias += dy;
        }
    }
}
