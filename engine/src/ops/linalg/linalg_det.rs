//! `linalg_det`: determinants.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{
    added, diag_embed, diagonal, lu_gradient, lu_solve_transposed, parity, product, results,
};
use super::{Sizes, flops, linalg_lu_factor_ex, operand};
use crate::cpu::linalg::determinants;
use crate::functional::{add, cat, eq, expand, mul, neg, num, select_where, slice, to, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves,
    Surface,
};
use crate::{Attrs, DType, Metas, OpDef, Outputs, Result, Tensor, tape, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_det",
    doc: "The determinants of square matrices; then their factors L and U in one matrix, and their pivots.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 1),
        ..Kernel::new("linalg_det.blocked", run).composed_on_cuda(composed)
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgDetBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n]: a number for each, factors and pivots",
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Det", 11, &[]),
    aliases: &[],
    examples: &[
        ("linalg_det(tensor([[1.0, 2.0], [4.0, 4.0]]))[0]", "tensor(-4.)"),
        ("linalg_det(tensor([[1.0, 2.0], [2.0, 4.0]]))[0]", "tensor(0.)"),
        ("linalg_det(zeros(0, 0))[0]", "tensor(1.)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let all: Vec<Matrix> = exact::matrices(cx.input(0)).iter().map(determinant).collect();
    let mut found = linalg_lu_factor_ex::meaning(cx);
    found.truncate(2);
    found.insert(0, exact::stacked(cx, &all, [1, 1], 0));
    found
}

fn determinant(a: &Matrix) -> Matrix {
    let (lu, pivots) = exact::lu(a);
    let exchanged = |(row, pivot): (i64, &i64)| if row == *pivot { 1.0 } else { -1.0 };
    let sign = (1..).zip(&pivots).map(exchanged).product::<f64>();
    Matrix::from_elem((1, 1), sign * lu.diag().product())
}

/// As a share of the product of the lengths of rows, which is the largest that the determinant can be.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::numbers(&got[0]));
    let one = |(a, det): (Matrix, f64)| {
        let most = a.outer_iter().map(|row| row.dot(&row).sqrt()).product::<f64>();
        exact::far(&Matrix::from_elem((1, 1), det), &determinant(&a), most)
    };
    let factors = exact::matrices(&got[1]);
    let firsts: Vec<i64> = factors.iter().map(exact::first_zero).collect();
    let parts = [got[1].clone(), got[2].clone(), exact::counts(cx, &firsts)];
    all.map(one).fold(linalg_lu_factor_ex::distance(cx, &parts), f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    Ok(smallvec![a.each(&[]), a.each(&[a.rows, a.rows]), a.each_in(&[a.rows], DType::I32)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [found, factors, pivots] = cx.outputs else { return Ok(()) };
        let (found, factors) = (found.as_mut_slice(), factors.as_mut_slice());
        Ok(determinants(&a, found, factors, pivots.as_mut_slice())?)
    })
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut found = results(&linalg_lu_factor_ex::OP, &[cx.input(0)?.clone()], &Attrs::new())?;
    found.truncate(2);
    let sign = parity(&found[1], &found[0])?;
    found.insert(0, mul(&sign, &product(&diagonal(&found[0])?)?)?);
    Ok(found)
}

/// Rows of the largest matrices whose cofactors are computed one by one where they are differentiated again.
const MOST_COFACTORS: usize = 4;

/// `d det(A) A^-T`, by the factors. A pivot that is 0 counts as a very small one: so the adjugate of a singular matrix comes out. That has
/// no derivative there; where one is wanted, small matrices get the adjugate as it is defined.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (lu, pivots) = (cx.output(1), cx.output(2));
    let by_factors = cx.output_grad_of(1)?.map(|it| lu_gradient(lu, pivots, &it)).transpose()?;
    let Some(dy) = cx.output_grad_of(0)? else { return Ok(vec![by_factors]) };
    let n = lu.shape()[lu.rank() - 1];
    if tape::enabled() && n <= MOST_COFACTORS {
        let dy = unsqueeze(&unsqueeze(&dy, -1)?, -1)?;
        return Ok(vec![added(Some(mul(&dy, &cofactors(cx.input(0), n)?)?), by_factors)?]);
    }
    let tiny = if lu.dtype() == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let on_diagonal = diagonal(lu)?;
    let more = select_where(&eq(&on_diagonal, &num(0.0))?, &num(tiny), &num(0.0))?;
    let more = to(&more, lu.dtype())?;
    let det = mul(&parity(pivots, lu)?, &product(&add(&on_diagonal, &more)?)?)?;
    let each = expand(&unsqueeze(&mul(&dy, &det)?, -1)?, on_diagonal.shape())?;
    let safe = add(lu, &diag_embed(&more)?)?;
    let found = lu_solve_transposed(&safe, pivots, &diag_embed(&each)?)?;
    Ok(vec![added(Some(found), by_factors)?])
}

/// For each element of square matrices the determinant of what is left without its row and column, with a minus in turns.
fn cofactors(a: &Tensor, n: usize) -> Result<Tensor> {
    if n == 0 {
        return Ok(a.clone());
    }
    let minors = each_without(&each_without(a, -2, n)?, -1, n)?;
    let minors = results(&OP, &[minors], &Attrs::new())?.swap_remove(0);
    in_turns(&in_turns(&minors, -2, n)?, -1, n)
}

/// With a minus at every other place of a dimension.
fn in_turns(x: &Tensor, dim: i64, n: usize) -> Result<Tensor> {
    let one = |at: i64| {
        let part = slice(x, dim, at, at + 1, 1)?;
        if at % 2 == 0 { Ok(part) } else { neg(&part) }
    };
    cat(&(0..n as i64).map(one).collect::<Result<Vec<_>>>()?, dim)
}

/// For each row (or column) of matrices what is left without it, one beside the other before the last two dimensions.
fn each_without(a: &Tensor, dim: i64, n: usize) -> Result<Tensor> {
    let n = n as i64;
    let one = |at: i64| {
        let parts = [slice(a, dim, 0, at, 1)?, slice(a, dim, at + 1, n, 1)?];
        unsqueeze(&cat(&parts, dim)?, -3)
    };
    cat(&(0..n).map(one).collect::<Result<Vec<_>>>()?, -3)
}
