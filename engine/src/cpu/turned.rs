//! Copies between two orders of the same dimensions, as of a transposed matrix.
//!
//! Where one side has neighbours in one dimension and the other in another, a copy element by element reads a line of the cache for each
//! of them. Here both are walked in squares: a line that is read is used up at once, and so is one that is written.

use super::interrupt;
use super::pool::{self, Shared};
use super::strided::for_each_run;
use super::typed::Plain;
use super::view::{OutView, View};
use crate::{Layout, with_size};

/// Rows and columns of a square.
const SIDE: usize = 16;

/// Two dimensions of a copy: neighbours of the source lie in the first, those of the target in the second.
pub(crate) struct Turned {
    sizes: [usize; 2],
    /// How far apart elements of the source lie in the second, and those of the target in the first.
    apart: [isize; 2],
    /// What remains, one element for each square area.
    rest: [Layout; 2],
}

impl Turned {
    /// `None` where neighbours of the one side are neighbours of the other, or there are few of them.
    pub(crate) fn of(from: &Layout, to: &Layout) -> Option<Self> {
        let long = |dim: &usize| from.shape[*dim] >= SIDE / 2;
        let dims = || (0..from.shape.rank()).rev().filter(long);
        let second = dims().find(|&dim| to.strides[dim] == 1)?;
        if matches!(from.strides[second], 0 | 1) {
            return None;
        }
        let first = dims().find(|&dim| from.strides[dim] == 1)?;
        // Rows of the target lie apart.
        if to.strides[first].unsigned_abs() < to.shape[second] {
            return None;
        }
        let without = |it: &Layout| {
            let mut it = it.clone();
            [first, second].into_iter().for_each(|dim| it.shape.dims_mut()[dim] = 1);
            it
        };
        Some(Self {
            sizes: [from.shape[first], from.shape[second]],
            apart: [from.strides[second], to.strides[first]],
            rest: [without(from), without(to)],
        })
    }

    /// Copies all elements, but for those that are left when the user interrupts.
    pub(crate) fn copy<T: Plain>(&self, src: &[T], dst: &mut [T]) {
        for_each_run([&self.rest[0], &self.rest[1]], |[from, to], len, [source, target]| {
            for at in 0..len as isize {
                let from = from.wrapping_add_signed(at * source);
                let to = to.wrapping_add_signed(at * target);
                self.area(src, from, dst, to);
            }
        });
    }

    /// Copies one area, from and to its first element, on several threads if it is large.
    fn area<T: Plain>(&self, src: &[T], from: usize, dst: &mut [T], to: usize) {
        let [rows, columns] = self.sizes;
        let (len, dst) = (dst.len(), Shared(dst.as_mut_ptr()));
        pool::for_each_range(rows.div_ceil(SIDE), SIDE * columns, &|bands| {
            let mut square = [[T::default(); SIDE]; SIDE];
            for row in bands.map(|it| it * SIDE) {
                if interrupt::ends_here() {
                    return;
                }
                let height = SIDE.min(rows - row);
                for column in (0..columns).step_by(SIDE) {
                    let width = SIDE.min(columns - column);
                    for (x, line) in square.iter_mut().enumerate().take(width) {
                        let start = (column + x) as isize * self.apart[0] + row as isize;
                        let start = from.wrapping_add_signed(start);
                        line[..height].copy_from_slice(&src[start..start + height]);
                    }
                    for y in 0..height {
                        let start = (row + y) as isize * self.apart[1] + column as isize;
                        let start = to.wrapping_add_signed(start);
                        assert!(start <= len && width <= len - start, "the target is too short");
                        // SAFETY: it lies in the target; each row of the area is of one band, and no two elements of it share a place.
                        let line = unsafe { dst.part(start..start + width) };
                        line.iter_mut().zip(&square).for_each(|(slot, it)| *slot = it[y]);
                    }
                }
            }
        });
    }
}

/// Copies a tensor to one of the same shape and dtype, if its elements lie in another order; false, with nothing done, if not.
pub(crate) fn copy(input: &View<'_>, output: &mut OutView<'_>) -> bool {
    if input.shape() != output.shape() || input.dtype() != output.dtype() {
        return false;
    }
    let to = Layout::contiguous(output.shape().clone());
    let Some(turned) = Turned::of(input.layout(), &to) else { return false };
    with_size!(input.dtype(), T => turned.copy(input.buffer::<T>(), output.as_mut_slice::<T>()));
    true
}

#[cfg(test)]
mod tests {
    use super::super::strided;
    use crate::{Layout, Shape};

    /// Copies by the definition.
    fn plain(src: &[i32], from: &Layout, dst: &mut [i32], to: &Layout) {
        strided::for_each_run([from, to], |[s, d], len, steps| {
            for at in 0..len as isize {
                let place = |start: usize, step: isize| start.wrapping_add_signed(at * step);
                dst[place(d, steps[1])] = src[place(s, steps[0])];
            }
        });
    }

    #[test]
    fn turned_copies_are_copies() {
        let sizes: [&[usize]; 6] =
            [&[40, 33], &[8, 9], &[3, 50, 17], &[2, 3, 20, 31], &[16, 16], &[5, 100]];
        for sizes in sizes {
            let dense = Layout::contiguous(Shape::new(sizes));
            let n = dense.shape.numel();
            let src: Vec<i32> = (0..2 * n as i32).collect();
            let rank = sizes.len();
            for turn in 0..rank {
                let order: Vec<usize> = (0..rank).map(|it| (it + turn) % rank).collect();
                let mut swapped: Vec<usize> = (0..rank).collect();
                swapped.swap(turn, rank - 1);
                for order in [order, swapped] {
                    let from = dense.permute(&order);
                    let flipped = from.slice(0, from.shape[0] - 1, from.shape[0], -1);
                    for from in [from.clone(), flipped, Layout { offset: n / 2, ..from }] {
                        let to = Layout::contiguous(from.shape.clone());
                        for (from, to) in [(&from, &to), (&to, &from)] {
                            let (mut got, mut want) = (vec![-1; 2 * n], vec![-1; 2 * n]);
                            strided::copy(&src, from, &mut got, to);
                            plain(&src, from, &mut want, to);
                            assert_eq!(got, want, "{from:?} to {to:?}");
                        }
                    }
                }
            }
        }
    }
}
