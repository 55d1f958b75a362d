//! Discrete Fourier transforms along one dimension, by `rustfft` and `realfft`. Lines whose numbers lie behind each other are transformed
//! where they are to go; others are taken out, transformed and put back. Complex numbers lie as pairs of floats.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use numeric::fourier;
use realfft::{ComplexToReal, RealToComplex};
use rustfft::Fft;

use super::interrupt;
use super::number::Float;
use super::pool::{self, Shared};
use super::typed::Plain;

/// A float type that is transformed.
pub trait Wave: Float + fourier::Wave + Plain {}

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

/// Numbers of a line that are moved at a time, so that each cache line is written once.
const STRETCH: usize = 8;

impl<T: Wave> Transform<T> {
    /// Of complex lines of `n` numbers, with `exp(+2 pi i j k / n)` where `backward`.
    pub fn complex(n: usize, backward: bool) -> Self {
        Self::Complex(<T as fourier::Wave>::complex(n, backward))
    }

    /// Of `n` real numbers.
    pub fn to_half(n: usize) -> Self {
        Self::ToHalf(<T as fourier::Wave>::to_half(n))
    }

    /// To `n` real numbers.
    pub fn from_half(n: usize) -> Self {
        Self::FromHalf(<T as fourier::Wave>::from_half(n))
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
        let width = TOGETHER.min(lines.inner);
        let numbers = self.sizes().iter().sum::<usize>() * width + 2 * self.scratch_len();
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
        let groups = inner.div_ceil(TOGETHER);
        let flops = (taken + given) * TOGETHER.min(inner) * 4;
        let (from, to) = (Shared(from.cast_mut()), Shared(to));
        pool::for_each_range(outer * groups, flops, &|range| {
            let mut work = Work::new(self, inner, scale);
            for at in range {
                if interrupt::ends_here() {
                    return;
                }
                let (block, first) = (at / groups, at % groups * TOGETHER);
                let columns = first..(first + TOGETHER).min(inner);
                // SAFETY: both blocks are there, and no other group has these columns.
                unsafe {
                    let from = from.get().add(block * taken * inner);
                    let to = to.get().add(block * given * inner);
                    match inner {
                        1 => work.line(from, to),
                        _ => work.columns(columns, inner, from, to),
                    }
                }
            }
        });
    }

    fn scratch_len(&self) -> usize {
        match self {
            Self::Complex(plan) => plan.get_inplace_scratch_len(),
            Self::ToHalf(plan) => plan.get_scratch_len(),
            Self::FromHalf(plan) => plan.get_scratch_len(),
        }
    }

    /// Transforms one line; a complex one stands in `given`. Numbers of `taken` are lost. The only errors of plans are lengths, which are
    /// theirs here, and imaginary parts where there must be none, which are cleared.
    fn one(&self, taken: &mut [T], given: &mut [T], scratch: &mut [Complex<T>]) {
        match self {
            Self::Complex(plan) => plan.process_with_scratch(pairs(given), scratch),
            Self::ToHalf(plan) => {
                let _ = plan.process_with_scratch(taken, pairs(given), scratch);
            }
            Self::FromHalf(plan) => {
                let half = pairs(taken);
                half[0].im = T::ZERO;
                if plan.len().is_multiple_of(2) {
                    half[plan.complex_len() - 1].im = T::ZERO;
                }
                let _ = plan.process_with_scratch(half, given, scratch);
            }
        }
    }
}

/// What one thread transforms lines with.
struct Work<'a, T> {
    transform: &'a Transform<T>,
    scale: T,
    /// Lines of one group, as they are taken out and as they are put back. Complex lines are transformed in place, in the second.
    taken: Vec<T>,
    given: Vec<T>,
    scratch: Vec<Complex<T>>,
}

impl<'a, T: Wave> Work<'a, T> {
    fn new(transform: &'a Transform<T>, inner: usize, scale: T) -> Self {
        let [taken, given] = transform.sizes();
        let is_complex = matches!(transform, Transform::Complex(_));
        let n_taken = if is_complex { 0 } else { TOGETHER.min(inner) };
        let n_given = if inner == 1 { 0 } else { TOGETHER.min(inner) };
        Self {
            transform,
            scale,
            taken: vec![T::ZERO; taken * n_taken],
            given: vec![T::ZERO; given * n_given],
            scratch: vec![Complex::new(T::ZERO, T::ZERO); transform.scratch_len()],
        }
    }

    /// Transforms a line whose numbers lie behind each other.
    ///
    /// # Safety
    /// It is there, and nobody else uses its place in `to` meanwhile; both places are the same, or apart.
    unsafe fn line(&mut self, from: *const T, to: *mut T) {
        let [taken, given] = self.transform.sizes();
        // SAFETY: promised by the caller.
        let to = unsafe {
            match self.transform {
                Transform::Complex(_) => from.copy_to(to, taken),
                _ => from.copy_to_nonoverlapping(self.taken.as_mut_ptr(), taken),
            }
            std::slice::from_raw_parts_mut(to, given)
        };
        self.transform.one(&mut self.taken, to, &mut self.scratch);
        multiply(to, self.scale);
    }

    /// Transforms the lines at these columns of a block.
    ///
    /// # Safety
    /// The block is there, and nobody else uses these columns of `to` meanwhile.
    unsafe fn columns(&mut self, columns: Range<usize>, inner: usize, from: *const T, to: *mut T) {
        let ([taken, given], count) = (self.transform.sizes(), columns.len());
        let first = columns.start;
        // SAFETY: promised by the caller; places are inside the block, and pairs lie as complex numbers do.
        unsafe {
            match self.transform {
                Transform::Complex(_) => {
                    let place = from.cast::<Complex<T>>().add(first);
                    gather(place, inner, count, pairs(&mut self.given[..count * given]));
                }
                Transform::ToHalf(_) => {
                    gather(from.add(first), inner, count, &mut self.taken[..count * taken]);
                }
                Transform::FromHalf(_) => {
                    let place = from.cast::<Complex<T>>().add(first);
                    gather(place, inner, count, pairs(&mut self.taken[..count * taken]));
                }
            }
        }
        for at in 0..count {
            let taken = self.taken.get_mut(at * taken..(at + 1) * taken).unwrap_or_default();
            let given = &mut self.given[at * given..][..given];
            self.transform.one(taken, given, &mut self.scratch);
        }
        let given = &mut self.given[..count * given];
        multiply(given, self.scale);
        // SAFETY: as above.
        unsafe {
            match self.transform {
                Transform::FromHalf(_) => scatter(given, to.add(first), inner, count),
                _ => scatter(pairs(given), to.cast::<Complex<T>>().add(first), inner, count),
            }
        }
    }
}

fn multiply<T: Wave>(numbers: &mut [T], scale: T) {
    if scale != T::ONE {
        numbers.iter_mut().for_each(|it| *it = *it * scale);
    }
}

/// Numbers two by two.
fn pairs<T>(numbers: &mut [T]) -> &mut [Complex<T>] {
    let count = numbers.len() / 2;
    // SAFETY: a complex number lies as its two parts, `repr(C)`.
    unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), count) }
}

/// Copies `count` columns of rows of `inner` to lines behind each other, which `out` is full of.
///
/// # Safety
/// They are there.
unsafe fn gather<P: Copy>(from: *const P, inner: usize, count: usize, out: &mut [P]) {
    let n = out.len() / count;
    for (column, at) in stretches(n, count) {
        for (at, out) in at.clone().zip(&mut out[column * n..][at]) {
            // SAFETY: promised by the caller.
            *out = unsafe { from.add(at * inner + column).read() };
        }
    }
}

/// Copies lines behind each other to `count` columns of rows of `inner`.
///
/// # Safety
/// There are such rows, and nobody else uses these columns meanwhile.
unsafe fn scatter<P: Copy>(lines: &[P], to: *mut P, inner: usize, count: usize) {
    let n = lines.len() / count;
    for (column, at) in stretches(n, count) {
        for (at, it) in at.clone().zip(&lines[column * n..][at]) {
            // SAFETY: promised by the caller.
            unsafe { to.add(at * inner + column).write(*it) };
        }
    }
}

/// Stretches of lines of `n` numbers, those beside each other in `count` columns in turn.
fn stretches(n: usize, count: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let starts = (0..n).step_by(STRETCH);
    starts.flat_map(move |at| (0..count).map(move |column| (column, at..(at + STRETCH).min(n))))
}
