//! Pooling of images: average and adaptive average, each with its gradient. Maxima are in `max_pool`.
//!
//! A tensor is a number of contiguous planes (batch times channels), each `[height, width]`. Pairs are (height, width).

use super::element::Element;
use super::pool::{self, Shared};

/// A pooling of planes by a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolProblem {
    pub planes: usize,
    pub input: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub padding: [usize; 2],
    /// Averages ignore it: it is for maxima.
    pub dilation: [usize; 2],
    /// Rounds the output size up: the last window may reach past the padding, but not begin there.
    pub ceil_mode: bool,
}

impl PoolProblem {
    /// Windows side by side, no padding.
    pub fn new(planes: usize, input: [usize; 2], kernel: [usize; 2]) -> Self {
        let (padding, dilation) = ([0, 0], [1, 1]);
        PoolProblem { planes, input, kernel, stride: kernel, padding, dilation, ceil_mode: false }
    }

    /// Height and width of the output; 0 where the window does not fit.
    pub fn output(&self) -> [usize; 2] {
        [0, 1].map(|i| {
            let padded = self.input[i].saturating_add(self.padding[i].saturating_mul(2));
            let reach = self.dilation[i].saturating_mul(self.kernel[i] - 1).saturating_add(1);
            let stride = self.stride[i];
            let Some(room) = padded.checked_sub(reach) else { return 0 };
            let size = if self.ceil_mode { room.div_ceil(stride) } else { room / stride } + 1;
            let begins_outside = (size - 1) * stride >= self.input[i] + self.padding[i];
            size - usize::from(self.ceil_mode && begins_outside)
        })
    }

    fn in_area(&self) -> usize {
        self.input[0] * self.input[1]
    }

    fn out_area(&self) -> usize {
        self.output()[0] * self.output()[1]
    }

    pub(super) fn check(&self, input: usize, output: usize) {
        assert!(!self.kernel.contains(&0) && !self.stride.contains(&0), "a window or step of 0");
        assert!(!self.dilation.contains(&0), "a step of 0");
        assert!(input == self.planes * self.in_area(), "input has another length");
        assert!(output == self.planes * self.out_area(), "output has another length");
    }

    /// The first and the end of the input positions that window `out` covers along `axis`, padding left out, and the
    /// number that it covers with padding.
    fn window(&self, axis: usize, out: usize) -> (usize, usize, usize) {
        let (begin, pad) = (out * self.stride[axis], self.padding[axis]);
        let end = (begin + self.kernel[axis]).min(self.input[axis] + 2 * pad);
        let inside = |at: usize| at.saturating_sub(pad).min(self.input[axis]);
        (inside(begin), inside(end), end - begin)
    }
}

/// Calls `f(plane, x, y)` for each plane, on several threads if there is enough to do.
pub(crate) fn for_each_plane<A: Sync, B: Send>(
    planes: usize,
    x: &[A],
    y: &mut [B],
    f: impl Fn(usize, &[A], &mut [B]) + Sync,
) {
    if x.is_empty() || y.is_empty() {
        return;
    }
    let (in_area, out_area) = (x.len() / planes, y.len() / planes);
    let step = (16384 / (in_area + out_area)).max(1);
    let y = Shared(y.as_mut_ptr());
    pool::for_each_chunk(planes.div_ceil(step), &|chunk| {
        for plane in chunk * step..(chunk * step + step).min(planes) {
            // SAFETY: each plane of `y` is used by one chunk only.
            let y = unsafe {
                std::slice::from_raw_parts_mut(y.get().wrapping_add(plane * out_area), out_area)
            };
            f(plane, &x[plane * in_area..][..in_area], y);
        }
    });
}

/// What the sum over a window is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Divisor {
    /// The places it covers: padding counts as zeros.
    Covered,
    /// The elements in it: padding does not count.
    Elements,
    /// The same number for all.
    Fixed(f64),
}

impl Divisor {
    fn of(self, window: [(usize, usize, usize); 2]) -> f64 {
        let count = |along: fn((usize, usize, usize)) -> usize| {
            (along(window[0]) * along(window[1])) as f64
        };
        match self {
            Self::Covered => count(|(_, _, covered)| covered),
            Self::Elements => count(|(begin, end, _)| end - begin),
            Self::Fixed(number) => number,
        }
    }
}

/// The sum of each window, divided.
///
/// # Panics
/// If sizes are 0 where they must not be, or a slice has another length than the problem says.
pub fn avg_pool<T: Element>(p: &PoolProblem, x: &[T], y: &mut [T], divisor: Divisor) {
    let p = &PoolProblem { dilation: [1, 1], ..*p };
    p.check(x.len(), y.len());
    let width = p.output()[1];
    for_each_plane(p.planes, x, y, |_, x, y| {
        for (i, y) in y.iter_mut().enumerate() {
            let window = [p.window(0, i / width), p.window(1, i % width)];
            let area = Area::new(window);
            *y = area.sum(x, p.input[1]) / T::from_f64(divisor.of(window));
        }
    });
}

/// Spreads each element of `dy` evenly over its window; `dx` is replaced.
///
/// # Panics
/// As [`avg_pool`].
pub fn avg_pool_backward<T: Element>(p: &PoolProblem, dy: &[T], dx: &mut [T], divisor: Divisor) {
    let p = &PoolProblem { dilation: [1, 1], ..*p };
    p.check(dx.len(), dy.len());
    let width = p.output()[1];
    dx.fill(T::ZERO);
    for_each_plane(p.planes, dy, dx, |_, dy, dx| {
        for (i, &dy) in dy.iter().enumerate() {
            let window = [p.window(0, i / width), p.window(1, i % width)];
            let share = dy / T::from_f64(divisor.of(window));
            Area::new(window).add(share, dx, p.input[1]);
        }
    });
}

/// The mean over windows that cover the input evenly: along each axis, window `i` of `n` is
/// `floor(i * size / n)..ceil((i + 1) * size / n)`.
///
/// # Panics
/// If a slice has another length than `planes` planes of its size.
pub fn adaptive_avg_pool<T: Element>(
    planes: usize,
    input: [usize; 2],
    output: [usize; 2],
    x: &[T],
    y: &mut [T],
) {
    check_adaptive(planes, input, output, x.len(), y.len());
    for_each_plane(planes, x, y, |_, x, y| {
        for (i, y) in y.iter_mut().enumerate() {
            let area = Area::adaptive(input, output, i);
            *y = area.sum(x, input[1]) / T::from_f64(area.len() as f64);
        }
    });
}

/// The gradient of [`adaptive_avg_pool`]; `dx` is replaced.
///
/// # Panics
/// As [`adaptive_avg_pool`].
pub fn adaptive_avg_pool_backward<T: Element>(
    planes: usize,
    input: [usize; 2],
    output: [usize; 2],
    dy: &[T],
    dx: &mut [T],
) {
    check_adaptive(planes, input, output, dx.len(), dy.len());
    dx.fill(T::ZERO);
    for_each_plane(planes, dy, dx, |_, dy, dx| {
        for (i, &dy) in dy.iter().enumerate() {
            let area = Area::adaptive(input, output, i);
            area.add(dy / T::from_f64(area.len() as f64), dx, input[1]);
        }
    });
}

fn check_adaptive(planes: usize, input: [usize; 2], output: [usize; 2], x: usize, y: usize) {
    assert!(x == planes * input[0] * input[1], "input has another length");
    assert!(y == planes * output[0] * output[1], "output has another length");
}

/// A rectangle of a plane.
struct Area {
    rows: (usize, usize),
    cols: (usize, usize),
}

impl Area {
    fn new(window: [(usize, usize, usize); 2]) -> Area {
        Area { rows: (window[0].0, window[0].1), cols: (window[1].0, window[1].1) }
    }

    fn adaptive(input: [usize; 2], output: [usize; 2], index: usize) -> Area {
        let along = |axis: usize, i: usize| {
            let (size, n) = (input[axis], output[axis]);
            (i * size / n, ((i + 1) * size).div_ceil(n))
        };
        Area { rows: along(0, index / output[1]), cols: along(1, index % output[1]) }
    }

    fn len(&self) -> usize {
        (self.rows.1 - self.rows.0) * (self.cols.1 - self.cols.0)
    }

    fn sum<T: Element>(&self, x: &[T], width: usize) -> T {
        let mut sum = T::ZERO;
        for row in self.rows.0..self.rows.1 {
            for &value in &x[row * width + self.cols.0..row * width + self.cols.1] {
                sum += value;
            }
        }
        sum
    }

    fn add<T: Element>(&self, share: T, dx: &mut [T], width: usize) {
        for row in self.rows.0..self.rows.1 {
            for value in &mut dx[row * width + self.cols.0..row * width + self.cols.1] {
                *value += share;
            }
        }
    }
}

#[cfg(test)]
#[path = "pool2d_tests.rs"]
mod tests;
