//! The greatest elements of windows.
//!
//! Windows are taken many output rows at a time. For each row of the window the input rows that it lies on are laid out one behind
//! the other, apart by phase (position modulo the step), so that each place in the window is one sweep over contiguous
//! elements, whatever the step, and sweeps select instead of branching: which element is greatest cannot be foreseen.

use super::element::Element;
use super::max_pool2x2;
use super::pool::{self, Shared};
use super::pool2d::PoolProblem;
use super::wide;

/// Elements that are laid out at a time; they stay in the first cache.
const BLOCK: usize = 4096;

/// The greatest element of each window, and where it lies in its plane (`row * width + column`): of equal ones the first. A NaN
/// counts as the greatest.
///
/// # Panics
/// If sizes are 0 where they must not be, or a slice has another length than the problem says.
pub fn max_pool<T: Element>(p: &PoolProblem, x: &[T], y: &mut [T], indices: &mut [i64]) {
    p.check(x.len(), y.len());
    assert!(indices.len() == y.len(), "as many indices as elements");
    if y.is_empty() {
        return;
    }
    let [height, width] = p.output();
    let rows = p.planes * height;
    let pitch = width + (p.kernel[1] - 1) * p.dilation[1] / p.stride[1];
    let step = (BLOCK / (pitch * p.stride[1])).clamp(1, rows);
    let is_plain = max_pool2x2::fits(p);
    let (values, places) = (Shared(y.as_mut_ptr()), Shared(indices.as_mut_ptr()));
    pool::for_each_chunk(rows.div_ceil(step), &|chunk| {
        let (first, end) = (chunk * step, (chunk * step + step).min(rows));
        let (start, len) = (first * width, (end - first) * width);
        // SAFETY: the rows of a chunk are used by one call only.
        let y = unsafe { std::slice::from_raw_parts_mut(values.get().wrapping_add(start), len) };
        // SAFETY: as above.
        let at = unsafe { std::slice::from_raw_parts_mut(places.get().wrapping_add(start), len) };
        if is_plain {
            max_pool2x2::run(p, x, first, y, at);
        } else {
            Sweep::new(p, pitch, end - first).run(x, first, y, at);
        }
    });
}

/// Output rows that are computed together.
struct Sweep<'a, T> {
    p: &'a PoolProblem,
    output: [usize; 2],
    /// Elements between the starts of two rows.
    pitch: usize,
    rows: usize,
    /// Input rows, phase after phase.
    phases: Vec<T>,
    best: Vec<T>,
    /// Which place of its window each is: `row * columns + column`.
    taps: Vec<u32>,
}

impl<'a, T: Element> Sweep<'a, T> {
    fn new(p: &'a PoolProblem, pitch: usize, rows: usize) -> Self {
        let len = rows * pitch;
        let phases = vec![T::NEG_INFINITY; len * p.stride[1]];
        let (best, taps) = (vec![T::NEG_INFINITY; len], vec![0; len]);
        Self { p, output: p.output(), pitch, rows, phases, best, taps }
    }

    /// Computes the output rows from number `first` on, counted over all planes.
    fn run(mut self, x: &[T], first: usize, y: &mut [T], indices: &mut [i64]) {
        self.begin(first);
        let len = self.rows * self.pitch;
        for down in 0..self.p.kernel[0] {
            self.lay_out(x, first, down);
            for across in 0..self.p.kernel[1] {
                let position = across * self.p.dilation[1];
                let (phase, shift) = (position % self.p.stride[1], position / self.p.stride[1]);
                wide::run(Take {
                    values: &self.phases[phase * len + shift..(phase + 1) * len],
                    best: &mut self.best,
                    taps: &mut self.taps,
                    tap: (down * self.p.kernel[1] + across) as u32,
                });
            }
        }
        self.finish(first, y, indices);
    }

    /// The first place of each window that is not padding: it counts where nothing is greater than minus infinity.
    fn begin(&mut self, first: usize) {
        let [height, columns] = self.output;
        let of_columns: Vec<u32> = (0..columns).map(|out| self.first_inside(1, out)).collect();
        for row in 0..self.rows {
            let down = self.first_inside(0, (first + row) % height);
            let taps = &mut self.taps[row * self.pitch..][..columns];
            for (tap, across) in taps.iter_mut().zip(&of_columns) {
                *tap = down * self.p.kernel[1] as u32 + across;
            }
        }
    }

    fn first_inside(&self, axis: usize, out: usize) -> u32 {
        let padding = self.p.padding[axis].saturating_sub(out * self.p.stride[axis]);
        padding.div_ceil(self.p.dilation[axis]) as u32
    }

    /// Lays out the input row under row `down` of each window; padding is minus infinity.
    fn lay_out(&mut self, x: &[T], first: usize, down: usize) {
        let ([height, width], [out_height, _]) = (self.p.input, self.output);
        let (stride, pad, len) = (self.p.stride[1], self.p.padding[1], self.rows * self.pitch);
        if pad > 0 || self.pitch * stride > width || self.p.padding[0] > 0 || self.p.ceil_mode {
            self.phases.fill(T::NEG_INFINITY);
        }
        let (mut plane, mut out) = (first / out_height, first % out_height);
        let below = down * self.p.dilation[0];
        for row in 0..self.rows {
            let at = (out * self.p.stride[0] + below).checked_sub(self.p.padding[0]);
            if let Some(at) = at.filter(|&it| it < height) {
                let from = &x[(plane * height + at) * width..][..width];
                for (phase, of_phase) in self.phases.chunks_exact_mut(len).enumerate() {
                    // The first element of this phase behind the padding.
                    let skip = if pad > phase { (pad - phase).div_ceil(stride) } else { 0 };
                    let start = skip * stride + phase - pad;
                    let to = &mut of_phase[row * self.pitch..][..self.pitch];
                    if skip < to.len() && start < width {
                        copy_every(stride, &from[start..], &mut to[skip..]);
                    }
                }
            }
            out += 1;
            if out == out_height {
                (plane, out) = (plane + 1, 0);
            }
        }
    }

    /// Writes the greatest elements and their places in the plane.
    fn finish(&self, first: usize, y: &mut [T], indices: &mut [i64]) {
        let [height, columns] = self.output;
        let (stride, dilation, padding) = (self.p.stride, self.p.dilation, self.p.padding);
        let width = self.p.input[1];
        let offsets: Vec<i64> = (0..self.p.kernel[0] * self.p.kernel[1])
            .map(|tap| {
                let (down, across) = (tap / self.p.kernel[1], tap % self.p.kernel[1]);
                (down * dilation[0] * width + across * dilation[1]) as i64
            })
            .collect();
        let rows = y.chunks_exact_mut(columns).zip(indices.chunks_exact_mut(columns));
        for (row, (y, indices)) in rows.enumerate() {
            let start = row * self.pitch;
            y.copy_from_slice(&self.best[start..start + columns]);
            let top = ((first + row) % height * stride[0]) as i64 - padding[0] as i64;
            let mut corner = top * width as i64 - padding[1] as i64;
            for (index, &tap) in indices.iter_mut().zip(&self.taps[start..]) {
                *index = corner + offsets[tap as usize];
                corner += stride[1] as i64;
            }
        }
    }
}

/// Every `stride`-th element.
fn copy_every<T: Element>(stride: usize, from: &[T], to: &mut [T]) {
    match stride {
        1 => to.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
        2 => to.iter_mut().zip(from.iter().step_by(2)).for_each(|(to, from)| *to = *from),
        _ => to.iter_mut().zip(from.iter().step_by(stride)).for_each(|(to, from)| *to = *from),
    }
}

/// Takes the elements of one place where they are greater than the best so far.
struct Take<'a, T> {
    values: &'a [T],
    best: &'a mut [T],
    taps: &'a mut [u32],
    tap: u32,
}

impl<T: Element> wide::Loop for Take<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for ((&value, best), tap) in self.values.iter().zip(self.best).zip(self.taps) {
            #[expect(clippy::eq_op, reason = "the test for NaN")]
            let better = (value > *best) | (value != value);
            *best = if better { value } else { *best };
            *tap = if better { self.tap } else { *tap };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One window after the other, as PyTorch's documentation of `max_pool2d` defines it; `None` if one is all padding.
    fn by_definition(p: &PoolProblem, x: &[f32]) -> Option<(Vec<f32>, Vec<i64>)> {
        let [height, width] = p.input;
        let (mut y, mut indices) = (Vec::new(), Vec::new());
        for plane in x.chunks_exact(height * width) {
            for out in 0..p.output()[0] * p.output()[1] {
                let out = [out / p.output()[1], out % p.output()[1]];
                let mut best: Option<(f32, usize)> = None;
                for tap in 0..p.kernel[0] * p.kernel[1] {
                    let tap = [tap / p.kernel[1], tap % p.kernel[1]];
                    let at = [0, 1].map(|axis| {
                        let from_edge = out[axis] * p.stride[axis] + tap[axis] * p.dilation[axis];
                        from_edge.checked_sub(p.padding[axis]).filter(|&it| it < p.input[axis])
                    });
                    let [Some(row), Some(column)] = at else { continue };
                    let place = row * width + column;
                    let value = plane[place];
                    if best.is_none_or(|it| value > it.0 || value.is_nan()) {
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

    fn values(n: usize, seed: usize) -> Vec<f32> {
        let value = |at: usize| match (at * 7919 + seed * 104_729) % 61 {
            0 => f32::NAN,
            1..4 => f32::NEG_INFINITY,
            it => (it % 23) as f32 - 11.0,
        };
        (0..n).map(value).collect()
    }

    #[test]
    fn windows_of_all_kinds_are_as_defined() {
        let (mut seed, mut n_checked) = (0, 0);
        for input in [[1, 1], [4, 4], [5, 7], [8, 8], [9, 30], [33, 6]] {
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
                            let [height, width] = p.output();
                            seed += 1;
                            let x = values(3 * input[0] * input[1], seed);
                            let mut y = vec![0.0; 3 * height * width];
                            let mut indices = vec![0; y.len()];
                            max_pool(&p, &x, &mut y, &mut indices);
                            let Some(expected) = by_definition(&p, &x) else { continue };
                            n_checked += 1;
                            let bits =
                                |it: &[f32]| it.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
                            assert_eq!(
                                (bits(&y), indices),
                                (bits(&expected.0), expected.1),
                                "{p:?}"
                            );
                        }
                    }
                }
            }
        }
        assert!(n_checked > 500);
    }
}
