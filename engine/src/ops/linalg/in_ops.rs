//! What gradients of factors are made of, in ops.

use smallvec::smallvec;

use crate::functional::{
    add, argsort, div, eq, expand, full, gather, logical_and, matmul, matrix_transpose, mul, num,
    select_where, slice, sub, unsqueeze,
};
use crate::ops::{create, shape};
use crate::{Attr, DType, Result, Shape, Tensor, apply, apply_one};

pub(super) use crate::functional::matrix_transpose as mt;

/// The elements on and below a diagonal.
pub(super) fn tril(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    apply_one(&shape::tril::OP, std::slice::from_ref(x), &smallvec![Attr::Int(diagonal)])
}

/// The elements on and above a diagonal.
pub(super) fn triu(x: &Tensor, diagonal: i64) -> Result<Tensor> {
    apply_one(&shape::triu::OP, std::slice::from_ref(x), &smallvec![Attr::Int(diagonal)])
}

/// The diagonals of matrices.
pub(super) fn diagonal(x: &Tensor) -> Result<Tensor> {
    let attrs = smallvec![Attr::Int(0), Attr::Int(-2), Attr::Int(-1)];
    apply_one(&shape::diagonal::OP, std::slice::from_ref(x), &attrs)
}

/// Matrices with these diagonals.
pub(super) fn diag_embed(x: &Tensor) -> Result<Tensor> {
    let op = &shape::diag_embed::OP;
    apply_one(op, std::slice::from_ref(x), &op.default_attrs())
}

/// The identity of the size of square matrices.
pub(super) fn identity(x: &Tensor) -> Result<Tensor> {
    let n = x.shape().last().copied().unwrap_or(0) as i64;
    let attrs = smallvec![Attr::Int(n), Attr::None, Attr::DType(x.dtype())];
    apply_one(&create::eye::OP, &[], &attrs)
}

/// Rows or columns from `start` to `stop`.
pub(super) fn rows(x: &Tensor, start: usize, stop: usize) -> Result<Tensor> {
    slice(x, -2, start as i64, stop as i64, 1)
}

pub(super) fn columns(x: &Tensor, start: usize, stop: usize) -> Result<Tensor> {
    slice(x, -1, start as i64, stop as i64, 1)
}

/// A quotient; 0 where nothing is divided by 0.
pub(super) fn ratio_or_zero(above: &Tensor, below: &Tensor) -> Result<Tensor> {
    let is_zero = |it: &Tensor| eq(it, &num(0.0));
    let is_nothing = logical_and(&is_zero(above)?, &is_zero(below)?)?;
    let safe = select_where(&is_nothing, &num(1.0), below)?;
    select_where(&is_nothing, &num(0.0), &div(above, &safe)?)
}

/// The sum of those that are there.
pub(super) fn added(a: Option<Tensor>, b: Option<Tensor>) -> Result<Option<Tensor>> {
    match (a, b) {
        (Some(a), Some(b)) => add(&a, &b).map(Some),
        (a, b) => Ok(a.or(b)),
    }
}

/// The tensor, or zeros like another.
pub(super) fn or_zeros(x: Option<Tensor>, like: &Tensor) -> Result<Tensor> {
    x.map_or_else(|| full(like.shape(), 0.0, like.dtype()), Ok)
}

/// The rows of matrices in the order of `index` [..., n].
pub(super) fn taken(x: &Tensor, index: &Tensor) -> Result<Tensor> {
    let index = expand(&unsqueeze(index, -1)?, x.shape())?;
    gather(x, -2, &index)
}

/// Which row of `size` comes to each place by exchanges.
pub(super) fn permutation(pivots: &Tensor, size: usize) -> Result<Tensor> {
    let attrs = smallvec![Attr::Int(size as i64)];
    apply_one(&super::lu_permutation::OP, std::slice::from_ref(pivots), &attrs)
}

/// The order that undoes another.
pub(super) fn undone(index: &Tensor) -> Result<Tensor> {
    argsort(index, -1, false)
}

/// What is read of a triangular matrix.
#[derive(Clone, Copy)]
pub(super) enum Half {
    Lower,
    UnitLower,
    Upper,
    UnitUpper,
}

impl Half {
    fn attrs(self, left: bool) -> crate::Attrs {
        let (upper, unit) = match self {
            Self::Lower => (false, false),
            Self::UnitLower => (false, true),
            Self::Upper => (true, false),
            Self::UnitUpper => (true, true),
        };
        smallvec![Attr::Bool(upper), Attr::Bool(left), Attr::Bool(unit)]
    }
}

/// What `a @ x = b` is solved by for a triangular `a`.
pub(super) fn solve_left(a: &Tensor, b: &Tensor, half: Half) -> Result<Tensor> {
    apply_one(&super::linalg_solve_triangular::OP, &[a.clone(), b.clone()], &half.attrs(true))
}

/// What `x @ a = b` is solved by for a triangular `a`.
pub(super) fn solve_right(a: &Tensor, b: &Tensor, half: Half) -> Result<Tensor> {
    apply_one(&super::linalg_solve_triangular::OP, &[a.clone(), b.clone()], &half.attrs(false))
}

/// What `a.T @ x = b` is solved by, from the factors and pivots of `a`.
pub(super) fn lu_solve_transposed(lu: &Tensor, pivots: &Tensor, b: &Tensor) -> Result<Tensor> {
    let inputs = [lu.clone(), pivots.clone(), b.clone()];
    apply_one(&super::linalg_lu_solve::OP, &inputs, &smallvec![Attr::Bool(true)])
}

/// The gradient of a matrix with respect to which that of its factors is known: `d` of both in one matrix.
///
/// With `a = P @ L @ U` and square factors it is `P L^-T (tril(L^T dL, -1) + triu(dU U^T)) U^-T`. Of a matrix with more columns than rows
/// `tril` is of `L^T dL - dU2 U2^T` and the other columns get `P L^-T dU2`; with more rows than columns `triu` is of `dU U^T - L2^T dL2`
/// and the other rows get `dL2 U^-T` (PyTorch, `plu_backward_base`).
pub(super) fn lu_gradient(lu: &Tensor, pivots: &Tensor, d: &Tensor) -> Result<Tensor> {
    let (m, n) = (lu.shape()[lu.rank() - 2], lu.shape()[lu.rank() - 1]);
    let k = m.min(n);
    let square = rows(&columns(lu, 0, k)?, 0, k)?;
    let l = add(&tril(&square, -1)?, &identity(&square)?)?;
    let u = triu(&square, 0)?;
    let first = rows(&columns(d, 0, k)?, 0, k)?;
    let mut below = matmul(&mt(&l)?, &tril(&first, -1)?)?;
    let mut above = matmul(&triu(&first, 0)?, &mt(&u)?)?;
    let mut more = None;
    if n > m {
        let (u2, du2) = (columns(lu, m, n)?, columns(d, m, n)?);
        below = sub(&below, &matmul(&du2, &mt(&u2)?)?)?;
        more = Some(du2);
    }
    if m > n {
        let (l2, dl2) = (rows(lu, n, m)?, rows(d, n, m)?);
        above = sub(&above, &matmul(&mt(&l2)?, &dl2)?)?;
        more = Some(dl2);
    }
    let inner = add(&tril(&below, -1)?, &triu(&above, 0)?)?;
    let right = |it: &Tensor| solve_right(&mt(&u)?, it, Half::Lower);
    let left = |it: &Tensor| solve_left(&mt(&l)?, it, Half::UnitUpper);
    let inner = left(&right(&inner)?)?;
    let whole = match more {
        Some(du2) if n > m => crate::functional::cat(&[inner, left(&du2)?], -1)?,
        Some(dl2) => crate::functional::cat(&[inner, right(&dl2)?], -2)?,
        None => inner,
    };
    taken(&whole, &undone(&permutation(pivots, m)?)?)
}

/// Half of what is symmetric about a matrix by its lower triangle.
pub(super) fn mirrored(x: &Tensor) -> Result<Tensor> {
    let both = add(&tril(x, 0)?, &matrix_transpose(&tril(x, -1)?)?)?;
    mul(&both, &num(0.5))
}

/// The results of a row.
pub(super) fn results(
    op: &'static crate::OpDef,
    inputs: &[Tensor],
    attrs: &crate::Attrs,
) -> Result<crate::Outputs> {
    apply(op, inputs, attrs)
}

/// 1 or -1 for each matrix: whether an even number of rows was exchanged.
pub(super) fn parity(pivots: &Tensor, like: &Tensor) -> Result<Tensor> {
    let n = pivots.shape().last().copied().unwrap_or(0);
    let end = Attr::Int(n as i64 + 1);
    let attrs = smallvec![Attr::Int(1), end, Attr::Int(1), Attr::DType(DType::I32)];
    let own = apply_one(&create::arange::OP, &[], &attrs)?;
    let stays = eq(pivots, &expand(&own, pivots.shape())?)?;
    let one = |it: f64| full(&Shape::default(), it, like.dtype());
    let signs = select_where(&stays, &one(1.0)?, &one(-1.0)?)?;
    product(&signs)
}

/// The product along the last dimension.
pub(super) fn product(x: &Tensor) -> Result<Tensor> {
    let attrs = smallvec![Attr::ints(&[-1]), Attr::Bool(false), Attr::None];
    apply_one(&crate::ops::reduce::prod::OP, std::slice::from_ref(x), &attrs)
}
