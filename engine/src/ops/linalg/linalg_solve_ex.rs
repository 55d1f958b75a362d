//! `linalg_solve_ex`: systems of linear equations.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{added, lu_gradient, lu_solve_transposed, mt, results};
use super::{Sizes, flops, linalg_lu_factor_ex, linalg_lu_solve, operand};
use crate::cpu::linalg::solve;
use crate::functional::{matmul, neg};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves,
    Surface,
};
use crate::{Attr, Attrs, DType, Metas, OpDef, Outputs, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_solve_ex",
    doc: "The X with A @ X = B; then the factors of A, their pivots, and the first place of the diagonal of U that is 0, counted from 1, or 0. X is worthless where there is one.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A"), Param::tensor("B")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 3),
        ..Kernel::new("linalg_solve_ex.blocked", run).composed_on_cuda(composed)
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgSolveExBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., n, n], sides [..., n, k]: [..., n, k], factors, pivots and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_solve_ex(tensor([[1.0, 2.0], [4.0, 4.0]]), tensor([[3.0], [8.0]]))[0]",
            "tensor([[1.],\n        [1.]])",
        ),
        (
            "linalg_solve_ex(tensor([[2.0]]), tensor([[6.0, 4.0]]))",
            "(tensor([[3., 2.]]), tensor([[2.]]), tensor([1], dtype=torch.int32), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_solve_ex(tensor([[0.0]]), tensor([[6.0]]))[3]", "tensor(1, dtype=torch.int32)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., n, k] = cx.shape(1)[..] else { return Vec::new() };
    let systems = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(cx.input(1)));
    let all: Vec<Matrix> = systems.map(|(a, b)| exact::solved(&a, &b)).collect();
    let factors = linalg_lu_factor_ex::meaning(cx);
    std::iter::once(exact::stacked(cx, &all, [n, k], 2)).chain(factors).collect()
}

fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let systems = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(cx.input(1)));
    let all = systems
        .zip(exact::matrices(&got[0]))
        .zip(got[3].ints().iter().copied().collect::<Vec<_>>());
    let one = |(((a, b), x), first): (((Matrix, Matrix), Matrix), i64)| match first {
        0 => exact::unsolved(&a, &b, &x),
        _ => 0.0,
    };
    all.map(one).fold(linalg_lu_factor_ex::distance(cx, &got[1..]), f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    let b = a.beside(cx, 1)?;
    if a.rows != b.rows {
        return Err(cx.bad_shapes("matrices and right-hand sides have as many rows"));
    }
    Ok(smallvec![
        b.each(&[b.rows, b.columns]),
        a.each(&[a.rows, a.rows]),
        a.each_in(&[a.rows], DType::I32),
        a.info()
    ])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (a, b) = (operand::<T>(cx, 0), operand::<T>(cx, 1));
        let [x, factors, pivots, info] = cx.outputs else { return Ok(()) };
        let (x, factors) = (x.as_mut_slice(), factors.as_mut_slice());
        Ok(solve([&a, &b], x, factors, pivots.as_mut_slice(), info.as_mut_slice())?)
    })
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut found = results(&linalg_lu_factor_ex::OP, &[cx.input(0)?.clone()], &Attrs::new())?;
    let inputs = [found[0].clone(), found[1].clone(), cx.input(1)?.clone()];
    found.insert(0, apply_one(&linalg_lu_solve::OP, &inputs, &smallvec![Attr::Bool(false)])?);
    Ok(found)
}

/// `dB = A^-T dX`, `dA = -dB X^T`; by the factors, which are differentiable themselves.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (x, lu, pivots) = (cx.output(0), cx.output(1), cx.output(2));
    let db = cx.output_grad_of(0)?.map(|dx| lu_solve_transposed(lu, pivots, &dx)).transpose()?;
    let by_factors = cx.output_grad_of(1)?.map(|it| lu_gradient(lu, pivots, &it)).transpose()?;
    let by_solution = match &db {
        Some(db) if cx.needs(0) => Some(neg(&matmul(db, &mt(x)?)?)?),
        _ => None,
    };
    Ok(vec![added(by_solution, by_factors)?, db])
}
