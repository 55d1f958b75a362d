//! Factors of symmetric positive-definite matrices.

use faer::MatMut;

use super::batch::{Needs, Results, by_rows, for_each};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// The lower triangular `l` with `l @ l.T = a`, of which the lower triangle is read; with `upper` its transpose, from the upper triangle.
/// `info` is the order of the first leading minor that is not positive, and that half of `l` is not a number then.
///
/// # Panics
/// If the matrices are not square or the results are not of their sizes.
pub fn cholesky<T: Real>(
    a: &Matrices<'_, T>,
    upper: bool,
    l: &mut [T],
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([n, columns], count) = (a.size(), a.count());
    assert!(n == columns, "square matrices");
    let (l, info) = (Results::new(l, count, n * n), Results::new(info, count, 1));
    let stack = T::cholesky_scratch(n);
    let needs = Needs { flops: n * n * n / 6, elements: n * n, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let (out, info) = unsafe { (l.of(at), &mut info.of(at)[0]) };
        let factor = &mut *scratch.elements;
        // The rows of one triangle are the columns of the other.
        match upper {
            true => a.rows(at, factor),
            false => a.columns(at, factor),
        }
        let matrix = MatMut::from_column_major_slice_mut(factor, n, n);
        let failed = match T::cholesky(matrix, scratch.stack) {
            Ok(()) => (0..n).find(|at| is_no_pivot(factor[at * n + at])),
            Err(at) => Some(at),
        };
        *info = failed.map_or(0, |it| it as i32 + 1);
        for column in 0..n {
            factor[column * n..][..column].fill(T::ZERO);
            if failed.is_some() {
                factor[column * n..][column..n].fill(T::from_f64(f64::NAN));
            }
        }
        match upper {
            true => out.copy_from_slice(factor),
            false => by_rows(factor, n, out),
        }
    })
}

fn is_no_pivot<T: Real>(it: T) -> bool {
    it <= T::ZERO || it.to_f64().is_nan()
}
