//! Elements that lie in a layout, in pieces that stay in the cache.

use smallvec::SmallVec;

use crate::cpu::interrupt;
use crate::{Error, Layout, Result, Shape};

/// So many elements are copied at a time where an op is applied to a tensor and itself, or computed, drawn or cast where they cannot be at
/// once.
pub(crate) const PIECE: usize = 1 << 16;

/// How a layout is cut: along the dimensions whose elements lie farthest from each other.
pub(crate) struct Pieces {
    shape: Shape,
    /// The dimensions, farthest first, and how many elements a piece takes along each.
    steps: SmallVec<[(usize, usize); 4]>,
}

/// A piece: where it begins along each dimension, and how many elements it takes there.
pub(crate) struct Piece(SmallVec<[(usize, usize); 4]>);

impl Pieces {
    /// Pieces of at most `most` elements.
    pub(crate) fn of(layout: &Layout, most: usize) -> Self {
        let shape = layout.shape.clone();
        let order = layout.order();
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
    pub(crate) fn each(&self, body: impl FnMut(&Piece) -> Result<bool>) -> Result<bool> {
        self.all(false, body)
    }

    /// As [`Pieces::each`], the last piece first.
    pub(crate) fn each_back(&self, body: impl FnMut(&Piece) -> Result<bool>) -> Result<bool> {
        self.all(true, body)
    }

    fn all(&self, back: bool, mut body: impl FnMut(&Piece) -> Result<bool>) -> Result<bool> {
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
            let place = |at: usize| if back { n_pieces - 1 - at } else { at };
            let mut pieces = (0..n_pieces).map(|at| piece(place(at)));
            pieces.try_fold(true, |done, it| Ok::<bool, Error>(done && body(&it)?))
        };
        interrupt::unstopped(self.shape.numel(), all).ok_or(Error::Interrupted)?
    }
}

impl Piece {
    /// The part of a layout of the whole shape.
    pub(crate) fn of(&self, layout: &Layout) -> Layout {
        let sides = self.0.iter().enumerate();
        sides.fold(layout.clone(), |layout, (dim, &(start, len))| layout.slice(dim, start, len, 1))
    }
}
