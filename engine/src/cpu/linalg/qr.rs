//! Factors by Householder's reflections.

use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, by_rows, for_each};
use super::orient::identity;
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// Columns at right angles that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orthogonal {
    None,
    /// As many as there are rows in the triangle.
    Reduced,
    /// A square of them.
    Complete,
}

/// Columns `q` at right angles and an upper triangular `r` with `q @ r = a`, with LAPACK's signs. `r` has as many rows as `q` columns; as
/// a reduced one where no `q` is wanted.
///
/// # Panics
/// If the results are not of these sizes.
pub fn qr<T: Real>(
    a: &Matrices<'_, T>,
    wanted: Orthogonal,
    q: &mut [T],
    r: &mut [T],
) -> Result<(), AllocError> {
    let ([m, n], count) = (a.size(), a.count());
    let size = m.min(n);
    let rows = if wanted == Orthogonal::Complete { m } else { size };
    let columns = if wanted == Orthogonal::None { 0 } else { rows };
    if size == 0 {
        q.chunks_exact_mut((m * columns).max(1)).for_each(|it| identity(it, m));
        return Ok(());
    }
    let r = Results::new(r, count, rows * n);
    let q = Results::new(q, count, m * columns);
    let block = T::qr_block(m, n);
    let stack = T::qr_scratch([m, n], block, columns);
    let elements = m * n + block * size + m * columns;
    let needs = Needs { flops: 2 * m * n * size, elements, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let (q, r) = unsafe { (q.of(at), r.of(at)) };
        let (factors, rest) = scratch.elements.split_at_mut(m * n);
        let (coefficients, basis) = rest.split_at_mut(block * size);
        a.columns(at, factors);
        T::qr(
            MatMut::from_column_major_slice_mut(factors, m, n),
            MatMut::from_column_major_slice_mut(coefficients, block, size),
            scratch.stack,
        );
        if columns > 0 {
            identity(basis, m);
            T::reflect(
                MatRef::from_column_major_slice(&factors[..m * size], m, size),
                MatRef::from_column_major_slice(coefficients, block, size),
                MatMut::from_column_major_slice_mut(basis, m, columns),
                scratch.stack,
            );
            by_rows(basis, m, q);
        }
        for (row, out) in r.chunks_exact_mut(n).enumerate() {
            let above = |column: usize| column >= row;
            let at = |column: usize| factors[column * m + row];
            out.iter_mut().enumerate().for_each(|(column, it)| {
                *it = if above(column) { at(column) } else { T::ZERO };
            });
        }
    })
}
