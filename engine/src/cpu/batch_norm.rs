//! The gradient of a batch norm, on all threads, with sums in `f64`.
//!
//! The order of operations depends on the sizes alone, so results do not depend on the threads.

use super::moments::Kept;
use super::number::Float;
use super::pool::{self, Shared};
use super::wide;

/// Columns that are computed together.
const COLUMNS: usize = 256;

/// What gradients come from. Means, (biased) variances and weights have an element for each kept position.
pub struct Backward<'a, T> {
    pub dy: &'a [T],
    pub x: &'a [T],
    pub means: &'a [T],
    pub variances: &'a [T],
    pub weight: Option<&'a [T]>,
    pub kept: Kept,
    pub eps: f64,
}

/// Where gradients go, from all threads.
struct Slots<T> {
    dx: Shared<T>,
    parameters: Option<[Shared<T>; 2]>,
}

/// What all elements of a kept position share: `dx = (dy - mean - (x - centre) * along) * scale`.
#[derive(Clone, Copy)]
struct Slope<T> {
    centre: T,
    mean: T,
    along: T,
    scale: T,
}

impl<T: Float> Slope<T> {
    const NONE: Self = Self { centre: T::ZERO, mean: T::ZERO, along: T::ZERO, scale: T::ZERO };
}

impl<T: Float> Backward<'_, T> {
    /// The gradient of `x`; if there are slots for them, also those of weight and bias.
    pub fn run(&self, dx: &mut [T], parameters: Option<[&mut [T]; 2]>) {
        let Kept { before, kept, after } = self.kept;
        let n = before * kept * after;
        assert!([dx.len(), self.dy.len(), self.x.len()] == [n; 3], "gradients of all elements");
        assert!(self.means.len() >= kept && self.variances.len() >= kept, "statistics of all");
        let slots = parameters.map(|it| {
            it.map(|it| {
                assert!(it.len() >= kept, "a gradient for each parameter");
                Shared(it.as_mut_ptr())
            })
        });
        let slots = Slots { dx: Shared(dx.as_mut_ptr()), parameters: slots };
        if after == 1 { self.by_columns(&slots) } else { self.by_runs(&slots) }
    }

    /// Neighbours along the last axis belong to one kept position.
    fn by_runs(&self, slots: &Slots<T>) {
        let Kept { before, kept, after } = self.kept;
        pool::for_each_range(kept, before * after, &|range| {
            for at in range {
                let centre = self.means[at].to_f64();
                let runs = || (0..before).map(|it| (it * kept + at) * after);
                let (mut sum, mut along) = (0.0, 0.0);
                for start in runs() {
                    let (x, dy) = (&self.x[start..start + after], &self.dy[start..start + after]);
                    let (own, own_along) = wide::run(Products { x, dy, centre });
                    (sum, along) = (sum + own, along + own_along);
                }
                // SAFETY: each kept position is given once.
                let slope = unsafe { self.slope(at, [sum, along], slots) };
                for start in runs() {
                    let range = start..start + after;
                    let (x, dy) = (&self.x[range.clone()], &self.dy[range.clone()]);
                    // SAFETY: as above.
                    let out = unsafe { slots.dx.part(range) };
                    wide::run(Slopes { x, dy, slope, out });
                }
            }
        });
    }

    /// Neighbours along the last axis belong to neighbours of what is kept.
    fn by_columns(&self, slots: &Slots<T>) {
        let Kept { before, kept, .. } = self.kept;
        // Several strips for the threads; sums do not depend on how wide they are.
        let columns = kept.div_ceil(16).clamp(64, COLUMNS);
        pool::for_each_range(kept.div_ceil(columns), before * kept.min(columns), &|range| {
            for first in range.map(|it| it * columns) {
                let len = columns.min(kept - first);
                let rows = || (0..before).map(|it| it * kept + first..it * kept + first + len);
                let means = &self.means[first..first + len];
                let mut sums = ([0.0; COLUMNS], [0.0; COLUMNS]);
                for range in rows() {
                    let (x, dy) = (&self.x[range.clone()], &self.dy[range]);
                    wide::run(Columns { x, dy, means, sums: &mut sums });
                }
                let mut slopes = [Slope::NONE; COLUMNS];
                for (at, slope) in slopes[..len].iter_mut().enumerate() {
                    // SAFETY: each column is given once.
                    *slope = unsafe { self.slope(first + at, [sums.0[at], sums.1[at]], slots) };
                }
                for range in rows() {
                    let (x, dy) = (&self.x[range.clone()], &self.dy[range.clone()]);
                    // SAFETY: as above.
                    let out = unsafe { slots.dx.part(range) };
                    wide::run(Across { x, dy, slopes: &slopes[..len], out });
                }
            }
        });
    }

    /// What a kept position's elements share, from the sums of `dy` and of `dy * (x - mean)`; notes the gradients of its parameters.
    ///
    /// # Safety
    /// Each kept position is asked for by one thread alone.
    unsafe fn slope(&self, at: usize, [sum, along]: [f64; 2], slots: &Slots<T>) -> Slope<T> {
        let n = (self.kept.before * self.kept.after) as f64;
        let scale = 1.0 / (self.variances[at].to_f64() + self.eps).sqrt();
        if let Some([weight, bias]) = &slots.parameters {
            // SAFETY: the caller's.
            unsafe {
                weight.get().add(at).write(T::from_f64(along * scale));
                bias.get().add(at).write(T::from_f64(sum));
            }
        }
        let weight = self.weight.map_or(1.0, |it| it[at].to_f64());
        Slope {
            centre: self.means[at],
            mean: T::from_f64(sum / n),
            along: T::from_f64(along / n * scale * scale),
            scale: T::from_f64(weight * scale),
        }
    }
}

/// The sums of `dy` and of `dy * (x - centre)`.
struct Products<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    centre: f64,
}

impl<T: Float> wide::Loop for Products<'_, T> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run(self) -> (f64, f64) {
        let (mut sums, mut products) = ([0.0; 8], [0.0; 8]);
        let ((x, x_rest), (dy, dy_rest)) = (self.x.as_chunks::<8>(), self.dy.as_chunks::<8>());
        let product = |(x, dy): (&T, &T)| dy.to_f64() * (x.to_f64() - self.centre);
        // Two loops: each becomes vectors, both together do not.
        for dy in dy {
            sums.iter_mut().zip(dy).for_each(|(sum, dy)| *sum += dy.to_f64());
        }
        sums.iter_mut().zip(dy_rest).for_each(|(sum, dy)| *sum += dy.to_f64());
        for (x, dy) in x.iter().zip(dy) {
            products.iter_mut().zip(x.iter().zip(dy)).for_each(|(sum, it)| *sum += product(it));
        }
        let rest = products.iter_mut().zip(x_rest.iter().zip(dy_rest));
        rest.for_each(|(sum, it)| *sum += product(it));
        (sums.iter().sum(), products.iter().sum())
    }
}

/// Gradients of neighbours of one kept position.
struct Slopes<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    slope: Slope<T>,
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Slopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Slope { centre, mean, along, scale } = self.slope;
        for (slot, (&x, &dy)) in self.out.iter_mut().zip(self.x.iter().zip(self.dy)) {
            *slot = (dy - mean - (x - centre) * along) * scale;
        }
    }
}

/// Adds `dy` and `dy * (x - mean)` to the sums of columns.
struct Columns<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    means: &'a [T],
    sums: &'a mut ([f64; COLUMNS], [f64; COLUMNS]),
}

impl<T: Float> wide::Loop for Columns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let sums = self.sums.0.iter_mut().zip(&mut self.sums.1);
        let elements = self.x.iter().zip(self.dy).zip(self.means);
        for ((sum, along), ((x, dy), mean)) in sums.zip(elements) {
            let dy = dy.to_f64();
            *sum += dy;
            *along += dy * (x.to_f64() - mean.to_f64());
        }
    }
}

/// Gradients of neighbours, each of a kept position of its own.
struct Across<'a, T> {
    x: &'a [T],
    dy: &'a [T],
    slopes: &'a [Slope<T>],
    out: &'a mut [T],
}

impl<T: Float> wide::Loop for Across<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let elements = self.x.iter().zip(self.dy).zip(self.slopes);
        for (slot, ((&x, &dy), it)) in self.out.iter_mut().zip(elements) {
            *slot = (dy - it.mean - (x - it.centre) * it.along) * it.scale;
        }
    }
}
