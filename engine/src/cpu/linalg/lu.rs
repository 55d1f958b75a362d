//! Factors by Gauss' elimination with partial pivoting, and what is solved with them.

use faer::{MatMut, MatRef};

use super::batch::{Needs, Results, Scratch, by_rows, for_each};
use super::{Matrices, Real};
use crate::cpu::alloc::AllocError;

/// `l` below the diagonal, whose own is 1, and `u` from it on, where `a` with its rows exchanged is `l @ u`. Row `i` was exchanged with
/// row `pivots[i] - 1`, in order. `info` is the first place of the diagonal of `u`, counted from 1, that is 0.
///
/// # Panics
/// If the results are not of the sizes of the matrices.
pub fn lu<T: Real>(
    a: &Matrices<'_, T>,
    factors: &mut [T],
    pivots: &mut [i32],
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([m, n], count) = (a.size(), a.count());
    let (factors, info) = (Results::new(factors, count, m * n), Results::new(info, count, 1));
    let pivots = Results::new(pivots, count, m.min(n));
    for_each(count, &needs::<T>(m, n, m * n), &|at, mut scratch| {
        // SAFETY: each matrix is given once.
        let (out, pivots, info) = unsafe { (factors.of(at), pivots.of(at), info.of(at)) };
        info[0] = factored(a, at, &mut scratch, pivots);
        by_rows(&scratch.elements[..m * n], m, out);
    })
}

/// What `a @ x = b` is solved by, and the factors of [`lu`]; `x` is worthless where `info` is not 0.
///
/// # Panics
/// If the matrices are not square, or the results are not of their sizes.
pub fn solve<T: Real>(
    [a, b]: [&Matrices<'_, T>; 2],
    x: &mut [T],
    factors: &mut [T],
    pivots: &mut [i32],
    info: &mut [i32],
) -> Result<(), AllocError> {
    let ([n, columns], count, [rows, k]) = (a.size(), a.count(), b.size());
    assert!(n == columns && n == rows && count == b.count(), "systems with right-hand sides");
    let (factors, x) = (Results::new(factors, count, n * n), Results::new(x, count, n * k));
    let (pivots, info) = (Results::new(pivots, count, n), Results::new(info, count, 1));
    let mut needs = needs::<T>(n, n, n * n);
    needs.flops += n * n * k;
    for_each(count, &needs, &|at, mut scratch| {
        // SAFETY: each matrix is given once.
        let (out, x) = unsafe { (factors.of(at), x.of(at)) };
        // SAFETY: as above.
        let (pivots, info) = unsafe { (pivots.of(at), info.of(at)) };
        info[0] = factored(a, at, &mut scratch, pivots);
        let lu = &scratch.elements[..n * n];
        by_rows(lu, n, out);
        b.rows(at, x);
        exchange(x, k, pivots, false);
        let lu = MatRef::from_column_major_slice(lu, n, n);
        let mut x = MatMut::from_row_major_slice_mut(x, n, k);
        T::solve_triangular(lu, x.as_mut(), false, true);
        T::solve_triangular(lu, x, true, false);
    })
}

/// The determinants, and the factors of [`lu`].
///
/// # Panics
/// If the matrices are not square, or the results are not of their sizes.
pub fn determinants<T: Real>(
    a: &Matrices<'_, T>,
    found: &mut [T],
    factors: &mut [T],
    pivots: &mut [i32],
) -> Result<(), AllocError> {
    let ([n, columns], count) = (a.size(), a.count());
    assert!(n == columns, "square matrices");
    let (factors, pivots) = (Results::new(factors, count, n * n), Results::new(pivots, count, n));
    let found = Results::new(found, count, 1);
    for_each(count, &needs::<T>(n, n, n * n), &|at, mut scratch| {
        // SAFETY: each matrix is given once.
        let (out, pivots, found) = unsafe { (factors.of(at), pivots.of(at), found.of(at)) };
        factored(a, at, &mut scratch, pivots);
        let lu = &scratch.elements[..n * n];
        by_rows(lu, n, out);
        let n_exchanges = (1..).zip(&*pivots).filter(|(row, pivot)| row != *pivot).count();
        let sign = if n_exchanges % 2 == 0 { T::ONE } else { T::ZERO - T::ONE };
        found[0] = (0..n).fold(sign, |product, it| product * lu[it * n + it]);
    })
}

/// What `a @ x = b` is solved by, from the factors and pivots of `a`; with `adjoint` what `a.T @ x = b` is.
///
/// # Panics
/// If the matrices are not square, or the results are not of the sizes of `b`.
pub fn lu_solve<T: Real>(
    [factors, b]: [&Matrices<'_, T>; 2],
    pivots: &[i32],
    adjoint: bool,
    x: &mut [T],
) -> Result<(), AllocError> {
    let ([n, columns], count, [rows, k]) = (factors.size(), factors.count(), b.size());
    assert!(n == columns && n == rows && count == b.count(), "factors with right-hand sides");
    assert!(pivots.len() == count * n, "as many pivots as rows");
    let x = Results::new(x, count, n * k);
    let stack = faer::dyn_stack::StackReq::EMPTY;
    let needs = Needs { flops: n * n * k, elements: n * n, indices: 0, stack };
    for_each(count, &needs, &|at, scratch| {
        // SAFETY: each matrix is given once.
        let x = unsafe { x.of(at) };
        let pivots = &pivots[at * n..(at + 1) * n];
        factors.columns(at, scratch.elements);
        b.rows(at, x);
        let lu = MatRef::from_column_major_slice(scratch.elements, n, n);
        if !adjoint {
            exchange(x, k, pivots, false);
        }
        let mut solved = MatMut::from_row_major_slice_mut(&mut *x, n, k);
        match adjoint {
            false => {
                T::solve_triangular(lu, solved.as_mut(), false, true);
                T::solve_triangular(lu, solved, true, false);
            }
            true => {
                T::solve_triangular(lu.transpose(), solved.as_mut(), false, false);
                T::solve_triangular(lu.transpose(), solved, true, true);
            }
        }
        if adjoint {
            exchange(x, k, pivots, true);
        }
    })
}

/// For each list of pivots, which row of `size` comes to each place by exchanging row `i` with row `pivots[i] - 1`, in order. Those outside
/// exchange nothing.
pub fn permutations(pivots: &[i32], each: usize, size: usize, places: &mut [i64]) {
    for (at, places) in places.chunks_exact_mut(size.max(1)).enumerate() {
        places.iter_mut().zip(0..).for_each(|(place, row)| *place = row);
        for (row, pivot) in pivots[at * each..(at + 1) * each].iter().enumerate() {
            let other = (*pivot as usize).wrapping_sub(1);
            if row < size && other < size {
                places.swap(row, other);
            }
        }
    }
}

fn needs<T: Real>(m: usize, n: usize, elements: usize) -> Needs {
    let size = m.min(n);
    let stack = T::lu_scratch(m, n);
    Needs { flops: m * n * size / 3, elements, indices: 4 * m, stack }
}

/// Factors matrix `at` in the scratch, column by column; gives `info`.
fn factored<T: Real>(
    a: &Matrices<'_, T>,
    at: usize,
    scratch: &mut Scratch<'_, T>,
    pivots: &mut [i32],
) -> i32 {
    let [m, n] = a.size();
    let elements = &mut scratch.elements[..m * n];
    a.columns(at, elements);
    let (perm, rest) = scratch.indices.split_at_mut(m);
    let (inverse, rest) = rest.split_at_mut(m);
    let matrix = MatMut::from_column_major_slice_mut(elements, m, n);
    T::lu(matrix, [perm, inverse], scratch.stack);
    exchanges(perm, rest, pivots);
    let is_safe = |it: usize| elements[it * m + it].to_f64().abs() >= T::SMALLEST.to_f64();
    if !(0..m.min(n)).all(is_safe) {
        a.columns(at, elements);
        plainly(elements, m, pivots);
    }
    let failed = (0..m.min(n)).find(|it| elements[it * m + it] == T::ZERO);
    failed.map_or(0, |it| it as i32 + 1)
}

/// The exchanges of rows, one after the other, that bring row `perm[i]` to place `i`.
fn exchanges(perm: &[u32], scratch: &mut [u32], pivots: &mut [i32]) {
    let (row_at, place_of) = scratch.split_at_mut(perm.len());
    for (idx, (row, place)) in row_at.iter_mut().zip(&mut *place_of).enumerate() {
        (*row, *place) = (idx as u32, idx as u32);
    }
    for (idx, pivot) in pivots.iter_mut().enumerate() {
        let place = place_of[perm[idx] as usize] as usize;
        *pivot = place as i32 + 1;
        row_at.swap(idx, place);
        place_of[row_at[idx] as usize] = idx as u32;
        place_of[row_at[place] as usize] = place as u32;
    }
}

/// The elimination column by column, which goes on where a pivot is 0 or too small for its inverse, as LAPACK's does.
fn plainly<T: Real>(columns: &mut [T], m: usize, pivots: &mut [i32]) {
    let size = |it: T| it.to_f64().abs();
    for step in 0..pivots.len() {
        let (done, rest) = columns.split_at_mut((step + 1) * m);
        let column = &mut done[step * m..];
        let mut pivot = step;
        for row in step + 1..m {
            if size(column[row]) > size(column[pivot]) {
                pivot = row;
            }
        }
        pivots[step] = pivot as i32 + 1;
        column.swap(step, pivot);
        done[..step * m].chunks_exact_mut(m).for_each(|it| it.swap(step, pivot));
        let column = &mut done[step * m..];
        let head = column[step];
        if head != T::ZERO {
            column[step + 1..].iter_mut().for_each(|it| *it /= head);
        }
        for other in rest.chunks_exact_mut(m) {
            other.swap(step, pivot);
            let factor = other[step];
            let pairs = other[step + 1..].iter_mut().zip(&column[step + 1..]);
            pairs.for_each(|(it, below)| *it -= factor * *below);
        }
    }
}

/// Exchanges row `i` of `k` elements with row `pivots[i] - 1`, in order or `back` from the last.
fn exchange<T: Real>(rows: &mut [T], k: usize, pivots: &[i32], back: bool) {
    let n = pivots.len();
    for step in 0..n {
        let row = if back { n - 1 - step } else { step };
        let other = (pivots[row] as usize).wrapping_sub(1);
        if other < n && other != row {
            let (first, second) = (row.min(other), row.max(other));
            let (upper, lower) = rows.split_at_mut(second * k);
            upper[first * k..][..k].swap_with_slice(&mut lower[..k]);
        }
    }
}
