//! Factors of matrices, and what is solved with them. The functions of `torch.linalg` stand on these rows, which nobody else calls: they
//! tell in `info` what those make errors of.

use crate::cpu::linalg::Matrices;
use crate::op::{InferCx, KernelCx};
use crate::{DType, Error, Meta, OpDef, Result, Shape};

mod cuda;
mod exact;
mod in_ops;
pub mod linalg_cholesky_ex;
pub mod linalg_det;
pub mod linalg_eig;
pub mod linalg_eigh;
pub mod linalg_eigvals;
pub mod linalg_eigvalsh;
pub mod linalg_lu_factor_ex;
pub mod linalg_lu_solve;
pub mod linalg_qr;
pub mod linalg_solve_ex;
pub mod linalg_solve_triangular;
pub mod linalg_svd;
pub mod linalg_svdvals;
pub mod lu_permutation;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &linalg_cholesky_ex::OP,
    &linalg_det::OP,
    &linalg_eig::OP,
    &linalg_eigh::OP,
    &linalg_eigvals::OP,
    &linalg_eigvalsh::OP,
    &linalg_lu_factor_ex::OP,
    &linalg_lu_solve::OP,
    &linalg_qr::OP,
    &linalg_solve_ex::OP,
    &linalg_solve_triangular::OP,
    &linalg_svd::OP,
    &linalg_svdvals::OP,
    &lu_permutation::OP,
];

/// What is known of the matrices of an operand.
struct Sizes {
    /// How many there are.
    lead: Shape,
    rows: usize,
    columns: usize,
    dtype: DType,
}

impl Sizes {
    /// Of operand `idx`, whose elements are float32 or float64.
    fn of(cx: &InferCx<'_>, idx: usize) -> Result<Self> {
        let (shape, dtype) = (cx.shape(idx), cx.dtype(idx));
        if !dtype.is_full_float() {
            return Err(Error::DType { op: cx.op.name, dtype, allowed: "float32 or float64" });
        }
        let [lead @ .., rows, columns] = &shape[..] else {
            return Err(cx.bad_shapes("matrices have at least two dimensions"));
        };
        Ok(Self { lead: Shape::new(lead), rows: *rows, columns: *columns, dtype })
    }

    /// As [`of`](Self::of), of square matrices.
    fn square(cx: &InferCx<'_>, idx: usize) -> Result<Self> {
        let found = Self::of(cx, idx)?;
        match found.rows == found.columns {
            true => Ok(found),
            false => Err(cx.bad_shapes("the matrices are square")),
        }
    }

    /// Operand `idx`, whose matrices are as many.
    fn beside(&self, cx: &InferCx<'_>, idx: usize) -> Result<Self> {
        let found = Self::of(cx, idx)?;
        if found.dtype != self.dtype {
            let dtypes = vec![self.dtype, found.dtype];
            return Err(Error::DTypes { op: cx.op.name, dtypes });
        }
        match found.lead == self.lead {
            true => Ok(found),
            false => Err(cx.bad_shapes("there are as many matrices of each")),
        }
    }

    fn least(&self) -> usize {
        self.rows.min(self.columns)
    }

    /// A result of these sizes for each matrix, of the same dtype.
    fn each(&self, sizes: &[usize]) -> Meta {
        self.each_in(sizes, self.dtype)
    }

    fn each_in(&self, sizes: &[usize], dtype: DType) -> Meta {
        Meta::new(self.lead.iter().chain(sizes).copied().collect(), dtype)
    }

    /// Whether each succeeded.
    fn info(&self) -> Meta {
        self.each_in(&[], DType::I32)
    }
}

/// The matrices of operand `idx`.
fn operand<'b, T: crate::cpu::typed::Plain>(cx: &KernelCx<'_, 'b>, idx: usize) -> Matrices<'b, T> {
    Matrices::new(&cx.inputs[idx])
}

/// Multiplications and additions: so many for each row, column and pivot of operand 0.
fn flops(cx: &InferCx<'_>, each: usize) -> usize {
    match cx.shape(0)[..] {
        [.., rows, columns] => cx.shape(0).numel() * rows.min(columns) * each,
        _ => 0,
    }
}
