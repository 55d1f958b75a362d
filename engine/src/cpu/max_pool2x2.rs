//! The greatest elements of windows of 2 x 2 that lie side by side, the usual case: first of each column of a window, for whole rows of
//! the input at a time, then of the two columns.

use super::element::Element;
use super::pool2d::PoolProblem;
use super::wide;

/// Whether the windows are such, without padding.
pub(super) fn fits(p: &PoolProblem) -> bool {
    let [height, width] = p.output();
    (p.kernel, p.stride, p.dilation, p.padding) == ([2, 2], [2, 2], [1, 1], [0, 0])
        && 2 * height <= p.input[0]
        && 2 * width <= p.input[1]
}

/// Computes the output rows from number `first` on, counted over all planes: the greatest elements and their places in their planes.
pub(super) fn run<T: Element>(
    p: &PoolProblem,
    x: &[T],
    first: usize,
    y: &mut [T],
    indices: &mut [i64],
) {
    let columns = 2 * p.output()[1];
    let best = vec![T::NEG_INFINITY; 2 * y.len()];
    let lower = vec![0; 2 * y.len()];
    wide::run(Windows { p, columns, x, first, best, lower, y, indices });
}

struct Windows<'a, T> {
    p: &'a PoolProblem,
    /// Columns of the input that windows lie on.
    columns: usize,
    x: &'a [T],
    first: usize,
    /// The greater of two elements that lie below each other, and 1 where it is the lower one.
    best: Vec<T>,
    lower: Vec<u32>,
    y: &'a mut [T],
    indices: &'a mut [i64],
}

impl<T: Element> wide::Loop for Windows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        self.down();
        let chosen = self.across();
        self.finish(&chosen);
    }
}

/// Comparisons are such that of equal elements the first is taken and of several NaN the last, in row-major order.
impl<T: Element> Windows<'_, T> {
    #[inline(always)]
    fn down(&mut self) {
        let ([height, width], out_height) = (self.p.input, self.p.output()[0]);
        let (mut plane, mut out) = (self.first / out_height, self.first % out_height);
        let rows = self.best.chunks_exact_mut(self.columns);
        for (best, lower) in rows.zip(self.lower.chunks_exact_mut(self.columns)) {
            let rows = &self.x[(plane * height + 2 * out) * width..][..2 * width];
            let (top, bottom) = rows.split_at(width);
            let pairs = top.iter().zip(bottom);
            for ((best, lower), (&top, &bottom)) in best.iter_mut().zip(lower).zip(pairs) {
                let is_lower = (bottom > top) | is_nan(bottom);
                *best = if is_lower { bottom } else { top };
                *lower = u32::from(is_lower);
            }
            out += 1;
            if out == out_height {
                (plane, out) = (plane + 1, 0);
            }
        }
    }

    /// Of each window the greatest; which one it is, as twice the row and the column.
    #[inline(always)]
    fn across(&mut self) -> Vec<u32> {
        let mut chosen = vec![0; self.y.len()];
        let windows = self.best.as_chunks::<2>().0.iter().zip(self.lower.as_chunks::<2>().0);
        let made = self.y.iter_mut().zip(&mut chosen);
        for ((&[left, right], &[left_lower, right_lower]), (y, chosen)) in windows.zip(made) {
            let is_right = (right > left)
                | ((right == left) & (right_lower < left_lower))
                | (is_nan(right) & (!is_nan(left) | (left_lower <= right_lower)));
            *y = if is_right { right } else { left };
            let lower = if is_right { right_lower } else { left_lower };
            *chosen = 2 * lower + u32::from(is_right);
        }
        chosen
    }

    #[inline(always)]
    fn finish(self, chosen: &[u32]) {
        let [height, columns] = self.p.output();
        let width = self.p.input[1] as i64;
        let rows = self.indices.chunks_exact_mut(columns).zip(chosen.chunks_exact(columns));
        for (row, (indices, chosen)) in rows.enumerate() {
            let mut corner = 2 * ((self.first + row) % height) as i64 * width;
            for (index, &chosen) in indices.iter_mut().zip(chosen) {
                let (down, across) = (i64::from(chosen >> 1), i64::from(chosen & 1));
                *index = corner + down * width + across;
                corner += 2;
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "the test for NaN")]
fn is_nan<T: Element>(value: T) -> bool {
    value != value
}
