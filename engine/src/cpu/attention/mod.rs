//! Attention, `softmax(q k^T + mask) v` with scaled queries, and its gradient, without a matrix of all scores.
//!
//! Keys are taken a block at a time and queries a tile at a time, so that the scores of both stay in the cache (FlashAttention, T. Dao
//! et al. 2022). Blocks and tiles depend on the sizes and the mask alone: results do not depend on the threads.
//! Keys that a mask hides from a whole tile of queries are not looked at: NaN may stand there. Operands are read as they lie.

mod backward;
mod forward;
mod seen;
#[cfg(test)]
mod tests;

pub use backward::{Slopes, backward};
pub use forward::forward;

use std::sync::PoisonError;

use super::alloc::{AllocError, Bytes};
use super::element::Element;
use super::pool;
use super::simd::{Kernels, Lines, Panel, Scores, Tile};
use super::view::View;
use crate::sync::Mutex;
use crate::{Layout, cpu::typed::Plain};

/// The sizes of an attention, and what is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// How many there are.
    pub batch: usize,
    pub queries: usize,
    pub keys: usize,
    /// Elements of a query, and of a key.
    pub width: usize,
    /// Elements of a value.
    pub values: usize,
    /// Whether query i sees the first i + 1 keys alone.
    pub causal: bool,
    /// What the queries are multiplied by.
    pub scale: f64,
}

/// A matrix for each of a batch, as they lie.
pub struct Matrices<'a, T> {
    elements: &'a [T],
    /// Where each begins.
    starts: Vec<isize>,
    shape: [usize; 2],
    row: isize,
    column: isize,
}

impl<'a, T: Plain> Matrices<'a, T> {
    /// The last two dimensions of a view are matrices, those before them the batch.
    ///
    /// # Panics
    /// If the view has fewer dimensions, or other elements.
    pub fn new(view: &View<'a>) -> Self {
        let Layout { shape, strides, offset } = view.layout();
        let elements = view.buffer();
        let inside = view.layout().reach().is_some_and(|it| it <= elements.len());
        assert!(inside && shape.rank() >= 2, "matrices of such elements");
        let lead = shape.rank() - 2;
        let mut starts = vec![*offset as isize];
        for (&size, &stride) in shape[..lead].iter().zip(strides) {
            let along = |start| (0..size as isize).map(move |at| start + at * stride);
            starts = starts.into_iter().flat_map(along).collect();
        }
        let (shape, [row, column]) =
            ([shape[lead], shape[lead + 1]], [strides[lead], strides[lead + 1]]);
        Self { elements, starts, shape, row, column }
    }

    /// # Panics
    /// If the matrices are of another shape, or another number.
    fn check(&self, batch: usize, shape: [usize; 2]) {
        assert!(self.starts.len() == batch && self.shape == shape, "matrices of other sizes");
    }

    /// The rows of matrix `at` from `row` on.
    fn rows(&self, at: usize, row: usize) -> Rows<T> {
        let start = self.starts[at] + row as isize * self.row;
        let first = self.elements.as_ptr().wrapping_offset(start);
        Rows { first, row: self.row, column: self.column }
    }
}

/// Rows at a place, with their strides.
#[derive(Clone, Copy)]
struct Rows<T> {
    first: *const T,
    row: isize,
    column: isize,
}

impl<T: Element> Rows<T> {
    /// Copies `m` rows of `n` elements to `dst`, one behind the other, times `scale`.
    ///
    /// # Safety
    /// They exist, here and there.
    unsafe fn gather(&self, kernels: &Kernels<T>, [m, n]: [usize; 2], scale: T, dst: *mut T) {
        let (src, row, column) = (self.first, self.row, self.column);
        // SAFETY: promised by the caller.
        unsafe { (kernels.gather)(&Lines { src, row, column, m, n, scale, dst }) };
    }

    /// The same rows where their elements lie side by side, else copied to `room`.
    ///
    /// # Safety
    /// As for [`Rows::gather`].
    unsafe fn side_by_side(&self, kernels: &Kernels<T>, sizes: [usize; 2], room: *mut T) -> Self {
        if self.column == 1 {
            return *self;
        }
        // SAFETY: promised by the caller.
        unsafe { self.gather(kernels, sizes, T::ONE, room) };
        Self { first: room, row: sizes[1] as isize, column: 1 }
    }

    /// Packs `rows` rows of `width` elements as the columns of the right side of a product, in strips.
    ///
    /// # Safety
    /// They exist; `to` has room for whole strips.
    unsafe fn pack(&self, kernels: &Kernels<T>, [rows, width]: [usize; 2], to: *mut T) {
        for at in (0..rows).step_by(kernels.width()) {
            let panel = Panel {
                src: self.first.wrapping_offset(at as isize * self.row),
                lane_stride: self.row,
                k_stride: self.column,
                lanes: kernels.width().min(rows - at),
                width: kernels.width(),
                pitch: kernels.width(),
                k: width,
                dst: to.wrapping_add(at * width),
            };
            // SAFETY: promised by the caller.
            unsafe { (kernels.pack)(&panel) };
        }
    }
}

/// A product `C (+)= A B` of which nothing is known yet but `A`, a row of which is `rsa` elements behind the one before.
fn product<T>(k: usize, (a, rsa, csa): (*const T, usize, usize)) -> Tile<T> {
    Tile {
        k,
        a,
        rsa: rsa as isize,
        csa: csa as isize,
        b: std::ptr::null(),
        rsb: 0,
        offsets: std::ptr::null(),
        c: std::ptr::null_mut(),
        rsc: 0,
        cols: 0,
        accumulate: false,
        col_bias: std::ptr::null(),
        row_bias: std::ptr::null(),
    }
}

/// The products of `rows` gathered rows, no more than a tile takes, with `n` packed ones.
///
/// # Safety
/// The operands exist for that; `packed` comes from [`Rows::pack`], and rows of `to` are `stride` elements apart.
unsafe fn scores<T: Element>(
    kernels: &Kernels<T>,
    [rows, width, n]: [usize; 3],
    (gathered, packed): (*const T, *const T),
    (to, stride): (*mut T, usize),
) {
    let strip = kernels.width();
    for at in (0..n).step_by(strip) {
        let cols = strip.min(n - at);
        let functions =
            if cols > kernels.lanes { kernels.strided.two } else { kernels.strided.one };
        let b = packed.wrapping_add(at * width);
        let base = product(width, (gathered, width, 1));
        let c = to.wrapping_add(at);
        let tile = Tile { b, rsb: strip as isize, c, rsc: stride as isize, cols, ..base };
        // SAFETY: promised by the caller.
        unsafe { functions[rows - 1](&tile) };
    }
}

/// What a mask adds to a tile of scores, which begins at query `row` and key `column` of the mask; nothing where there is none.
fn masked<T: Plain>(
    tile: Scores<T>,
    mask: Option<&Matrices<'_, T>>,
    at: usize,
    [row, column]: [usize; 2],
) -> Scores<T> {
    let Some(mask) = mask else { return tile };
    let rows = mask.rows(at, row);
    let first = rows.first.wrapping_offset(column as isize * rows.column);
    Scores { mask: first, mask_row: rows.row, mask_column: rows.column, ..tile }
}

/// `total` in as few parts of at most `max` as there can be, about as large as each other.
fn even(total: usize, max: usize) -> usize {
    total.div_ceil(total.div_ceil(max).max(1)).max(1)
}

/// Work below this stays on the calling thread.
const PARALLEL_FLOPS: usize = 1_500_000;

impl Sizes {
    /// Multiplications and additions of the two products.
    pub fn flops(&self) -> usize {
        let pairs = self.batch.saturating_mul(self.queries).saturating_mul(self.keys);
        pairs.saturating_mul(self.width + self.values).saturating_mul(2)
    }

    /// A tile of scores of `rows` queries from `row` on and `n` keys from `key` on.
    fn tile<T>(&self, (s, stride): (*mut T, usize), [row, rows, key, n]: [usize; 4]) -> Scores<T> {
        let (seen, step) = match self.causal {
            true => (row as isize + 1 - key as isize, 1),
            false => (n as isize, 0),
        };
        let (mask, mask_row, mask_column) = (std::ptr::null(), 0, 0);
        Scores { s, stride, rows, n, seen, step, mask, mask_row, mask_column }
    }

    /// Calls `of` with each of `chunks` and scratch for `len` elements, on several threads where that pays.
    fn for_each<T: Element>(
        &self,
        chunks: usize,
        len: usize,
        of: impl Fn(usize, *mut T) + Sync,
    ) -> Result<(), AllocError> {
        let refused = Mutex::new(None);
        pool::for_each_chunk_if(
            self.flops() >= PARALLEL_FLOPS,
            chunks,
            &|chunk| match Bytes::uninit(len.saturating_mul(size_of::<T>())) {
                Ok(mut scratch) => of(chunk, scratch.as_mut_ptr().cast()),
                Err(error) => *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error),
            },
        );
        let refused = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
        refused.map_or(Ok(()), Err)
    }
}
