//! How the inputs of a run lie relative to its contiguous output, and parts of that.

use std::ops::Range;

use smallvec::SmallVec;

use crate::{Layout, Shape};

/// Some elements of what a run makes: `count` times `len` of them, each time `step` further on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) count: usize,
    pub(crate) step: usize,
}

impl Block {
    /// A range.
    pub(crate) fn of(range: Range<usize>) -> Self {
        Self { first: range.start, len: range.len(), count: 1, step: range.len() }
    }

    /// Its elements.
    pub(crate) fn numel(self) -> usize {
        self.len * self.count
    }

    /// The same, as a range if it is one.
    pub(super) fn joined(self) -> Self {
        if self.step == self.len || self.count == 1 {
            return Self::of(self.first..self.first + self.numel());
        }
        self
    }

    /// Behind its last element.
    pub(super) fn end(self) -> usize {
        self.first + self.count.saturating_sub(1) * self.step + self.len
    }
}

/// Sizes and strides with as few dimensions as describe all strided inputs at once.
pub(super) struct Geometry {
    dims: SmallVec<[usize; 6]>,
    /// `dims.len()` strides for each input, one input after the other.
    strides: SmallVec<[isize; 12]>,
}

/// How one input is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Access {
    /// Element `i` of the output needs element `i` from the start.
    Direct,
    /// Every element is the first.
    Splat,
    /// As row `n` of the geometry says.
    Strided(usize),
    /// As `Strided`, and every element along the last dimension is the same, of which there are many.
    Along(usize),
    /// As `Direct`, in the output that is about to be written.
    Replaced,
}

/// How a layout that broadcasts to `shape` is read; `None` in the strided case, which needs the geometry.
pub(super) fn simple_access(layout: &Layout, shape: &Shape, numel: usize) -> Option<Access> {
    if layout.shape == *shape && layout.is_contiguous() {
        return Some(Access::Direct);
    }
    let same_count = layout.shape.numel() == numel && layout.is_contiguous();
    if same_count {
        return Some(Access::Direct);
    }
    (layout.shape.numel() == 1 || layout.strides.iter().all(|&it| it == 0)).then_some(Access::Splat)
}

impl Geometry {
    /// Merges neighbouring dimensions wherever all layouts step through them as through one.
    pub(super) fn new(shape: &Shape, layouts: &[Layout]) -> Self {
        let (mut dims, mut kept) = (SmallVec::<[usize; 6]>::new(), SmallVec::<[usize; 6]>::new());
        for dim in (0..shape.rank()).rev().filter(|&dim| shape[dim] != 1) {
            let inner = kept.last().copied();
            let size = dims.last().copied().unwrap_or(1);
            let merges = inner.is_some_and(|inner| {
                layouts.iter().all(|it| it.strides[dim] == it.strides[inner] * size as isize)
            });
            match dims.last_mut().filter(|_| merges) {
                Some(last) => *last *= shape[dim],
                None => {
                    dims.push(shape[dim]);
                    kept.push(dim);
                }
            }
        }
        let strides = layouts.iter().flat_map(|it| kept.iter().rev().map(|&dim| it.strides[dim]));
        let strides = strides.collect();
        dims.reverse();
        Self { dims, strides }
    }

    /// Elements along the last dimension.
    pub(super) fn line(&self) -> usize {
        self.dims.last().copied().unwrap_or(1)
    }

    /// Whether an input is the same all along the last dimension.
    pub(super) fn is_same_along(&self, row: usize) -> bool {
        self.strides_of(row).last() == Some(&0)
    }

    /// Whether elements of an input lie side by side along the last dimension.
    pub(super) fn is_in_row(&self, row: usize) -> bool {
        self.strides_of(row).last() == Some(&1)
    }

    fn strides_of(&self, row: usize) -> &[isize] {
        let rank = self.dims.len();
        &self.strides[row * rank..(row + 1) * rank]
    }

    /// Where elements `start..start + n` of the output begin in an input in which they lie side by side.
    #[inline]
    pub(super) fn side_by_side(&self, row: usize, start: usize, n: usize) -> Option<isize> {
        let inner = self.line();
        if !self.is_in_row(row) || start % inner + n > inner {
            return None;
        }
        Some(self.offset(row, start))
    }

    /// Where element `start` of the output lies in an input.
    pub(super) fn offset(&self, row: usize, start: usize) -> isize {
        let strides = self.strides_of(row);
        let (mut rest, mut offset) = (start, 0_isize);
        for (&size, &stride) in self.dims.iter().zip(strides).rev() {
            offset += (rest % size) as isize * stride;
            rest /= size;
        }
        offset
    }

    /// Calls `run(at, offset, len, stride)` for the runs along the last dimension that make up elements
    /// `start..start + n` of the output: `len` elements from position `at`, in steps of `stride` from `offset`.
    pub(super) fn runs(
        &self,
        row: usize,
        start: usize,
        n: usize,
        mut run: impl FnMut(usize, isize, usize, isize),
    ) {
        let (rank, strides) = (self.dims.len(), self.strides_of(row));
        let Some((&inner, &step)) = self.dims.last().zip(strides.last()) else {
            return run(0, 0, n, 0);
        };
        let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, rank);
        let (mut rest, mut offset) = (start, 0_isize);
        for dim in (0..rank).rev() {
            index[dim] = rest % self.dims[dim];
            rest /= self.dims[dim];
            offset += index[dim] as isize * strides[dim];
        }
        let mut at = 0;
        while at < n {
            let len = (inner - index[rank - 1]).min(n - at);
            run(at, offset, len, step);
            at += len;
            offset += len as isize * step;
            index[rank - 1] += len;
            for dim in (1..rank).rev().take_while(|_| at < n) {
                if index[dim] < self.dims[dim] {
                    break;
                }
                offset += strides[dim - 1] - strides[dim] * self.dims[dim] as isize;
                index[dim] = 0;
                index[dim - 1] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_what_all_inputs_step_through_alike() {
        let shape = Shape::from([2, 3, 4]);
        let whole = Layout::contiguous(shape.clone());
        let row = Layout::contiguous(Shape::from([4])).broadcast_to(&shape).unwrap();
        let geometry = Geometry::new(&shape, &[whole.clone(), row]);
        assert_eq!(geometry.dims.as_slice(), [6, 4]);
        assert_eq!(geometry.strides.as_slice(), [4, 1, 0, 1]);
        let row = |start: usize, n: usize| geometry.side_by_side(1, start, n);
        assert_eq!([row(5, 3), row(4, 4), row(3, 2)], [Some(1), Some(0), None]);
        assert_eq!(geometry.side_by_side(0, 9, 3), Some(9));
        assert_eq!(Geometry::new(&shape, &[whole]).dims.as_slice(), [24]);
    }

    #[test]
    fn runs_cover_a_transposed_input() {
        let layout = Layout::contiguous(Shape::from([3, 2])).permute(&[1, 0]);
        let geometry = Geometry::new(&layout.shape, std::slice::from_ref(&layout));
        let mut seen = Vec::new();
        geometry.runs(0, 1, 4, |_, offset, len, step| {
            seen.extend((0..len as isize).map(|it| offset + it * step));
        });
        assert_eq!(seen, [2, 4, 1, 3]);
    }
}
