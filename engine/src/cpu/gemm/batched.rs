//! Many products of the same shape.

use super::{GemmProblem, gemm_raw};
use crate::cpu::element::Element;
use crate::cpu::lane::Part;
use crate::cpu::pool::{self, Shared};

/// Computes `batch` products; operand `i` of each begins `i * strides[..]` elements on, for A, B and C in this order.
/// A stride of 0 shares an operand; C is never shared.
///
/// # Panics
/// If a slice is shorter than the problem says, products overlap in C, or the processor lacks the instructions.
pub fn gemm_batched<T: Element>(
    p: &GemmProblem,
    batch: usize,
    strides: [usize; 3],
    a: &[T],
    b: &[T],
    c: &mut [T],
    part: Part<'_>,
) {
    if batch == 0 || p.m == 0 || p.n == 0 {
        return;
    }
    let extents = p.extents();
    let fits = |i: usize, len: usize| {
        extents[i] == 0
            || (batch - 1)
                .checked_mul(strides[i])
                .and_then(|offset| offset.checked_add(extents[i]))
                .is_some_and(|end| end <= len)
    };
    assert!(p.kind == T::KIND, "the problem is about another element type");
    assert!(p.isa.is_available(), "the processor lacks these instructions");
    assert!(fits(0, a.len()) && fits(1, b.len()) && fits(2, c.len()), "operand too short");
    assert!(p.m <= 1 || p.rsc >= p.n, "rows of C overlap");
    assert!(batch == 1 || strides[2] >= extents[2], "products overlap");
    let (a, b) = (Shared(a.as_ptr().cast_mut()), Shared(b.as_ptr().cast_mut()));
    let c = Shared(c.as_mut_ptr());
    let run = |p: &GemmProblem, i: usize| {
        // SAFETY: product `i` lies in the slices and shares no element of C with another.
        unsafe {
            let a = a.get().wrapping_add(i * strides[0]);
            let b = b.get().wrapping_add(i * strides[1]);
            let at = i * strides[2];
            gemm_raw(p, a, b, c.get().wrapping_add(at), part.skip(at));
        }
    };
    let whole = GemmProblem { m: p.m.saturating_mul(batch), ..*p };
    if !whole.is_parallel() || (p.is_parallel() && batch < 2 * p.threads) {
        return pool::for_each_chunk_if(false, batch, &|i| run(p, i));
    }
    let single = GemmProblem { threads: 1, ..*p };
    let chunks = batch.min(8 * p.threads);
    pool::for_each_chunk(chunks, &|chunk| {
        (batch * chunk / chunks..batch * (chunk + 1) / chunks).for_each(|i| run(&single, i));
    });
}
