//! Factors of matrices and what is solved with them, of each matrix of a batch by itself. The algorithms are those of `faer`, on one
//! thread; matrices of a batch are spread over the pool.
//!
//! Operands lie in any layout, results in row-major order. A matrix of which the algorithm gives up is told in `info`, which is 0 else.

mod batch;
mod cholesky;
mod eigen;
mod lu;
mod orient;
mod qr;
mod svd;
mod symmetric;
mod triangular;

use numeric::matrices::Factored;

use super::number::Float;

pub use batch::Matrices;
pub use cholesky::cholesky;
pub use eigen::{Eigen, eigen};
pub use lu::{determinants, lu, lu_solve, permutations, solve};
pub use qr::{Orthogonal, qr};
pub use svd::{Svd, svd};
pub use symmetric::symmetric;
pub use triangular::{Triangle, solve_triangular};

/// Numbers that matrices are factored in: `f32`, `f64`.
pub trait Real: Float + Factored {
    /// The smallest number whose inverse is finite.
    const SMALLEST: Self;

    /// The power of two with this exponent, which it has.
    fn power_of_two(exponent: i32) -> Self;
}

impl Real for f32 {
    const SMALLEST: Self = f32::MIN_POSITIVE;

    fn power_of_two(exponent: i32) -> Self {
        (exponent.clamp(-126, 127) as f32).exp2()
    }
}

impl Real for f64 {
    const SMALLEST: Self = f64::MIN_POSITIVE;

    fn power_of_two(exponent: i32) -> Self {
        f64::from(exponent.clamp(-1022, 1023)).exp2()
    }
}
