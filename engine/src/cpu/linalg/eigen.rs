//! Eigenvalues and eigenvectors of any square matrices.

use faer::diag::DiagMut;
use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, for_each};
use super::orient::{exponent, scale};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// Real and imaginary parts of eigenvalues, and of their vectors, as columns, where they are wanted.
#[derive(Debug)]
pub struct Eigen<'a, T> {
    pub values: [&'a mut [T]; 2],
    pub vectors: Option<[&'a mut [T]; 2]>,
}

/// Eigenvalues and vectors of length 1, whose largest element is real and positive; conjugate pairs stand side by side, the one with a
/// positive imaginary part first. `info` is 1 where elements are not finite or the iteration does not come to an end.
///
/// # Panics
/// If the matrices are not square or the results are not of their sizes.
pub fn eigen<T: Real>(
    a: &Matrices<'_, T>,
    found: Eigen<'_, T>,
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([n, columns], count) = (a.size(), a.count());
    assert!(n == columns, "square matrices");
    if n == 0 {
        info.fill(0);
        return Ok(());
    }
    let info = Results::new(info, count, 1);
    let [real, imag] = found.values.map(|it| Results::new(it, count, n));
    let stack = T::eigen_scratch(n, found.vectors.is_some());
    let vectors = found.vectors.map(|it| it.map(|it| Results::new(it, count, n * n)));
    let needs = Needs { flops: 25 * n * n * n, elements: 2 * n * n, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let (real, imag, info) = unsafe { (real.of(at), imag.of(at), info.of(at)) };
        // SAFETY: as above.
        let vectors = vectors.as_ref().map(|[re, im]| unsafe { [re.of(at), im.of(at)] });
        let (matrix, basis) = scratch.elements.split_at_mut(n * n);
        a.columns(at, matrix);
        let found = exponent(matrix).is_some_and(|by| {
            scale(matrix, -by);
            let found = T::eigen(
                MatRef::from_column_major_slice(matrix, n, n),
                [&mut *real, &mut *imag].map(DiagMut::from_slice_mut),
                vectors.is_some().then(|| MatMut::from_column_major_slice_mut(basis, n, n)),
                scratch.stack,
            );
            [&mut *real, &mut *imag].into_iter().for_each(|it| scale(it, by));
            found
        });
        info[0] = i32::from(!found);
        if !found {
            [real, &mut *imag, basis].into_iter().for_each(|it| it.fill(T::from_f64(f64::NAN)));
        }
        if let Some([re, im]) = vectors {
            parts(basis, imag, re, im);
        }
    })
}

/// The parts of vectors, by rows: of a value that is not real the real part is one column, and the imaginary one the next.
fn parts<T: Real>(basis: &[T], imag: &[T], re: &mut [T], im: &mut [T]) {
    let n = imag.len();
    let mut column = 0;
    while column < n {
        let is_pair = imag[column] != T::ZERO && column + 1 < n && found(imag[column]);
        let real = &basis[column * n..][..n];
        let other = is_pair.then(|| &basis[(column + 1) * n..][..n]);
        let at = |row: usize| (real[row].to_f64(), other.map_or(0.0, |other| other[row].to_f64()));
        let turn = to_unit((0..n).map(at));
        for row in 0..n {
            let (x, y) = at(row);
            let it = (x * turn.0 - y * turn.1, x * turn.1 + y * turn.0);
            let place = row * n + column;
            re[place] = T::from_f64(it.0);
            im[place] = if is_pair { T::from_f64(it.1) } else { T::ZERO };
            if is_pair {
                (re[place + 1], im[place + 1]) = (T::from_f64(it.0), T::from_f64(-it.1));
            }
        }
        column += 1 + usize::from(is_pair);
    }
}

fn found<T: Real>(it: T) -> bool {
    !it.to_f64().is_nan()
}

/// The complex number by which a vector comes to length 1, with a largest element that is real and positive.
fn to_unit(vector: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let sizes = vector.clone().map(|(x, y)| x.hypot(y));
    let most = sizes.clone().fold(0.0, f64::max);
    let length = most * sizes.clone().map(|it| (it / most).powi(2)).sum::<f64>().sqrt();
    let mut pairs = vector.zip(sizes);
    let largest = pairs.find(|(_, size)| *size >= 0.99 * most);
    largest.map_or((1.0, 0.0), |((x, y), size)| (x / size / length, -y / size / length))
}
