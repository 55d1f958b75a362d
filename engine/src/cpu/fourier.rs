//! Discrete Fourier transforms along one dimension, by `rustfft` and `realfft`: lines are taken out, transformed in scratch of their
//! own, and put back. Complex numbers lie as pairs of floats.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};

use super::interrupt;
use super::number::Float;
use super::pool::{self, Shared};
use super::typed::Plain;

/// A float type that is transformed.
pub trait Wave: Float + FftNum + Plain {}

impl Wave for f32 {}
impl Wave for f64 {}

/// A transform of lines.
pub enum Transform<T> {
    /// Complex lines, forward or backward.
    Complex(Arc<dyn Fft<T>>),
    /// Real lines to the first half of their spectra, and one more, forward.
    ToHalf(Arc<dyn RealToComplex<T>>),
    /// Such halves to real lines, backward.
    FromHalf(Arc<dyn ComplexToReal<T>>),
}

/// Where the lines lie: a row-major block `[outer, n, inner]`.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    pub outer: usize,
    pub inner: usize,
}

/// Lines that lie beside each other and are taken out together, so that each cache line is read once.
const TOGETHER: usize = 16;

impl<T: Wave> Transform<T> {
    /// Of complex lines of `n` numbers, with `exp(+2 pi i j k / n)` where `backward`.
    pub fn complex(n: usize, backward: bool) -> Self {
        let mut planner = FftPlanner::new();
        Self::Complex(match backward {
            true => planner.plan_fft_inverse(n),
            false => planner.plan_fft_forward(n),
        })
    }

    /// Of `n` real numbers.
    pub fn to_half(n: usize) -> Self {
        Self::ToHalf(RealFftPlanner::new().plan_fft_forward(n))
    }

    /// To `n` real numbers.
    pub fn from_half(n: usize) -> Self {
        Self::FromHalf(RealFftPlanner::new().plan_fft_inverse(n))
    }

    /// Numbers that a line takes in and gives, each a pair where it is complex.
    fn sizes(&self) -> [usize; 2] {
        match self {
            Self::Complex(plan) => [2 * plan.len(); 2],
            Self::ToHalf(plan) => [plan.len(), 2 * plan.complex_len()],
            Self::FromHalf(plan) => [2 * plan.complex_len(), plan.len()],
        }
    }

    /// Bytes of scratch that a run takes on so many threads.
    pub fn workspace(&self, lines: Lines, threads: usize) -> usize {
        let own = match self {
            Self::Complex(plan) => plan.get_inplace_scratch_len(),
            Self::ToHalf(plan) => plan.get_scratch_len(),
            Self::FromHalf(plan) => plan.get_scratch_len(),
        };
        let numbers = self.sizes().iter().sum::<usize>() * TOGETHER.min(lines.inner) + 2 * own;
        numbers * size_of::<T>() * threads
    }

    /// Transforms all lines of `from` into `to` and multiplies them by `scale`. Both are row-major; pairs count as two numbers.
    pub fn run(&self, lines: Lines, from: &[T], to: &mut [T], scale: T) {
        let [taken, given] = self.sizes();
        let n_lines = lines.outer * lines.inner;
        assert!(
            from.len() == n_lines * taken && to.len() == n_lines * given,
            "the lines are not all there"
        );
        // SAFETY: all lines are there, in both.
        unsafe { self.run_at(lines, from.as_ptr(), to.as_mut_ptr(), scale) };
    }

    /// The same of complex lines, in their places.
    pub fn run_in_place(&self, lines: Lines, data: &mut [T], scale: T) {
        let [taken, given] = self.sizes();
        assert!(
            taken == given && data.len() == lines.outer * lines.inner * taken,
            "the lines are not all there"
        );
        // SAFETY: all lines are there, and each group is read before it is written.
        unsafe { self.run_at(lines, data.as_ptr(), data.as_mut_ptr(), scale) };
    }

    /// # Safety
    /// There are as many numbers at both places as the lines take and give; they are apart, or lines give as many as they take.
    unsafe fn run_at(&self, lines: Lines, from: *const T, to: *mut T, scale: T) {
        let ([taken, given], Lines { outer, inner }) = (self.sizes(), lines);
        let width = TOGETHER.min(inner);
        let groups = inner.div_ceil(TOGETHER);
        let (from, to) = (Shared(from.cast_mut()), Shared(to));
        pool::for_each_range(outer * groups, (taken + given) * width * 4, &|range| {
            let mut work = Work::new(self, width);
            for at in range {
                if interrupt::ends_here() {
                    return;
                }
                let (block, first) = (at / groups, at % groups * TOGETHER);
                let columns = first..(first + TOGETHER).min(inner);
                // SAFETY: the places are inside the block, and no other group has these columns.
                work.take(columns.clone(), inner, |place| unsafe {
                    from.get().add(block * taken * inner + place).read()
                });
                work.transform(columns.len(), scale);
                // SAFETY: as above.
                work.put(columns, inner, |place, value| unsafe {
                    to.get().add(block * given * inner + place).write(value);
                });
            }
        });
    }
}

/// Lines of one group while they are transformed.
struct Work<'a, T: Wave> {
    transform: &'a Transform<T>,
    /// Complex numbers of a line.
    n: usize,
    real: Vec<T>,
    complex: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<'a, T: Wave> Work<'a, T> {
    fn new(transform: &'a Transform<T>, width: usize) -> Self {
        let zero = Complex::new(T::ZERO, T::ZERO);
        let (n_real, n, n_scratch) = match transform {
            Transform::Complex(plan) => (0, plan.len(), plan.get_inplace_scratch_len()),
            Transform::ToHalf(plan) => (plan.len(), plan.complex_len(), plan.get_scratch_len()),
            Transform::FromHalf(plan) => (plan.len(), plan.complex_len(), plan.get_scratch_len()),
        };
        Self {
            transform,
            n,
            real: vec![T::ZERO; n_real * width],
            complex: vec![zero; n * width],
            scratch: vec![zero; n_scratch],
        }
    }

    /// Takes out the lines at these columns of a block.
    fn take(&mut self, columns: Range<usize>, inner: usize, read: impl Fn(usize) -> T) {
        if let Transform::ToHalf(plan) = self.transform {
            for at in 0..plan.len() {
                let places = columns.clone().map(|column| at * inner + column);
                let slots = self.real[at..].iter_mut().step_by(plan.len());
                slots.zip(places).for_each(|(slot, place)| *slot = read(place));
            }
            return;
        }
        for at in 0..self.n {
            let places = columns.clone().map(|column| 2 * (at * inner + column));
            let slots = self.complex[at..].iter_mut().step_by(self.n);
            slots
                .zip(places)
                .for_each(|(slot, place)| *slot = Complex::new(read(place), read(place + 1)));
        }
    }

    /// Their only errors are lengths, which are theirs here, and imaginary parts where there must be none, which are cleared.
    fn transform(&mut self, count: usize, scale: T) {
        let complex = &mut self.complex[..count * self.n];
        match self.transform {
            Transform::Complex(plan) => plan.process_with_scratch(complex, &mut self.scratch),
            Transform::ToHalf(plan) => {
                let real = self.real.chunks_exact_mut(plan.len());
                for (real, complex) in real.zip(complex.chunks_exact_mut(self.n)) {
                    let _ = plan.process_with_scratch(real, complex, &mut self.scratch);
                }
            }
            Transform::FromHalf(plan) => {
                let real = self.real.chunks_exact_mut(plan.len());
                for (real, complex) in real.zip(complex.chunks_exact_mut(self.n)) {
                    complex[0].im = T::ZERO;
                    if plan.len().is_multiple_of(2) {
                        complex[self.n - 1].im = T::ZERO;
                    }
                    let _ = plan.process_with_scratch(complex, real, &mut self.scratch);
                }
                self.real.iter_mut().for_each(|it| *it = *it * scale);
                return;
            }
        }
        complex.iter_mut().for_each(|it| *it = Complex::new(it.re * scale, it.im * scale));
    }

    /// Puts lines into their columns of a block.
    fn put(&self, columns: Range<usize>, inner: usize, write: impl Fn(usize, T)) {
        if let Transform::FromHalf(plan) = self.transform {
            for at in 0..plan.len() {
                let places = columns.clone().map(|column| at * inner + column);
                let slots = self.real[at..].iter().step_by(plan.len());
                slots.zip(places).for_each(|(it, place)| write(place, *it));
            }
            return;
        }
        for at in 0..self.n {
            let places = columns.clone().map(|column| 2 * (at * inner + column));
            for (it, place) in self.complex[at..].iter().step_by(self.n).zip(places) {
                write(place, it.re);
                write(place + 1, it.im);
            }
        }
    }
}
