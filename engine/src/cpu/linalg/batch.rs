//! Matrices of a batch, the loop over them, and the orders in which their elements lie.

use std::sync::PoisonError;

use faer::dyn_stack::{MemStack, StackReq};

use crate::Layout;
use crate::cpu::alloc::{AllocError, Bytes};
use crate::cpu::pool::{self, Shared};
use crate::cpu::typed::{self, Plain};
use crate::cpu::view::View;
use crate::sync::Mutex;

/// Rows and columns of the squares in which elements change their order: a line of the cache is used up at once.
const SIDE: usize = 16;

/// The matrices that a tensor holds in its last two dimensions.
#[derive(Clone, Copy)]
pub struct Matrices<'a, T> {
    elements: &'a [T],
    layout: &'a Layout,
}

impl<'a, T: Plain> Matrices<'a, T> {
    /// # Panics
    /// If there are less than two dimensions.
    pub fn new(view: &View<'a>) -> Self {
        assert!(view.shape().rank() >= 2, "matrices have two dimensions");
        Self { elements: view.buffer(), layout: view.layout() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.layout.shape[..self.layout.shape.rank() - 2].iter().product()
    }

    /// Rows and columns.
    pub fn size(&self) -> [usize; 2] {
        let rank = self.layout.shape.rank();
        [self.layout.shape[rank - 2], self.layout.shape[rank - 1]]
    }

    /// Where the first element of matrix `at` is, and how far apart rows and columns are.
    fn place(&self, at: usize) -> (usize, [isize; 2]) {
        let (shape, strides) = (&self.layout.shape, &self.layout.strides);
        let lead = shape.rank() - 2;
        let (mut rest, mut start) = (at, self.layout.offset);
        for dim in (0..lead).rev() {
            start = start.wrapping_add_signed((rest % shape[dim]) as isize * strides[dim]);
            rest /= shape[dim];
        }
        (start, [strides[lead], strides[lead + 1]])
    }

    /// Copies matrix `at` column by column.
    pub(super) fn columns(&self, at: usize, out: &mut [T]) {
        let ([rows, columns], (start, [down, right])) = (self.size(), self.place(at));
        lines(self.elements, start, [right, down], [columns, rows], out);
    }

    /// Copies matrix `at` row by row.
    pub(super) fn rows(&self, at: usize, out: &mut [T]) {
        let ([rows, columns], (start, [down, right])) = (self.size(), self.place(at));
        lines(self.elements, start, [down, right], [rows, columns], out);
    }
}

/// Copies lines of elements that lie `strides` apart, from line to line and within one, one line behind the other.
fn lines<T: Plain>(
    src: &[T],
    start: usize,
    strides: [isize; 2],
    [n_lines, len]: [usize; 2],
    out: &mut [T],
) {
    let at = |line: usize, idx: usize| {
        start.wrapping_add_signed(line as isize * strides[0] + idx as isize * strides[1])
    };
    if strides[1] == 1 || len == 1 {
        for (line, out) in out.chunks_exact_mut(len.max(1)).take(n_lines).enumerate() {
            out.copy_from_slice(&src[at(line, 0)..][..len]);
        }
        return;
    }
    for first in (0..n_lines).step_by(SIDE) {
        for from in (0..len).step_by(SIDE) {
            for line in first..(first + SIDE).min(n_lines) {
                for idx in from..(from + SIDE).min(len) {
                    out[line * len + idx] = src[at(line, idx)];
                }
            }
        }
    }
}

/// Copies a matrix whose columns of `rows` elements lie behind each other row by row.
pub(super) fn by_rows<T: Plain>(columns: &[T], rows: usize, out: &mut [T]) {
    let n = columns.len().checked_div(rows).unwrap_or(0);
    lines(columns, 0, [1, rows as isize], [rows, n], out);
}

/// A result: as many elements for each matrix of a batch.
pub(super) struct Results<T> {
    first: Shared<T>,
    len: usize,
    each: usize,
}

impl<T: Plain> Results<T> {
    /// # Panics
    /// If these are not so many for each of `count`.
    pub(super) fn new(all: &mut [T], count: usize, each: usize) -> Self {
        assert!(all.len() == count * each, "as many results as matrices");
        Self { first: Shared(all.as_mut_ptr()), len: all.len(), each }
    }

    /// Those of matrix `at`.
    ///
    /// # Safety
    /// Nobody else uses them meanwhile.
    pub(super) unsafe fn of<'a>(&self, at: usize) -> &'a mut [T] {
        let range = at * self.each..(at + 1) * self.each;
        assert!(range.end <= self.len, "a matrix of the batch");
        // SAFETY: the range is within the elements, whose owner waits; the rest is promised by the caller.
        unsafe { self.first.part(range) }
    }
}

/// What the work on one matrix takes besides its results.
pub(super) struct Needs {
    /// Multiplications and additions.
    pub(super) flops: usize,
    /// Elements and indices of scratch, and bytes of a stack.
    pub(super) elements: usize,
    pub(super) indices: usize,
    pub(super) stack: StackReq,
}

/// Scratch of the work on one matrix; it holds any values.
pub(super) struct Scratch<'a, T> {
    pub(super) elements: &'a mut [T],
    pub(super) indices: &'a mut [u32],
    pub(super) stack: &'a mut MemStack,
}

/// Work that threads are worth.
const PARALLEL_FLOPS: usize = 1 << 18;

/// Calls `body` with each of `count` matrices, on several threads where that pays. An interrupt ends it between two of them.
pub(super) fn for_each<T: Plain>(
    count: usize,
    needs: &Needs,
    body: &(dyn Fn(usize, Scratch<'_, T>) + Sync),
) -> Result<(), AllocError> {
    let step = (PARALLEL_FLOPS / needs.flops.max(1)).max(1);
    let refused = Mutex::new(None);
    pool::for_each_chunk(count.div_ceil(step), &|chunk| {
        let range = chunk * step..((chunk + 1) * step).min(count);
        if let Err(error) = some(range, needs, body) {
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
    refused.map_or(Ok(()), Err)
}

/// The work on some of them, with one scratch for all.
fn some<T: Plain>(
    range: std::ops::Range<usize>,
    needs: &Needs,
    body: &(dyn Fn(usize, Scratch<'_, T>) + Sync),
) -> Result<(), AllocError> {
    let mut elements = Bytes::uninit(needs.elements.saturating_mul(size_of::<T>()))?;
    let mut indices = Bytes::uninit(needs.indices.saturating_mul(size_of::<u32>()))?;
    let mut stack = Bytes::uninit(needs.stack.unaligned_bytes_required())?;
    let bytes = typed::slice_mut::<u8>(&mut stack);
    // SAFETY: bytes that are set are bytes that may be.
    let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) };
    for at in range {
        let elements = &mut typed::slice_mut(&mut elements)[..needs.elements];
        let indices = &mut typed::slice_mut(&mut indices)[..needs.indices];
        body(at, Scratch { elements, indices, stack: MemStack::new(bytes) });
    }
    Ok(())
}
