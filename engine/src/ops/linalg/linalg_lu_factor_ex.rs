//! `linalg_lu_factor_ex`: Gauss' elimination with partial pivoting.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::lu_gradient;
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::lu;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves, Surface,
};
use crate::{DType, Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_lu_factor_ex",
    doc: "L below the diagonal, whose own is 1, and U from it on, with L @ U = A whose rows are exchanged; with which row, counted from 1, each was, in order; and the first place of the diagonal of U that is 0, counted from 1, or 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 1),
        ..Kernel::new("linalg_lu_factor_ex.blocked", run).on_cuda(cuda::lu)
    }]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: Some(|_| "LinalgLuFactorExBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., m, n], [..., min(m, n)] pivots and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_lu_factor_ex(tensor([[1.0, 2.0], [4.0, 4.0]]))",
            "(tensor([[4.0000, 4.0000],\n        [0.2500, 1.0000]]), tensor([2, 2], dtype=torch.int32), tensor(0, dtype=torch.int32))",
        ),
        (
            "linalg_lu_factor_ex(tensor([[0.0, 2.0], [0.0, 4.0]]))",
            "(tensor([[0., 2.],\n        [0., 4.]]), tensor([1, 2], dtype=torch.int32), tensor(1, dtype=torch.int32))",
        ),
        (
            "linalg_lu_factor_ex(tensor([[2.0, 1.0, 3.0]]))",
            "(tensor([[2., 1., 3.]]), tensor([1], dtype=torch.int32), tensor(0, dtype=torch.int32))",
        ),
    ],
};

pub(super) fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let all: Vec<_> = exact::matrices(cx.input(0)).iter().map(exact::lu).collect();
    let [.., m, n] = cx.shape(0)[..] else { return Vec::new() };
    let factors: Vec<Matrix> = all.iter().map(|it| it.0.clone()).collect();
    let pivots: Vec<Matrix> = all
        .iter()
        .map(|it| Matrix::from_shape_fn((it.1.len(), 1), |(row, _)| it.1[row] as f64))
        .collect();
    let firsts: Vec<i64> = factors.iter().map(exact::first_zero).collect();
    let pivots = exact::stacked(cx, &pivots, [m.min(n), 1], 1).to(DType::I32);
    vec![exact::stacked(cx, &factors, [m, n], 2), pivots, exact::counts(cx, &firsts)]
}

/// How far the product is from the operand; no factor is above 1.
pub(super) fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(&got[0]));
    let pivots = exact::vectors(&got[1].floats().into());
    let one = |(((a, lu), pivots), first): (((Matrix, Matrix), Matrix), i64)| {
        let pivots: Vec<i64> = pivots.iter().map(|it| *it as i64).collect();
        let [l, u] = exact::factors(&lu);
        let rows = exact::taken(&a, &exact::places(&pivots, a.nrows()));
        let is_told = first == exact::first_zero(&lu);
        let wrong = exact::far(&l.dot(&u), &rows, exact::size(&a)).max(exact::size(&l) - 1.0);
        if is_told { wrong } else { f64::INFINITY }
    };
    all.zip(pivots).zip(got[2].ints().iter().copied()).map(one).fold(0.0, f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::of(cx, 0)?;
    Ok(smallvec![a.each(&[a.rows, a.columns]), a.each_in(&[a.least()], DType::I32), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [factors, pivots, info] = cx.outputs else { return Ok(()) };
        Ok(lu(&a, factors.as_mut_slice(), pivots.as_mut_slice(), info.as_mut_slice())?)
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(lu_gradient(cx.output(0), cx.output(1), &cx.output_grad()?)?)])
}
