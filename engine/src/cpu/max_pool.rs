//! The greatest elements of windows.
//!
//! A row of the output is computed at a time, many windows in a vector. Where columns step or have padding, the rows of the input are
//! first laid out with their padding, apart by phase (position modulo the step), so that each column of the windows is contiguous.

use std::ops::Range;

use super::element::{Element, ElementKind};
use super::features::{Isa, isa};
use super::pool::{self, Shared};
use super::pool2d::PoolProblem;
use super::simd::{Halves, Kernels, Windows};

/// Elements that are laid out at a time; they stay in the first cache.
const BLOCK: usize = 4096;

/// Elements of the input that a thread takes at a time, about.
const CHUNK: usize = 16384;

/// The greatest element of each window, and where it lies in its plane (`row * width + column`): of equal ones the first. A NaN
/// counts as the greatest.
///
/// # Panics
/// If sizes are 0 where they must not be, or a slice has another length than the problem says.
pub fn max_pool<T: Element>(p: &PoolProblem, x: &[T], y: &mut [T], indices: &mut [i64]) {
    p.check(x.len(), y.len());
    assert!(indices.len() == y.len(), "as many indices as elements");
    run(isa(), p, x, y, indices);
}

fn run<T: Element>(isa: Isa, p: &PoolProblem, x: &[T], y: &mut [T], indices: &mut [i64]) {
    if y.is_empty() {
        return;
    }
    let rows = Rows::new(isa, p);
    let [height, width] = rows.output;
    let step = (CHUNK / p.input[1].saturating_mul(p.stride[0]).max(width)).max(1);
    let (values, places) = (Shared(y.as_mut_ptr()), Shared(indices.as_mut_ptr()));
    pool::for_each_chunk((p.planes * height).div_ceil(step), &|chunk| {
        let (first, end) = (chunk * step, (chunk * step + step).min(p.planes * height));
        let (start, len) = (first * width, (end - first) * width);
        // SAFETY: the rows of a chunk are used by one call only.
        let y = unsafe { std::slice::from_raw_parts_mut(values.get().wrapping_add(start), len) };
        // SAFETY: as above.
        let at = unsafe { std::slice::from_raw_parts_mut(places.get().wrapping_add(start), len) };
        rows.compute(x, first..end, y, at);
    });
}

/// How the elements under a column of windows are found.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// As they lie.
    Plain,
    /// As they lie, in pairs.
    Paired,
    /// Laid out.
    LaidOut,
    /// One by one: places reach further than the elements count.
    Single,
}

/// What all rows of the output have in common.
struct Rows<'a, T: 'static> {
    p: &'a PoolProblem,
    output: [usize; 2],
    way: Way,
    /// Columns from one window to the next.
    step: usize,
    kernels: &'static Kernels<T>,
    /// Elements of a phase of a laid-out row.
    phase: usize,
    columns: Vec<usize>,
    starts: Vec<T>,
}

impl<'a, T: Element> Rows<'a, T> {
    fn new(isa: Isa, p: &'a PoolProblem) -> Self {
        let output = p.output();
        let (dilation, padding) = (p.dilation[1], p.padding[1]);
        let stride = if output[1] == 1 { 1 } else { p.stride[1] };
        let way = way::<T>(p, stride);
        let reach = (p.kernel[1] - 1) * dilation;
        let phase = (output[1] + reach / stride).max((padding + p.input[1]).div_ceil(stride));
        let begin = |at: usize| {
            if way == Way::LaidOut { at % stride * phase + at / stride } else { at }
        };
        let columns = (0..p.kernel[1]).map(|column| begin(column * dilation)).collect();
        let starts = (0..output[1]).map(|out| first_inside(p, 1, out) * dilation);
        let starts = starts.map(|it| T::from_f64(it as f64)).collect();
        Self { p, output, way, step: stride, kernels: T::kernels(isa), phase, columns, starts }
    }

    /// The output rows of these numbers, counted over all planes.
    fn compute(&self, x: &[T], rows: Range<usize>, y: &mut [T], indices: &mut [i64]) {
        let p = self.p;
        let ([height, width], area) = (self.output, p.input[0] * p.input[1]);
        let pitch = if self.way == Way::LaidOut { self.phase * self.step } else { 0 };
        let most = BLOCK
            .checked_div(pitch.saturating_mul(p.stride[0]))
            .map_or(height, |it| it.clamp(1, height));
        let reach = (p.kernel[0] - 1) * p.dilation[0] + 1;
        let n_laid = p.input[0].min((most - 1) * p.stride[0] + reach);
        let mut laid = vec![T::NEG_INFINITY; pitch * n_laid];
        let mut row = rows.start;
        while row < rows.end {
            let (plane, top) = (row / height, row % height);
            let end = (top + most).min(height).min(top + rows.end - row);
            let at = (row - rows.start) * width..(row - rows.start + end - top) * width;
            let x = &x[plane * area..][..area];
            let (y, indices) = (&mut y[at.clone()], &mut indices[at]);
            match self.way {
                Way::Single => self.singly(x, top, y, indices),
                Way::LaidOut => {
                    let first = self.lay_out(x, top..end, &mut laid);
                    self.band(&laid, first, pitch, top, y, indices);
                }
                Way::Plain | Way::Paired => self.band(x, 0, p.input[1], top, y, indices),
            }
            row += end - top;
        }
    }

    /// Lays out the input rows under these rows of the output; the number of the first.
    fn lay_out(&self, plane: &[T], rows: Range<usize>, laid: &mut [T]) -> usize {
        let p = self.p;
        let inside = |at: usize| at.saturating_sub(p.padding[0]).min(p.input[0]);
        let reach = (p.kernel[0] - 1) * p.dilation[0] + 1;
        let first = inside(rows.start * p.stride[0]);
        let end = inside((rows.end - 1) * p.stride[0] + reach);
        let pitch = self.phase * self.step;
        for (at, laid) in (first..end).zip(laid.chunks_exact_mut(pitch)) {
            self.lay_out_row(&plane[at * p.input[1]..][..p.input[1]], laid);
        }
        first
    }

    /// Writes what is not padding.
    fn lay_out_row(&self, x: &[T], laid: &mut [T]) {
        let (stride, padding) = (self.step, self.p.padding[1]);
        match stride {
            1 => laid[padding..padding + x.len()].copy_from_slice(x),
            2 => {
                let start = |at: usize| at % 2 * self.phase + at / 2;
                let (even, odd) = (start(padding), start(padding + 1));
                let laid = laid.as_mut_ptr();
                let (even, odd) = (laid.wrapping_add(even), laid.wrapping_add(odd));
                // SAFETY: a phase has room for the elements of a row that fall on it.
                unsafe {
                    (self.kernels.halves)(&Halves { src: x.as_ptr(), len: x.len(), even, odd });
                }
            }
            _ => {
                for (phase, laid) in laid.chunks_exact_mut(self.phase).enumerate() {
                    // The first element of this phase behind the padding.
                    let skip = padding.saturating_sub(phase).div_ceil(stride);
                    let start = skip * stride + phase - padding;
                    let from = x.iter().skip(start).step_by(stride);
                    laid[skip..].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        }
    }

    /// Rows of the output from row `top` on, from `rows` of the input, of which the first has number `first`.
    fn band(
        &self,
        rows: &[T],
        first: usize,
        pitch: usize,
        top: usize,
        y: &mut [T],
        indices: &mut [i64],
    ) {
        let (p, width) = (self.p, self.output[1]);
        let count = |it: usize| T::from_f64(it as f64);
        let row_step = p.dilation[0] * p.input[1];
        let kernel = match self.way {
            Way::Paired => self.kernels.paired_windows,
            _ if p.kernel[1] == 3 => self.kernels.windows_of_three,
            _ => self.kernels.windows,
        };
        let (mut out, end) = (top, top + y.len() / width);
        while out < end {
            let (skipped, inside, n_rows) = self.rows_under(out);
            let is_whole = |out: &usize| self.rows_under(*out).2 == p.kernel[0];
            let lines = 1
                + (out + 1..end).take_while(|_| n_rows == p.kernel[0]).take_while(is_whole).count();
            let corner = (out * p.stride[0]) as i64 - p.padding[0] as i64;
            let at = (out - top) * width..(out + lines - top) * width;
            let windows = Windows {
                lines,
                count: width,
                src: rows.as_ptr().wrapping_add(inside.saturating_sub(first) * pitch),
                line_stride: p.stride[0] * pitch,
                row_stride: p.dilation[0] * pitch,
                rows: n_rows,
                columns: self.columns.as_ptr(),
                n_columns: p.kernel[1],
                starts: self.starts.as_ptr(),
                row_place: count(skipped * row_step),
                row_step: count(row_step),
                column_step: count(p.dilation[1]),
                best: y[at.clone()].as_mut_ptr(),
                indices: indices[at].as_mut_ptr(),
                corner: corner * p.input[1] as i64 - p.padding[1] as i64,
                line_step: (p.stride[0] * p.input[1]) as i64,
                step: self.step as i64,
            };
            // SAFETY: the rows that are not padding lie in `rows`, each with all columns of the windows.
            unsafe { kernel(&windows) };
            out += lines;
        }
    }

    /// The rows of windows in row `out` above the image, the input row under the next one, and how many lie in the image.
    fn rows_under(&self, out: usize) -> (usize, usize, usize) {
        let p = self.p;
        let (begin, padding, dilation) = (out * p.stride[0], p.padding[0], p.dilation[0]);
        let skipped = first_inside(p, 0, out);
        let inside = (begin + skipped * dilation).saturating_sub(padding);
        let n_rows = p.input[0].saturating_sub(inside).div_ceil(dilation);
        (skipped, inside, n_rows.min(p.kernel[0].saturating_sub(skipped)))
    }

    /// As `band`, from the plane itself.
    fn singly(&self, plane: &[T], top: usize, y: &mut [T], indices: &mut [i64]) {
        let (p, width) = (self.p, self.output[1]);
        for (i, (y, index)) in y.iter_mut().zip(indices).enumerate() {
            let out = [top + i / width, i % width];
            let at = |axis: usize, step: usize| {
                let from_edge = out[axis] * p.stride[axis] + step * p.dilation[axis];
                from_edge as i64 - p.padding[axis] as i64
            };
            let place = |row: i64, column: i64| row * p.input[1] as i64 + column;
            let skipped = [0, 1].map(|axis| first_inside(p, axis, out[axis]));
            let mut best = (T::NEG_INFINITY, place(at(0, skipped[0]), at(1, skipped[1])));
            for row in (skipped[0]..p.kernel[0]).map(|it| at(0, it)) {
                for column in (skipped[1]..p.kernel[1]).map(|it| at(1, it)) {
                    if row < p.input[0] as i64 && column < p.input[1] as i64 {
                        let x = plane[place(row, column) as usize];
                        #[expect(clippy::eq_op, reason = "the test for NaN")]
                        if x > best.0 || x != x {
                            best = (x, place(row, column));
                        }
                    }
                }
            }
            (*y, *index) = best;
        }
    }
}

/// The step within a window to its first row (column) that is not padding: it counts where nothing is greater than minus infinity.
fn first_inside(p: &PoolProblem, axis: usize, out: usize) -> usize {
    p.padding[axis].saturating_sub(out * p.stride[axis]).div_ceil(p.dilation[axis])
}

fn way<T: Element>(p: &PoolProblem, stride: usize) -> Way {
    let reach = |axis: usize| p.kernel[axis].saturating_mul(p.dilation[axis]);
    let furthest = reach(0).saturating_mul(p.input[1]).saturating_add(reach(1));
    let counts = if T::KIND == ElementKind::F32 { 1 << 24 } else { 1 << 31 };
    let across = (p.kernel[1], stride, p.dilation[1], p.padding[1]);
    match across {
        _ if furthest >= counts => Way::Single,
        (_, 1, _, 0) => Way::Plain,
        (2, 2, 1, 0) if 2 * p.output()[1] <= p.input[1] => Way::Paired,
        _ => Way::LaidOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One window after the other, as PyTorch's documentation of `max_pool2d` defines it; `None` if one is all padding.
    fn by_definition<T: Element>(p: &PoolProblem, x: &[T]) -> Option<(Vec<T>, Vec<i64>)> {
        let [height, width] = p.input;
        let (mut y, mut indices) = (Vec::new(), Vec::new());
        for plane in x.chunks_exact(height * width) {
            for out in 0..p.output()[0] * p.output()[1] {
                let out = [out / p.output()[1], out % p.output()[1]];
                let mut best: Option<(T, usize)> = None;
                for tap in 0..p.kernel[0] * p.kernel[1] {
                    let tap = [tap / p.kernel[1], tap % p.kernel[1]];
                    let at = [0, 1].map(|axis| {
                        let from_edge = out[axis] * p.stride[axis] + tap[axis] * p.dilation[axis];
                        from_edge.checked_sub(p.padding[axis]).filter(|&it| it < p.input[axis])
                    });
                    let [Some(row), Some(column)] = at else { continue };
                    let place = row * width + column;
                    let value = plane[place];
                    if best.is_none_or(|it| value > it.0 || value.to_f64().is_nan()) {
                        best = Some((value, place));
                    }
                }
                let (value, place) = best?;
                y.push(value);
                indices.push(place as i64);
            }
        }
        Some((y, indices))
    }

    fn values<T: Element>(n: usize, seed: usize) -> Vec<T> {
        let value = |at: usize| match (at * 7919 + seed * 104_729) % 61 {
            0 => T::NAN,
            1..4 => T::NEG_INFINITY,
            it => T::from_f64((it % 23) as f64 - 11.0),
        };
        (0..n).map(value).collect()
    }

    /// Under every instruction set; false if the definition says nothing.
    fn check<T: Element>(p: &PoolProblem, seed: usize) -> bool {
        let x = values::<T>(p.planes * p.input[0] * p.input[1], seed);
        let Some(expected) = by_definition(p, &x) else { return false };
        let bits = |it: &[T]| it.iter().map(|it| it.to_f64().to_bits()).collect::<Vec<_>>();
        for isa in Isa::available() {
            let mut y = vec![T::ZERO; expected.0.len()];
            let mut indices = vec![0; y.len()];
            run(isa, p, &x, &mut y, &mut indices);
            assert_eq!(
                (bits(&y), indices),
                (bits(&expected.0), expected.1.clone()),
                "{isa:?} {p:?}"
            );
        }
        true
    }

    #[test]
    fn windows_of_all_kinds_are_as_defined() {
        let (mut seed, mut n_checked) = (0, 0);
        for input in [[1, 1], [4, 4], [5, 7], [8, 8], [9, 30], [33, 6], [6, 71]] {
            for kernel in [[1, 1], [2, 2], [3, 3], [2, 5], [4, 1]] {
                for stride in [[1, 1], [2, 2], [3, 1], [1, 4]] {
                    for (dilation, ceil_mode) in [([1, 1], false), ([2, 1], true), ([1, 3], true)] {
                        for padding in [[0, 0], [1, 1], [0, 2]] {
                            if padding[0] > kernel[0] / 2 || padding[1] > kernel[1] / 2 {
                                continue;
                            }
                            let p = PoolProblem {
                                stride,
                                padding,
                                dilation,
                                ceil_mode,
                                ..PoolProblem::new(3, input, kernel)
                            };
                            seed += 1;
                            n_checked += usize::from(check::<f32>(&p, seed));
                            check::<f64>(&p, seed);
                        }
                    }
                }
            }
        }
        assert!(n_checked > 500);
    }

    #[test]
    fn places_that_the_elements_do_not_count_to() {
        let p = PoolProblem { padding: [0, 1], ..PoolProblem::new(2, [5, 40], [1, 3]) };
        for dilation in [[1 << 24, 1], [1 << 31, 2]] {
            assert!(check::<f32>(&PoolProblem { dilation, ..p }, 3));
            assert!(check::<f64>(&PoolProblem { dilation, stride: [2, 1], ..p }, 4));
        }
    }

    #[test]
    fn absurd_steps_are_no_disaster() {
        let p = PoolProblem { padding: [0, 1], ..PoolProblem::new(2, [3, 40], [3, 3]) };
        let stride = [u32::MAX as usize; 2];
        assert!(check::<f32>(&PoolProblem { stride, ..p }, 5));
        assert!(check::<f32>(&PoolProblem { stride, padding: [1, 0], ..p }, 6));
    }
}
