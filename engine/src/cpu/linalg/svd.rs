//! Singular values and vectors.

use faer::diag::DiagMut;
use faer::linalg::svd::ComputeSvdVectors;
use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, by_rows, for_each};
use super::orient::{exponent, identity, is_turned, scale, turn};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// Vectors of singular values: `u` as columns, `vh` as rows; as many as there are values, or `full` squares of them.
#[derive(Debug)]
pub struct Svd<'a, T> {
    pub full: bool,
    pub u: &'a mut [T],
    pub vh: &'a mut [T],
}

/// Descending `values`, and their vectors where they are wanted. Of each column of `u` the largest element is positive, and of rows of `vh`
/// that belong to none. `info` is 1 where elements are not finite or the iteration does not come to an end.
///
/// # Panics
/// If the results are not of the sizes of the matrices.
pub fn svd<T: Real>(
    a: &Matrices<'_, T>,
    values: &mut [T],
    vectors: Option<Svd<'_, T>>,
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([m, n], count) = (a.size(), a.count());
    let size = m.min(n);
    if size == 0 {
        info.fill(0);
        if let Some(Svd { full: true, u, vh }) = vectors {
            u.chunks_exact_mut((m * m).max(1)).for_each(|it| identity(it, m));
            vh.chunks_exact_mut((n * n).max(1)).for_each(|it| identity(it, n));
        }
        return Ok(());
    }
    let wanted = match &vectors {
        Some(Svd { full: true, .. }) => ComputeSvdVectors::Full,
        Some(_) => ComputeSvdVectors::Thin,
        None => ComputeSvdVectors::No,
    };
    let [left, right] = match &vectors {
        Some(Svd { full: true, .. }) => [m, n],
        Some(_) => [size, size],
        None => [0, 0],
    };
    let (values, info) = (Results::new(values, count, size), Results::new(info, count, 1));
    let vectors = vectors
        .map(|it| (Results::new(it.u, count, m * left), Results::new(it.vh, count, right * n)));
    let stack = T::svd_scratch([m, n], wanted);
    let elements = m * n + m * left;
    let needs = Needs { flops: 16 * m * n * size, elements, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let (values, info) = unsafe { (values.of(at), &mut info.of(at)[0]) };
        // SAFETY: as above.
        let mut vectors = vectors.as_ref().map(|(u, vh)| unsafe { (u.of(at), vh.of(at)) });
        let (matrix, basis) = scratch.elements.split_at_mut(m * n);
        a.columns(at, matrix);
        let found = exponent(matrix).is_some_and(|by| {
            scale(matrix, -by);
            // Parts of the squares that completes the vectors are taken as they are found.
            basis.fill(T::ZERO);
            vectors.iter_mut().for_each(|(_, vh)| vh.fill(T::ZERO));
            // The columns of v are the rows of vh.
            let (u, v) = match &mut vectors {
                Some((_, vh)) => (
                    Some(MatMut::from_column_major_slice_mut(&mut *basis, m, left)),
                    Some(MatMut::from_column_major_slice_mut(vh, n, right)),
                ),
                None => (None, None),
            };
            let found = T::svd(
                MatRef::from_column_major_slice(matrix, m, n),
                DiagMut::from_slice_mut(values),
                [u, v],
                scratch.stack,
            );
            scale(values, by);
            found
        });
        *info = i32::from(!found);
        let Some((u, vh)) = vectors else {
            if !found {
                values.fill(T::from_f64(f64::NAN));
            }
            return;
        };
        if !found {
            [values, &mut *basis, &mut *vh]
                .into_iter()
                .for_each(|it| it.fill(T::from_f64(f64::NAN)));
        }
        orient(basis, m, vh, n);
        by_rows(basis, m, u);
    })
}

/// Turns pairs of vectors, and those that have no other, so that the largest element of the first is positive.
fn orient<T: Real>(u: &mut [T], m: usize, vh: &mut [T], n: usize) {
    let mut others = vh.chunks_exact_mut(n.max(1));
    for vector in u.chunks_exact_mut(m.max(1)) {
        let other = others.next();
        if is_turned(vector) {
            turn(vector);
            other.into_iter().for_each(turn);
        }
    }
    others.filter(|it| is_turned(it)).for_each(turn);
}
