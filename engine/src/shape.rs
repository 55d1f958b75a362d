//! Shapes, strides and broadcasting.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

use smallvec::SmallVec;

use crate::{Error, Result};

/// The sizes of a tensor, outermost first. Rank 0 is a scalar.
#[derive(Debug, Default, Eq)]
pub struct Shape(SmallVec<[usize; 4]>);

impl PartialEq for Shape {
    /// Size by size: comparing slices is a call, which costs more than the few sizes there are.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Self {
        Self(copy(&self.0))
    }
}

/// A copy of sizes or strides. `SmallVec`'s own goes item by item, and a copy of unknown length is a call.
#[inline]
fn copy<T: Copy + Default>(items: &SmallVec<[T; 4]>) -> SmallVec<[T; 4]> {
    let none = T::default();
    let few = match items[..] {
        [] => [none; 4],
        [a] => [a, none, none, none],
        [a, b] => [a, b, none, none],
        [a, b, c] => [a, b, c, none],
        [a, b, c, d] => [a, b, c, d],
        _ => return SmallVec::from_slice(items),
    };
    SmallVec::from_buf_and_len(few, items.len())
}

/// Most dimensions that a tensor may have: as many as in PyTorch and NumPy.
pub const MAX_RANK: usize = 64;

impl Shape {
    /// A shape with the given sizes.
    pub fn new(dims: &[usize]) -> Self {
        Self(SmallVec::from_slice(dims))
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> usize {
        match self.0[..] {
            [] => 1,
            [a] => a,
            [a, b] => a * b,
            [a, b, c] => a * b * c,
            ref more => more.iter().product(),
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// Mutable sizes.
    pub fn dims_mut(&mut self) -> &mut SmallVec<[usize; 4]> {
        &mut self.0
    }

    /// Resolves a dimension that may count from the end; out of range is an error naming `op`.
    pub fn dim(&self, op: &'static str, dim: i64) -> Result<usize> {
        resolve_dim(op, dim, self.rank())
    }

    /// The shape both broadcast to (NumPy rules), or `None`.
    pub fn broadcast(&self, other: &Self) -> Option<Self> {
        let (long, short) = if self.rank() >= other.rank() { (self, other) } else { (other, self) };
        let mut res = long.clone();
        let shift = long.rank() - short.rank();
        for (idx, &size) in short.iter().enumerate() {
            let here = &mut res.0[shift + idx];
            match (*here, size) {
                (a, b) if a == b => {}
                (1, b) => *here = b,
                (_, 1) => {}
                _ => return None,
            }
        }
        Some(res)
    }

    /// Number of elements, or an error when the product or its bytes overflow, or when there are more than
    /// [`MAX_RANK`] dimensions.
    #[inline]
    pub fn checked_numel(&self, op: &'static str) -> Result<usize> {
        self.fitting_numel().ok_or_else(|| match self.rank() > MAX_RANK {
            true => Error::TooManyDims { op, rank: self.rank() },
            false => Error::TooLarge { op, shape: self.clone() },
        })
    }

    /// As [`Shape::checked_numel`], where nobody wants to know what is wrong.
    #[inline]
    pub(crate) fn fitting_numel(&self) -> Option<usize> {
        let numel = match self.0[..] {
            [] => Some(1),
            [a] => Some(a),
            ref all if all.len() > MAX_RANK => None,
            ref all => all.iter().try_fold(1_usize, |acc, &size| acc.checked_mul(size)),
        };
        numel.filter(|&numel| numel <= isize::MAX as usize / 8)
    }
}

/// Resolves a dimension that may count from the end, for a tensor of `rank` (a scalar counts as rank 1).
pub fn resolve_dim(op: &'static str, dim: i64, rank: usize) -> Result<usize> {
    let bound = rank.max(1) as i64;
    if dim < -bound || dim >= bound {
        return Err(Error::DimRange { op, dim, rank });
    }
    Ok(if dim < 0 { (dim + bound) as usize } else { dim as usize })
}

impl Deref for Shape {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Self::new(&dims)
    }
}

impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(iter: I) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (idx, size) in self.iter().enumerate() {
            if idx > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{size}")?;
        }
        f.write_str("]")
    }
}

/// Where the elements of a tensor lie in its storage, counted in elements.
#[derive(Debug, PartialEq, Eq)]
pub struct Layout {
    /// Sizes.
    pub shape: Shape,
    /// Elements to step per index; 0 along broadcast dimensions, negative when flipped.
    pub strides: SmallVec<[isize; 4]>,
    /// The element with all indices 0.
    pub offset: usize,
}

impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Self {
        Self { shape: self.shape.clone(), strides: copy(&self.strides), offset: self.offset }
    }
}

/// Where each dimension stands in an order of them: the order that undoes it.
pub(crate) fn order_back(order: &[usize]) -> Vec<i64> {
    let mut back = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&dim, at)| back[dim] = at);
    back
}

impl Layout {
    /// Row-major layout from offset 0.
    pub fn contiguous(shape: Shape) -> Self {
        let strides = row_major(&shape);
        Self { shape, strides, offset: 0 }
    }

    /// Whether elements lie in row-major order without gaps (sizes of 1 do not count; empty is contiguous).
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1_isize;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if size != 1 {
                if stride != expected {
                    return self.shape.numel() == 0;
                }
                expected *= size as isize;
            }
        }
        true
    }

    /// The same with each element once: dimensions along which they are repeated have a size of 1. `None` where there are none.
    pub fn without_repeats(&self) -> Option<Self> {
        let repeats = |(size, stride): (&usize, &isize)| *size > 1 && *stride == 0;
        if !self.shape.iter().zip(&self.strides).any(repeats) {
            return None;
        }
        let mut res = self.clone();
        for (size, stride) in res.shape.dims_mut().iter_mut().zip(&self.strides) {
            if repeats((size, stride)) {
                *size = 1;
            }
        }
        Some(res)
    }

    /// The order of dimensions in which the elements lie row-major and without gaps, if there is one.
    pub fn dense_order(&self) -> Option<SmallVec<[usize; 4]>> {
        let mut order: SmallVec<[usize; 4]> = (0..self.shape.rank()).collect();
        order.sort_by_key(|&dim| std::cmp::Reverse(self.strides[dim]));
        self.permute(&order).is_contiguous().then_some(order)
    }

    /// Whether one element is seen several times.
    pub fn repeats(&self) -> bool {
        self.shape.iter().zip(&self.strides).any(|(&size, &stride)| size > 1 && stride == 0)
    }

    /// The dimensions, the one whose elements lie farthest from each other first.
    pub fn order(&self) -> SmallVec<[usize; 4]> {
        let mut order: SmallVec<[usize; 4]> = (0..self.shape.rank()).collect();
        order.sort_by_key(|&dim| std::cmp::Reverse(self.strides[dim].unsigned_abs()));
        order
    }

    /// Whether one element may be seen several times: false only where each dimension steps over all that those with smaller steps reach.
    pub fn may_overlap(&self) -> bool {
        let sides = self.shape.iter().zip(&self.strides).filter(|it| *it.0 > 1);
        let mut sides: SmallVec<[(usize, usize); 4]> =
            sides.map(|(&size, stride)| (stride.unsigned_abs(), size)).collect();
        sides.sort_unstable();
        let mut reach = 0;
        !sides.iter().all(|&(stride, size)| {
            let is_over = stride > reach;
            reach += stride * (size - 1);
            is_over
        }) && self.shape.numel() > 0
    }

    /// The same elements seen under a larger shape; `None` when the shapes do not broadcast.
    pub fn broadcast_to(&self, shape: &Shape) -> Option<Self> {
        let shift = shape.rank().checked_sub(self.shape.rank())?;
        let mut strides = SmallVec::from_elem(0, shape.rank());
        for (idx, (&size, &stride)) in self.shape.iter().zip(&self.strides).enumerate() {
            let target = shape[shift + idx];
            if size == target {
                strides[shift + idx] = stride;
            } else if size != 1 {
                return None;
            }
        }
        Some(Self { shape: shape.clone(), strides, offset: self.offset })
    }

    /// Dimensions in another order; `dims` is a permutation.
    pub fn permute(&self, dims: &[usize]) -> Self {
        Self {
            shape: dims.iter().map(|&dim| self.shape[dim]).collect(),
            strides: dims.iter().map(|&dim| self.strides[dim]).collect(),
            offset: self.offset,
        }
    }

    /// Elements `start, start + step, ...` (`len` of them) along `dim`; `step` may be negative.
    pub fn slice(&self, dim: usize, start: usize, len: usize, step: isize) -> Self {
        let mut res = self.clone();
        if len > 0 {
            res.offset = (res.offset as isize + start as isize * self.strides[dim]) as usize;
        }
        res.shape.0[dim] = len;
        res.strides[dim] *= step;
        res
    }

    /// The same elements under another shape without copying, or `None` when strides do not allow it.
    pub fn reshape(&self, shape: &Shape) -> Option<Self> {
        if self.is_contiguous() {
            return Some(Self {
                shape: shape.clone(),
                strides: row_major(shape),
                offset: self.offset,
            });
        }
        let old: SmallVec<[(usize, isize); 4]> = self
            .shape
            .iter()
            .copied()
            .zip(self.strides.iter().copied())
            .filter(|it| it.0 != 1)
            .collect();
        let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(1, shape.rank());
        let (mut old_start, mut new_start) = (0, 0);
        while new_start < shape.rank() && old_start < old.len() {
            let (mut old_end, mut new_end) = (old_start + 1, new_start + 1);
            let (mut have, mut want) = (old[old_start].0, shape[new_start]);
            while have != want {
                if want < have {
                    want *= shape[new_end];
                    new_end += 1;
                } else {
                    have *= old[old_end].0;
                    old_end += 1;
                }
            }
            let run = &old[old_start..old_end];
            if run.windows(2).any(|it| it[0].1 != it[1].0 as isize * it[1].1) {
                return None;
            }
            strides[new_end - 1] = old[old_end - 1].1;
            for dim in (new_start + 1..new_end).rev() {
                strides[dim - 1] = strides[dim] * shape[dim] as isize;
            }
            (old_start, new_start) = (old_end, new_end);
        }
        Some(Self { shape: shape.clone(), strides, offset: self.offset })
    }

    /// Offset one past the last element that the layout reaches, for bounds checks.
    pub fn end(&self) -> usize {
        if self.shape.numel() == 0 {
            return 0;
        }
        let reach = |(size, stride): (&usize, &isize)| (*size as isize - 1) * (*stride).max(0);
        self.offset + self.shape.iter().zip(&self.strides).map(reach).sum::<isize>() as usize + 1
    }

    /// The element of the storage that lies lowest among those the layout reaches; 0 for an empty tensor.
    pub fn lowest(&self) -> usize {
        if self.shape.numel() == 0 {
            return 0;
        }
        let reach = |(size, stride): (&usize, &isize)| (*size as isize - 1) * (*stride).min(0);
        let down: isize = self.shape.iter().zip(&self.strides).map(reach).sum();
        (self.offset as isize + down) as usize
    }

    /// As [`Layout::end`], for a layout that anybody may have made: `None` when it reaches before the first element of its buffer, or
    /// when its numbers are too large for an address.
    #[inline]
    pub fn reach(&self) -> Option<usize> {
        let (mut numel, mut low, mut high) = (1_usize, self.offset as isize, self.offset as isize);
        if self.strides.len() != self.shape.rank() || low < 0 {
            return None;
        }
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            numel = numel.checked_mul(size)?;
            let reach = (size as isize).wrapping_sub(1).checked_mul(stride)?;
            let end = if reach < 0 { &mut low } else { &mut high };
            *end = end.checked_add(reach)?;
        }
        if numel == 0 {
            return Some(0);
        }
        (low >= 0).then_some(high as usize + 1)
    }
}

/// Strides of a row-major tensor.
pub fn row_major(shape: &[usize]) -> SmallVec<[isize; 4]> {
    match *shape {
        [] => return SmallVec::new(),
        [_] => return SmallVec::from_buf_and_len([1; 4], 1),
        [_, size] => {
            return SmallVec::from_buf_and_len([size.max(1) as isize, 1, 1, 1], 2);
        }
        _ => {}
    }
    let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(1, shape.len());
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim].max(1) as isize;
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transposed() -> Layout {
        Layout::contiguous(Shape::from([2, 3, 4])).permute(&[2, 0, 1])
    }

    #[test]
    fn broadcasts_as_numpy() {
        let a = Shape::from([4, 1, 3]);
        assert_eq!(a.broadcast(&Shape::from([5, 1])), Some(Shape::from([4, 5, 3])));
        assert_eq!(a.broadcast(&Shape::from([2])), None);
        assert_eq!(Shape::from([0]).broadcast(&Shape::from([1])), Some(Shape::from([0])));
    }

    #[test]
    fn reshapes_without_copy_when_strides_allow() {
        let merged = transposed().reshape(&Shape::from([4, 6])).map(|it| it.strides.to_vec());
        assert_eq!(merged, Some(vec![1, 4]));
        let split =
            transposed().reshape(&Shape::from([2, 2, 2, 1, 3])).map(|it| it.strides.to_vec());
        assert_eq!(split.map(|it| (it[0], it[1], it[2], it[4])), Some((2, 1, 12, 4)));
        assert_eq!(transposed().reshape(&Shape::from([24])), None);
    }
}
