//! Elements that lie in a layout, in pieces that stay in the cache.

use smallvec::SmallVec;

use crate::cpu::interrupt;
use crate::{Error, Layout, Result, Shape};

/// How a layout is cut: along the dimensions whose elements lie farthest from each other.
pub(super) struct Pieces {
    shape: Shape,
    /// The dimensions, farthest first, and how many elements a piece takes along each.
    steps: SmallVec<[(usize, usize); 4]>,
}

/// A piece: where it begins along each dimension, and how many elements it takes there.
pub(super) struct Piece(SmallVec<[(usize, usize); 4]>);

impl Pieces {
    /// Pieces of at most `most` elements.
    pub(super) fn of(layout: &Layout, most: usize) -> Self {
        let shape = layout.shape.clone();
        let mut order: SmallVec<[usize; 4]> = (0..shape.rank()).collect();
        order.sort_by_key(|&dim| std::cmp::Reverse(layout.strides[dim].unsigned_abs()));
        // Elements below each dimension: a piece takes as many of its sides as fit.
        let mut rest = shape.numel();
        let steps = order.into_iter().map(|dim| {
            let (size, is_cut) = (shape[dim], rest > most);
            rest /= size.max(1);
            (dim, if is_cut { (most / rest.max(1)).max(1) } else { size.max(1) })
        });
        let steps = steps.collect();
        Self { shape, steps }
    }

    /// Calls `body` with each; an interrupt waits for the end. Where the first changes nothing (false) the others do not, either.
    pub(super) fn each(&self, mut body: impl FnMut(&Piece) -> Result<bool>) -> Result<bool> {
        let count = |&(dim, step): &(usize, usize)| self.shape[dim].div_ceil(step).max(1);
        let n_pieces: usize = self.steps.iter().map(count).product();
        let piece = |mut idx: usize| {
            let mut piece = Piece(SmallVec::from_elem((0, 0), self.shape.rank()));
            for side in self.steps.iter().rev() {
                let (dim, step) = *side;
                let start = idx % count(side) * step;
                idx /= count(side);
                piece.0[dim] = (start, step.min(self.shape[dim] - start));
            }
            piece
        };
        let all = || {
            let mut pieces = (0..n_pieces).map(piece);
            pieces.try_fold(true, |done, it| Ok::<bool, Error>(done && body(&it)?))
        };
        interrupt::unstopped(self.shape.numel(), all).ok_or(Error::Interrupted)?
    }
}

impl Piece {
    /// The part of a layout of the whole shape.
    pub(super) fn of(&self, layout: &Layout) -> Layout {
        let sides = self.0.iter().enumerate();
        sides.fold(layout.clone(), |layout, (dim, &(start, len))| layout.slice(dim, start, len, 1))
    }
}
