//! Eigenvalues and eigenvectors of symmetric matrices.

use faer::diag::DiagMut;
use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, by_rows, for_each};
use super::orient::{exponent, is_turned, scale, turn};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// Ascending `values`, and `vectors` as columns where they are wanted, of symmetric matrices, of which one triangle is read. Of each
/// vector the largest element is positive. `info` is 1 where elements are not finite or the iteration does not come to an end.
///
/// # Panics
/// If the matrices are not square or the results are not of their sizes.
pub fn symmetric<T: Real>(
    a: &Matrices<'_, T>,
    upper: bool,
    values: &mut [T],
    vectors: Option<&mut [T]>,
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([n, columns], count) = (a.size(), a.count());
    assert!(n == columns, "square matrices");
    if n == 0 {
        info.fill(0);
        return Ok(());
    }
    let stack = T::symmetric_scratch(n, vectors.is_some());
    let (values, info) = (Results::new(values, count, n), Results::new(info, count, 1));
    let vectors = vectors.map(|it| Results::new(it, count, n * n));
    let needs = Needs { flops: 8 * n * n * n, elements: 2 * n * n, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let (values, info) = unsafe { (values.of(at), &mut info.of(at)[0]) };
        // SAFETY: as above.
        let vectors = vectors.as_ref().map(|it| unsafe { it.of(at) });
        let (matrix, basis) = scratch.elements.split_at_mut(n * n);
        // The rows of one triangle are the columns of the other.
        match upper {
            true => a.rows(at, matrix),
            false => a.columns(at, matrix),
        }
        (0..n).for_each(|it| matrix[it * n..][..it].fill(T::ZERO));
        let found = exponent(matrix).is_some_and(|by| {
            scale(matrix, -by);
            let found = T::symmetric(
                MatRef::from_column_major_slice(matrix, n, n),
                DiagMut::from_slice_mut(values),
                vectors.is_some().then(|| MatMut::from_column_major_slice_mut(basis, n, n)),
                scratch.stack,
            );
            scale(values, by);
            found
        });
        *info = i32::from(!found);
        if !found {
            values.fill(T::from_f64(f64::NAN));
            basis.fill(T::from_f64(f64::NAN));
        }
        if let Some(vectors) = vectors {
            basis.chunks_exact_mut(n.max(1)).filter(|it| is_turned(it)).for_each(turn);
            by_rows(basis, n, vectors);
        }
    })
}
