//! Attention of queries, and the logarithms of the sums of their exponentials.

use super::seen::Seen;
use super::{Matrices, Sizes, even, masked, product, scores};
use crate::cpu::alloc::AllocError;
use crate::cpu::element::Element;
use crate::cpu::features::isa;
use crate::cpu::gemm::{block, tiles};
use crate::cpu::pool::Shared;
use crate::cpu::simd::{Kernels, Running, Tile};
use crate::cpu::typed::Plain;

/// Keys of a block.
const KEYS: usize = 256;
/// Queries of a chunk of work, for which a block is packed once.
const QUERIES: usize = 256;

/// One attention after the other into `out`, `[batch, queries, values]`, and the logarithms of the sums of exponentials into `log_sums`,
/// `[batch, queries]`. Queries that see nothing get 0 and minus infinity. The mask is added to the scores.
///
/// # Errors
/// If there is no memory for what is packed; then the results are of no use.
///
/// # Panics
/// If an operand or a result is of another size.
pub fn forward<T: Element + Plain>(
    sizes: Sizes,
    [q, k, v]: [&Matrices<'_, T>; 3],
    mask: Option<&Matrices<'_, T>>,
    out: &mut [T],
    log_sums: &mut [T],
) -> Result<(), AllocError> {
    let Sizes { batch, queries, keys, width, values, .. } = sizes;
    q.check(batch, [queries, width]);
    k.check(batch, [keys, width]);
    v.check(batch, [keys, values]);
    mask.iter().for_each(|it| it.check(batch, [queries, keys]));
    assert!(out.len() == batch * queries * values, "results of all queries");
    assert!(log_sums.len() == batch * queries, "sums of all queries");
    let kernels = T::kernels(isa());
    let (step, block) = (even(queries, QUERIES), even(keys, KEYS));
    let stride = block.next_multiple_of(kernels.width());
    let lens = [step * width, stride * width, block * values, kernels.max_rows() * stride, step];
    let slots = [out.as_mut_ptr(), log_sums.as_mut_ptr()].map(Shared);
    let seen = Seen::of(sizes, mask);
    let task = Task { sizes, seen, q, k, v, mask, kernels, block, stride, lens };
    let chunks = queries.div_ceil(step);
    sizes.for_each(batch * chunks, lens.iter().sum(), |chunk, scratch| {
        let (at, row) = (chunk / chunks, chunk % chunks * step);
        let rows = step.min(queries - row);
        let first = at * queries + row;
        // SAFETY: each chunk has its own queries, and scratch of the lengths that were asked for.
        unsafe {
            let (out, sums) = (slots[0].get().add(first * values), slots[1].get().add(first));
            task.run(at, row, rows, scratch, (out, sums));
        }
    })
}

struct Task<'a, T: Plain> {
    sizes: Sizes,
    seen: Seen,
    q: &'a Matrices<'a, T>,
    k: &'a Matrices<'a, T>,
    v: &'a Matrices<'a, T>,
    mask: Option<&'a Matrices<'a, T>>,
    kernels: &'static Kernels<T>,
    /// Keys of a block, and elements from a row of scores to the next.
    block: usize,
    stride: usize,
    /// Elements of the parts of the scratch.
    lens: [usize; 5],
}

/// Where the parts of the scratch are, and the results of the chunk.
struct Parts<T> {
    q: *mut T,
    k: *mut T,
    v: *mut T,
    scores: *mut T,
    largest: *mut T,
    out: *mut T,
    sums: *mut T,
}

impl<T: Element + Plain> Task<'_, T> {
    /// Attention number `at`, of `rows` queries from `row` on.
    ///
    /// # Safety
    /// The queries exist, the scratch has its length, and the results are this thread's alone.
    unsafe fn run(
        &self,
        at: usize,
        row: usize,
        rows: usize,
        scratch: *mut T,
        (out, sums): (*mut T, *mut T),
    ) {
        let Sizes { keys, width, values, scale, .. } = self.sizes;
        let [q, k, v, scores, _] = self.lens;
        let place = |before: usize| scratch.wrapping_add(before);
        let parts = Parts {
            q: scratch,
            k: place(q),
            v: place(q + k),
            scores: place(q + k + v),
            largest: place(q + k + v + scores),
            out,
            sums,
        };
        // SAFETY: the parts have room for what goes there.
        unsafe {
            self.q.rows(at, row).gather(self.kernels, [rows, width], T::from_f64(scale), parts.q);
            if self.seen.count(at, [row, rows, 0, keys]) == 0 {
                std::slice::from_raw_parts_mut(out, rows * values).fill(T::ZERO);
                std::slice::from_raw_parts_mut(sums, rows).fill(T::NEG_INFINITY);
                return;
            }
            for key in (0..keys).step_by(self.block) {
                let n = self.seen.count(at, [row, rows, key, self.block.min(keys - key)]);
                if n == 0 {
                    break;
                }
                self.k.rows(at, key).pack(self.kernels, [n, width], parts.k);
                self.v.rows(at, key).gather(self.kernels, [n, values], T::ONE, parts.v);
                for (begin, count) in tiles(rows, self.kernels.max_rows()) {
                    self.tile(at, [row, begin, count], key, n, &parts);
                }
            }
            self.finish(rows, &parts);
        }
    }

    /// Takes `n` keys from `key` on into account for `count` queries, the first of which is `begin` in the chunk from `row` on.
    ///
    /// # Safety
    /// As for [`Task::run`]; the block of keys is packed.
    unsafe fn tile(
        &self,
        at: usize,
        [row, begin, count]: [usize; 3],
        key: usize,
        n: usize,
        parts: &Parts<T>,
    ) {
        let Sizes { width, values, .. } = self.sizes;
        let first = row + begin;
        let n = self.seen.count(at, [first, count, key, n]);
        if n == 0 {
            return;
        }
        let (s, stride) = (parts.scores, self.stride);
        // SAFETY: promised by the caller.
        unsafe {
            let q = parts.q.add(begin * width);
            scores(self.kernels, [count, width, n], (q, parts.k), (s, stride));
            let tile = self.sizes.tile((s, stride), [first, count, key, n]);
            let known = Running {
                largest: parts.largest.add(begin),
                sums: parts.sums.add(begin),
                values: parts.out.add(begin * values),
                width: values,
                first: key == 0,
            };
            (self.kernels.attend)(&masked(tile, self.mask, at, [first, key]), &known);
            let mixed = Tile {
                b: parts.v,
                rsb: values as isize,
                c: known.values,
                rsc: values as isize,
                accumulate: key > 0,
                ..product(n, (s, stride, 1))
            };
            block(self.kernels, &self.kernels.strided, count, values, &mixed);
        }
    }

    /// Divides by the sums, whose logarithms take their place.
    unsafe fn finish(&self, rows: usize, parts: &Parts<T>) {
        let values = self.sizes.values;
        for row in 0..rows {
            // SAFETY: promised by the caller of `run`.
            unsafe {
                let (sum, best) = (&mut *parts.sums.add(row), *parts.largest.add(row));
                let out = std::slice::from_raw_parts_mut(parts.out.add(row * values), values);
                let factor = if *sum == T::ZERO { T::ZERO } else { T::ONE / *sum };
                out.iter_mut().for_each(|it| *it = *it * factor);
                *sum = T::from_f64(best.to_f64() + sum.to_f64().ln());
            }
        }
    }
}
