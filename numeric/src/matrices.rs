//! Factors of matrices, by `faer`, on one thread. What memory each takes is told beforehand by the function with `_scratch` behind its
//! name; matrices are column-major unless their views say otherwise.

use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::evd::{
    ComputeEigenvectors, evd_real, evd_scratch, self_adjoint_evd, self_adjoint_evd_scratch,
};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as applied_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::linalg::qr::no_pivoting::factor::{
    qr_in_place, qr_in_place_scratch, recommended_block_size,
};
use faer::linalg::svd::{ComputeSvdVectors, svd, svd_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_unit_lower_triangular_in_place,
    solve_unit_upper_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::traits::RealField;
use faer::{Conj, MatMut, MatRef, Par};

/// A float type whose matrices are factored.
pub trait Factored: RealField {
    fn cholesky_scratch(n: usize) -> StackReq;

    /// The lower triangle of a symmetric matrix gets the factor; the place of the pivot that is not positive is an error.
    fn cholesky(a: MatMut<'_, Self>, stack: &mut MemStack) -> Result<(), usize>;

    fn symmetric_scratch(n: usize, vectors: bool) -> StackReq;

    /// Ascending eigenvalues of a symmetric matrix, of which the lower triangle is read, and their vectors; whether they were found.
    fn symmetric(
        a: MatRef<'_, Self>,
        values: DiagMut<'_, Self>,
        vectors: Option<MatMut<'_, Self>>,
        stack: &mut MemStack,
    ) -> bool;

    fn eigen_scratch(n: usize, vectors: bool) -> StackReq;

    /// Eigenvalues and right vectors of any square matrix, conjugate pairs side by side; whether they were found.
    fn eigen(
        a: MatRef<'_, Self>,
        values: [DiagMut<'_, Self>; 2],
        vectors: Option<MatMut<'_, Self>>,
        stack: &mut MemStack,
    ) -> bool;

    fn svd_scratch(size: [usize; 2], vectors: ComputeSvdVectors) -> StackReq;

    /// Descending singular values, and their vectors, both as columns; whether they were found.
    fn svd(
        a: MatRef<'_, Self>,
        values: DiagMut<'_, Self>,
        vectors: [Option<MatMut<'_, Self>>; 2],
        stack: &mut MemStack,
    ) -> bool;

    fn lu_scratch(m: usize, n: usize) -> StackReq;

    /// Factors with partial pivoting, in place; which row has come to which place, and the inverse of that.
    fn lu(a: MatMut<'_, Self>, rows: [&mut [u32]; 2], stack: &mut MemStack);

    /// Reflections that are applied together in [`Factored::qr`].
    fn qr_block(m: usize, n: usize) -> usize;

    /// Of [`Factored::qr`], and of [`Factored::reflect`] to so many columns.
    fn qr_scratch(size: [usize; 2], block: usize, columns: usize) -> StackReq;

    /// The triangle and the reflections below it, in place, and the coefficients of these.
    fn qr(a: MatMut<'_, Self>, coefficients: MatMut<'_, Self>, stack: &mut MemStack);

    /// Applies reflections, the last one first.
    fn reflect(
        reflections: MatRef<'_, Self>,
        coefficients: MatRef<'_, Self>,
        to: MatMut<'_, Self>,
        stack: &mut MemStack,
    );

    /// What `a @ x` is `x` now, for an `a` of which one triangle is read; with `unit` its diagonal counts as 1.
    fn solve_triangular(a: MatRef<'_, Self>, x: MatMut<'_, Self>, upper: bool, unit: bool);
}

fn eigenvectors(wanted: bool) -> ComputeEigenvectors {
    if wanted { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

macro_rules! factored {
    ($($float:ty),*) => {
        $(impl Factored for $float {
            fn cholesky_scratch(n: usize) -> StackReq {
                cholesky_in_place_scratch::<Self>(n, Par::Seq, Default::default())
            }

            fn cholesky(a: MatMut<'_, Self>, stack: &mut MemStack) -> Result<(), usize> {
                let (rule, how) = (Default::default(), Default::default());
                match cholesky_in_place(a, rule, Par::Seq, stack, how) {
                    Ok(_) => Ok(()),
                    Err(LltError::NonPositivePivot { index }) => Err(index),
                }
            }

            fn symmetric_scratch(n: usize, vectors: bool) -> StackReq {
                let how = Default::default();
                self_adjoint_evd_scratch::<Self>(n, eigenvectors(vectors), Par::Seq, how)
            }

            fn symmetric(
                a: MatRef<'_, Self>,
                values: DiagMut<'_, Self>,
                vectors: Option<MatMut<'_, Self>>,
                stack: &mut MemStack,
            ) -> bool {
                let how = Default::default();
                self_adjoint_evd(a, values, vectors, Par::Seq, stack, how).is_ok()
            }

            fn eigen_scratch(n: usize, vectors: bool) -> StackReq {
                let [left, right] = [false, vectors].map(eigenvectors);
                evd_scratch::<Self>(n, left, right, Par::Seq, Default::default())
            }

            fn eigen(
                a: MatRef<'_, Self>,
                [real, imag]: [DiagMut<'_, Self>; 2],
                vectors: Option<MatMut<'_, Self>>,
                stack: &mut MemStack,
            ) -> bool {
                let how = Default::default();
                evd_real(a, real, imag, None, vectors, Par::Seq, stack, how).is_ok()
            }

            fn svd_scratch([m, n]: [usize; 2], vectors: ComputeSvdVectors) -> StackReq {
                svd_scratch::<Self>(m, n, vectors, vectors, Par::Seq, Default::default())
            }

            fn svd(
                a: MatRef<'_, Self>,
                values: DiagMut<'_, Self>,
                [u, v]: [Option<MatMut<'_, Self>>; 2],
                stack: &mut MemStack,
            ) -> bool {
                svd(a, values, u, v, Par::Seq, stack, Default::default()).is_ok()
            }

            fn lu_scratch(m: usize, n: usize) -> StackReq {
                lu_in_place_scratch::<u32, Self>(m, n, Par::Seq, Default::default())
            }

            fn lu(a: MatMut<'_, Self>, [rows, places]: [&mut [u32]; 2], stack: &mut MemStack) {
                lu_in_place(a, rows, places, Par::Seq, stack, Default::default());
            }

            fn qr_block(m: usize, n: usize) -> usize {
                recommended_block_size::<Self>(m, n)
            }

            fn qr_scratch([m, n]: [usize; 2], block: usize, columns: usize) -> StackReq {
                StackReq::any_of(&[
                    qr_in_place_scratch::<Self>(m, n, block, Par::Seq, Default::default()),
                    applied_scratch::<Self>(m, block, columns),
                ])
            }

            fn qr(a: MatMut<'_, Self>, coefficients: MatMut<'_, Self>, stack: &mut MemStack) {
                qr_in_place(a, coefficients, Par::Seq, stack, Default::default());
            }

            fn reflect(
                reflections: MatRef<'_, Self>,
                coefficients: MatRef<'_, Self>,
                to: MatMut<'_, Self>,
                stack: &mut MemStack,
            ) {
                apply(reflections, coefficients, Conj::No, to, Par::Seq, stack);
            }

            fn solve_triangular(
                a: MatRef<'_, Self>,
                x: MatMut<'_, Self>,
                upper: bool,
                unit: bool,
            ) {
                match (upper, unit) {
                    (false, false) => solve_lower_triangular_in_place(a, x, Par::Seq),
                    (false, true) => solve_unit_lower_triangular_in_place(a, x, Par::Seq),
                    (true, false) => solve_upper_triangular_in_place(a, x, Par::Seq),
                    (true, true) => solve_unit_upper_triangular_in_place(a, x, Par::Seq),
                }
            }
        })*
    };
}

factored!(f32, f64);
