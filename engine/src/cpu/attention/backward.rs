//! The gradient of attention: the scores are computed once more, a tile at a time.

use std::ops::Range;

use super::seen::Seen;
use super::{Matrices, Sizes, even, masked, product, scores};
use crate::cpu::alloc::AllocError;
use crate::cpu::element::Element;
use crate::cpu::features::isa;
use crate::cpu::gemm::{block, tiles};
use crate::cpu::pool::Shared;
use crate::cpu::simd::{Dots, Kernels, Tile};
use crate::cpu::typed::Plain;

/// Keys of a block.
const KEYS: usize = 128;
/// Queries of a tile.
const QUERIES: usize = 64;

/// What the gradient comes from: the operands and results of attention, and the gradient of its first result.
pub struct Slopes<'a, T> {
    pub q: Matrices<'a, T>,
    pub k: Matrices<'a, T>,
    pub v: Matrices<'a, T>,
    pub out: Matrices<'a, T>,
    /// `[batch, queries]`
    pub log_sums: &'a [T],
    pub grad: Matrices<'a, T>,
    pub mask: Option<Matrices<'a, T>>,
}

/// The gradients of queries, keys and values, one behind the other each.
///
/// # Errors
/// If there is no memory for what is packed; then the results are of no use.
///
/// # Panics
/// If an operand or a result is of another size.
pub fn backward<T: Element + Plain>(
    sizes: Sizes,
    given: &Slopes<'_, T>,
    [dq, dk, dv]: [&mut [T]; 3],
) -> Result<(), AllocError> {
    let Sizes { batch, queries, keys, width, values, .. } = sizes;
    given.q.check(batch, [queries, width]);
    given.k.check(batch, [keys, width]);
    given.v.check(batch, [keys, values]);
    given.out.check(batch, [queries, values]);
    given.grad.check(batch, [queries, values]);
    given.mask.iter().for_each(|it| it.check(batch, [queries, keys]));
    assert!(given.log_sums.len() == batch * queries, "sums of all queries");
    assert!(dq.len() == batch * queries * width, "gradients of all queries");
    assert!(dk.len() == batch * keys * width, "gradients of all keys");
    assert!(dv.len() == batch * keys * values, "gradients of all values");
    let kernels = T::kernels(isa());
    let (step, block) = (even(queries, QUERIES), even(keys, KEYS));
    let stride = block.next_multiple_of(kernels.width());
    let seen = Seen::of(sizes, given.mask.as_ref());
    let task = Task { sizes, seen, given, kernels, block, step, stride };
    let slots = [dq, dk, dv].map(|it| Shared(it.as_mut_ptr()));
    sizes.for_each(batch, task.lens().iter().sum(), |at, scratch| {
        let [dq, dk, dv] = [0, 1, 2].map(|it| slots[it].get());
        let results = [
            dq.wrapping_add(at * queries * width),
            dk.wrapping_add(at * keys * width),
            dv.wrapping_add(at * keys * values),
        ];
        // SAFETY: each chunk has its own results, and scratch of the lengths that were asked for.
        unsafe { task.run(at, scratch, results) };
    })
}

struct Task<'a, T: Plain> {
    sizes: Sizes,
    seen: Seen,
    given: &'a Slopes<'a, T>,
    kernels: &'static Kernels<T>,
    /// Keys of a block, queries of a tile, and elements from a row of scores to the next.
    block: usize,
    step: usize,
    stride: usize,
}

/// Where the parts of the scratch are, and the results.
struct Parts<T> {
    /// Queries and gradients of a tile.
    q: *mut T,
    grad: *mut T,
    /// Keys of a block, packed and gathered, and its values, packed.
    packed_k: *mut T,
    k: *mut T,
    packed_v: *mut T,
    /// Shares of a tile and their gradients.
    shares: *mut T,
    slopes: *mut T,
    /// The sum of `grad * out` for each query.
    means: *mut T,
    dq: *mut T,
    dk: *mut T,
    dv: *mut T,
}

/// A block of keys, or a tile of queries: the first, and how many.
type Span = (usize, usize);

impl<T: Element + Plain> Task<'_, T> {
    fn lens(&self) -> [usize; 8] {
        let Sizes { queries, width, values, .. } = self.sizes;
        let scores = self.step * self.stride;
        [
            self.step * width,
            self.step * values,
            self.stride * width,
            self.block * width,
            self.stride * values,
            scores.max(self.step * values),
            scores,
            queries,
        ]
    }

    /// The gradients of attention number `at`.
    ///
    /// # Safety
    /// The scratch has its length, and the results are this thread's alone.
    unsafe fn run(&self, at: usize, scratch: *mut T, [dq, dk, dv]: [*mut T; 3]) {
        let Sizes { queries, keys, width, values, scale, .. } = self.sizes;
        let mut end = scratch;
        let [q, grad, packed_k, k, packed_v, shares, slopes, means] = self.lens().map(|len| {
            let begin = end;
            end = end.wrapping_add(len);
            begin
        });
        let parts = Parts { q, grad, packed_k, k, packed_v, shares, slopes, means, dq, dk, dv };
        // SAFETY: the parts have room for what goes there.
        unsafe {
            self.means(at, &parts);
            if keys == 0 {
                std::slice::from_raw_parts_mut(dq, queries * width).fill(T::ZERO);
            }
            for key in (0..keys).step_by(self.block) {
                let n = self.block.min(keys - key);
                self.given.k.rows(at, key).pack(self.kernels, [n, width], packed_k);
                self.given.k.rows(at, key).gather(self.kernels, [n, width], T::ONE, k);
                self.given.v.rows(at, key).pack(self.kernels, [n, values], packed_v);
                self.block(at, (key, n), &parts);
            }
            let dq = std::slice::from_raw_parts_mut(dq, queries * width);
            dq.iter_mut().for_each(|it| *it = *it * T::from_f64(scale));
        }
    }

    /// The sum of `grad * out` of each query.
    unsafe fn means(&self, at: usize, parts: &Parts<T>) {
        let Sizes { queries, values, .. } = self.sizes;
        for row in (0..queries).step_by(self.step) {
            let rows = self.step.min(queries - row);
            // SAFETY: promised by the caller of `run`; results of a tile fit where its shares will be.
            unsafe {
                let (of, room) = ([rows, values], [parts.grad, parts.shares]);
                let x = self.given.grad.rows(at, row).side_by_side(self.kernels, of, room[0]);
                let y = self.given.out.rows(at, row).side_by_side(self.kernels, of, room[1]);
                for it in 0..rows {
                    (self.kernels.dots)(&Dots {
                        m: 1,
                        n: 1,
                        k: values,
                        x: x.first.wrapping_offset(it as isize * x.row),
                        rsx: 0,
                        b: y.first.wrapping_offset(it as isize * y.row),
                        csb: 0,
                        y: parts.means.add(row + it),
                        rsy: 0,
                        incy: 1,
                        accumulate: false,
                    });
                }
            }
        }
    }

    /// What a block of keys, which is packed, adds to the gradients.
    unsafe fn block(&self, at: usize, (key, n): Span, parts: &Parts<T>) {
        let Sizes { queries, width, values, scale, .. } = self.sizes;
        let mut is_first = true;
        for row in (0..queries).step_by(self.step) {
            let rows = self.step.min(queries - row);
            if self.seen.count(at, [row, rows, key, n]) == 0 {
                continue;
            }
            // SAFETY: promised by the caller of `run`.
            unsafe {
                self.given.q.rows(at, row).gather(
                    self.kernels,
                    [rows, width],
                    T::from_f64(scale),
                    parts.q,
                );
                self.given.grad.rows(at, row).gather(
                    self.kernels,
                    [rows, values],
                    T::ONE,
                    parts.grad,
                );
                for (begin, count) in tiles(rows, self.kernels.max_rows()) {
                    self.tile(at, [row, begin, count], (key, n), parts);
                }
                self.of_keys(at, (row, rows), (key, n), is_first, parts);
            }
            is_first = false;
        }
        if is_first {
            // SAFETY: promised by the caller of `run`; no query sees these keys.
            unsafe {
                std::slice::from_raw_parts_mut(parts.dk.add(key * width), n * width).fill(T::ZERO);
                std::slice::from_raw_parts_mut(parts.dv.add(key * values), n * values)
                    .fill(T::ZERO);
            }
        }
    }

    /// Shares and their gradients for `count` queries, the first of which is `begin` in the tile from `row` on; and what the keys add to
    /// the gradients of these.
    unsafe fn tile(
        &self,
        at: usize,
        [row, begin, count]: [usize; 3],
        (key, n): Span,
        parts: &Parts<T>,
    ) {
        let Sizes { queries, width, values, .. } = self.sizes;
        let (first, stride) = (row + begin, self.stride);
        let seen = self.seen.count(at, [first, count, key, n]);
        if seen == 0 {
            // SAFETY: promised by the caller of `run`.
            unsafe { self.see_nothing([begin, count], 0..n, parts) };
            return;
        }
        // SAFETY: promised by the caller of `run`.
        unsafe {
            let (q, grad) = (parts.q.add(begin * width), parts.grad.add(begin * values));
            let (s, slopes) = (parts.shares.add(begin * stride), parts.slopes.add(begin * stride));
            scores(self.kernels, [count, width, seen], (q, parts.packed_k), (s, stride));
            scores(self.kernels, [count, values, seen], (grad, parts.packed_v), (slopes, stride));
            self.see_nothing([begin, count], seen..n, parts);
            let tile = self.sizes.tile((s, stride), [first, count, key, seen]);
            let tile = masked(tile, self.given.mask.as_ref(), at, [first, key]);
            let log_sums = self.given.log_sums.as_ptr().add(at * queries + first);
            (self.kernels.attend_slopes)(&tile, slopes, log_sums, parts.means.add(first));
            let of_queries = Tile {
                b: parts.k,
                rsb: width as isize,
                c: parts.dq.add(first * width),
                rsc: width as isize,
                accumulate: key > 0,
                ..product(seen, (slopes, stride, 1))
            };
            block(self.kernels, &self.kernels.strided, count, width, &of_queries);
        }
    }

    /// Shares and their gradients of `count` queries from `begin` on that see none of these keys.
    unsafe fn see_nothing(&self, [begin, count]: [usize; 2], keys: Range<usize>, parts: &Parts<T>) {
        for row in begin..begin + count {
            for scores in [parts.shares, parts.slopes] {
                // SAFETY: promised by the caller of `run`.
                unsafe {
                    let first = scores.add(row * self.stride + keys.start);
                    std::slice::from_raw_parts_mut(first, keys.len()).fill(T::ZERO);
                }
            }
        }
    }

    /// What a tile of queries adds to the gradients of a block of keys and its values: `dk += slopes^T q`, `dv += shares^T grad`.
    unsafe fn of_keys(
        &self,
        at: usize,
        (row, rows): Span,
        (key, n): Span,
        is_first: bool,
        parts: &Parts<T>,
    ) {
        let Sizes { width, values, .. } = self.sizes;
        let of = [
            (parts.slopes, parts.q, width, parts.dk),
            (parts.shares, parts.grad, values, parts.dv),
        ];
        for (begin, count) in tiles(n, self.kernels.max_rows()) {
            let from = self.seen.blind(at, [row, rows], key + begin);
            for (shares, rows_of, width, to) in of {
                // SAFETY: promised by the caller of `run`.
                unsafe {
                    let a = shares.wrapping_add(from * self.stride + begin);
                    let tile = Tile {
                        b: rows_of.wrapping_add(from * width),
                        rsb: width as isize,
                        c: to.add((key + begin) * width),
                        rsc: width as isize,
                        accumulate: !is_first,
                        ..product(rows - from, (a.cast_const(), 1, self.stride))
                    };
                    block(self.kernels, &self.kernels.strided, count, width, &tile);
                }
            }
        }
    }
}
