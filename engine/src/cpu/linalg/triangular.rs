//! Systems whose matrix is triangular.

use faer::dyn_stack::StackReq;
use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, for_each};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// What is read of a matrix, and on which side of the unknown it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    pub upper: bool,
    /// `a @ x = b`; else `x @ a = b`.
    pub left: bool,
    /// The diagonal counts as 1.
    pub unit: bool,
}

/// What `a @ x = b` is solved by, or `x @ a = b`.
///
/// # Panics
/// If the matrices are not square, or the results are not of the sizes of `b`.
pub fn solve_triangular<T: Real>(
    [a, b]: [&Matrices<'_, T>; 2],
    of: Triangle,
    x: &mut [T],
) -> Result<(), AllocError> {
    let ([n, columns], count, [rows, k]) = (a.size(), a.count(), b.size());
    let met = if of.left { rows } else { k };
    assert!(n == columns && n == met && count == b.count(), "systems with right-hand sides");
    let x = Results::new(x, count, rows * k);
    let flops = n * rows * k / 2;
    let needs = Needs { flops, elements: n * n, indices: 0, stack: StackReq::EMPTY };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let x = unsafe { x.of(at) };
        a.columns(at, scratch.elements);
        b.rows(at, x);
        let a = MatRef::from_column_major_slice(scratch.elements, n, n);
        let x = MatMut::from_row_major_slice_mut(x, rows, k);
        // x @ a = b is a.T @ x.T = b.T.
        let (a, x, upper) = match of.left {
            true => (a, x, of.upper),
            false => (a.transpose(), x.transpose_mut(), !of.upper),
        };
        T::solve_triangular(a, x, upper, of.unit);
    })
}
