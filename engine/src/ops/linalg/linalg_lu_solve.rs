//! `linalg_lu_solve`: systems whose matrices are factored.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{Half, mt, permutation, solve_left, taken, tril, triu, undone};
use super::{Sizes, operand};
use crate::cpu::linalg::lu_solve;
use crate::functional::{add, matmul, neg};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface,
};
use crate::{Attr, DType, Error, Metas, OpDef, Outputs, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_lu_solve",
    doc: "What A @ X = B is solved by, from the factors and pivots of A; with `adjoint` what A.T @ X = B is.",
    meaning: Meaning::defined(meaning, distance),
    params: &[
        Param::tensor("LU"),
        Param::tensor("pivots"),
        Param::tensor("B"),
        Param::with("adjoint", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| cx.shape(0).numel() * cx.shape(2).last().copied().unwrap_or(1),
        ..Kernel::new("linalg_lu_solve.blocked", run).composed_on_cuda(composed)
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgLuSolveBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "factors [..., n, n], pivots [..., n], sides [..., n, k]: [..., n, k]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_lu_solve(tensor([[4.0, 4.0], [0.25, 1.0]]), tensor([2, 2], dtype=torch.int32), tensor([[3.0], [8.0]]))",
            "tensor([[1.],\n        [1.]])",
        ),
        (
            "linalg_lu_solve(tensor([[4.0, 4.0], [0.25, 1.0]]), tensor([2, 2], dtype=torch.int32), tensor([[5.0], [6.0]]), adjoint=True)",
            "tensor([[1.],\n        [1.]])",
        ),
        (
            "linalg_lu_solve(tensor([[2.0]]), tensor([1], dtype=torch.int32), tensor([[6.0, 4.0]]))",
            "tensor([[3., 2.]])",
        ),
    ],
};

/// A from its factors and pivots.
fn whole(lu: &Matrix, pivots: &Matrix) -> Matrix {
    let pivots: Vec<i64> = pivots.iter().map(|it| *it as i64).collect();
    let [l, u] = exact::factors(lu);
    let (rows, product) = (exact::places(&pivots, lu.nrows()), l.dot(&u));
    let mut a = Matrix::zeros(product.dim());
    for (at, row) in rows.into_iter().enumerate() {
        a.row_mut(row).assign(&product.row(at));
    }
    a
}

fn systems(cx: &MeaningCx<'_>) -> Vec<(Matrix, Matrix)> {
    let pivots = exact::vectors(&cx.input(1).floats().into());
    let all = exact::matrices(cx.input(0)).into_iter().zip(pivots);
    let system = |(lu, pivots): (Matrix, Matrix)| {
        let a = whole(&lu, &pivots);
        if cx.flag(0) { a.t().to_owned() } else { a }
    };
    all.map(system).zip(exact::matrices(cx.input(2))).collect()
}

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., n, k] = cx.shape(2)[..] else { return Vec::new() };
    let all: Vec<Matrix> = systems(cx).iter().map(|(a, b)| exact::solved(a, b)).collect();
    vec![exact::stacked(cx, &all, [n, k], 2)]
}

fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = systems(cx).into_iter().zip(exact::matrices(&got[0]));
    all.map(|((a, b), x)| exact::unsolved(&a, &b, &x)).fold(0.0, f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let lu = Sizes::square(cx, 0)?;
    let b = lu.beside(cx, 2)?;
    if cx.dtype(1) != DType::I32 {
        let (op, dtype) = (cx.op.name, cx.dtype(1));
        return Err(Error::DType { op, dtype, allowed: "int32 as pivots" });
    }
    if b.rows != lu.rows || cx.shape(1)[..] != lu.each(&[lu.rows]).shape[..] {
        return Err(cx.bad_shapes("factors, pivots and right-hand sides have as many rows"));
    }
    Ok(smallvec![b.each(&[b.rows, b.columns])])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (pivots, adjoint) = (cx.inputs[1].to_slice::<i32>(), cx.flag(0));
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (lu, b) = (operand::<T>(cx, 0), operand::<T>(cx, 2));
        Ok(lu_solve([&lu, &b], &pivots, adjoint, cx.outputs[0].as_mut_slice())?)
    })
}

/// By two triangles and an order of rows.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (lu, b) = (cx.input(0)?, cx.input(2)?);
    let order = permutation(cx.input(1)?, lu.shape()[lu.rank() - 1])?;
    let x = match cx.flag(0) {
        false => {
            let half = solve_left(lu, &taken(b, &order)?, Half::UnitLower)?;
            solve_left(lu, &half, Half::Upper)?
        }
        true => {
            let half = solve_left(&mt(lu)?, b, Half::Lower)?;
            taken(&solve_left(&mt(lu)?, &half, Half::UnitUpper)?, &undone(&order)?)?
        }
    };
    Ok(smallvec![x])
}

/// With `A = P L U` and `W = U^-T dX`: `dU = -W X^T`, `dL = -(L^-T W) (U X)^T` and `dB = A^-T dX`. Of `A^T X = B` with
/// `Y = P^T X` and `V = L^-1 P^T dX`: `dL = -Y V^T`, `dU = -(L^T Y) (U^-1 V)^T` and `dB = A^-1 dX`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (lu, pivots, x, dx) = (cx.input(0), cx.input(1), cx.output(0), cx.output_grad()?);
    let adjoint = cx.flag(0);
    let db = || {
        let inputs = [lu.clone(), pivots.clone(), dx.clone()];
        apply_one(&OP, &inputs, &smallvec![Attr::Bool(!adjoint)])
    };
    let db = if cx.needs(2) { Some(db()?) } else { None };
    if !cx.needs(0) {
        return Ok(vec![None, None, db]);
    }
    let order = permutation(pivots, lu.shape()[lu.rank() - 1])?;
    let (du, dl) = match adjoint {
        false => {
            let w = solve_left(&mt(lu)?, &dx, Half::Lower)?;
            let z = matmul(&triu(lu, 0)?, x)?;
            let beside = solve_left(&mt(lu)?, &w, Half::UnitUpper)?;
            (matmul(&w, &mt(x)?)?, matmul(&beside, &mt(&z)?)?)
        }
        true => {
            let (y, dy) = (taken(x, &order)?, taken(&dx, &order)?);
            let v = solve_left(lu, &dy, Half::UnitLower)?;
            let above = add(&y, &matmul(&mt(&tril(lu, -1)?)?, &y)?)?;
            let w = solve_left(lu, &v, Half::Upper)?;
            (matmul(&above, &mt(&w)?)?, matmul(&y, &mt(&v)?)?)
        }
    };
    let both = neg(&add(&triu(&du, 0)?, &tril(&dl, -1)?)?)?;
    Ok(vec![Some(both), None, db])
}
