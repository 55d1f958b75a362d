//! `linalg_cholesky_ex`: the triangular factors of symmetric positive-definite matrices.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{Half, mirrored, mt, solve_left, solve_right};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::cholesky;
use crate::functional::matmul;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_cholesky_ex",
    doc: "The lower triangular L with L @ L.T = A, of which the lower triangle is read; with `upper` L.T from the upper one. Then the order of the first leading minor that is not positive, or 0; L is not a number there.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A"), Param::with("upper", ParamKind::Bool, Default::Bool(false))],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 1),
        ..Kernel::new("linalg_cholesky_ex.blocked", run).on_cuda(cuda::cholesky)
    }]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: Some(|_| "LinalgCholeskyExBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_cholesky_ex(tensor([[4.0, 2.0], [2.0, 2.0]]))",
            "(tensor([[2., 0.],\n        [1., 1.]]), tensor(0, dtype=torch.int32))",
        ),
        (
            "linalg_cholesky_ex(tensor([[4.0, 2.0], [2.0, 2.0]]), upper=True)",
            "(tensor([[2., 1.],\n        [0., 1.]]), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_cholesky_ex(tensor([[9.0]]))", "(tensor([[3.]]), tensor(0, dtype=torch.int32))"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let upper = cx.flag(0);
    let read = |it: &Matrix| exact::symmetric(it, upper);
    let found: Vec<_> =
        exact::matrices(cx.input(0)).iter().map(|it| exact::cholesky(&read(it))).collect();
    let n = cx.shape(0)[cx.shape(0).len() - 1];
    let nothing = exact::lower(&Matrix::from_elem((n, n), f64::NAN), 0);
    let turned = |it: Matrix| if upper { it.t().to_owned() } else { it };
    let factor = |it: &std::result::Result<Matrix, (usize, f64)>| {
        turned(it.clone().unwrap_or_else(|_| nothing.clone()))
    };
    let factors: Vec<Matrix> = found.iter().map(factor).collect();
    let orders: Vec<i64> =
        found.iter().map(|it| it.as_ref().err().map_or(0, |it| it.0 as i64)).collect();
    vec![exact::stacked(cx, &factors, [n, n], 2), exact::counts(cx, &orders)]
}

/// Of a leading minor that is told not to be positive: how far it is above 0.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(&got[0]));
    let one = |((a, l), order): ((Matrix, Matrix), i64)| {
        let a = exact::symmetric(&a, cx.flag(0));
        let l = if cx.flag(0) { l.t().to_owned() } else { l };
        match order {
            0 => exact::far(&l, &exact::lower(&l, 0), 0.0).max(exact::far(
                &l.dot(&l.t()),
                &a,
                exact::size(&a),
            )),
            order => match exact::cholesky(&a) {
                Ok(l) => l[[order as usize - 1, order as usize - 1]].powi(2) / exact::size(&a),
                Err((first, _)) if first < order as usize => f64::INFINITY,
                Err(_) => 0.0,
            },
        }
    };
    all.zip(got[1].ints().iter().copied()).map(one).fold(0.0, f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    Ok(smallvec![a.each(&[a.rows, a.rows]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let upper = cx.flag(0);
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [l, info] = cx.outputs else { return Ok(()) };
        Ok(cholesky(&a, upper, l.as_mut_slice(), info.as_mut_slice())?)
    })
}

/// `L^-T S L^-1 / 2`, where S is symmetric with the lower triangle of `L^T dL` (Murray 2016, "Differentiation of the Cholesky
/// decomposition"). Both triangles get it, though one is read.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (l, dl) = (cx.output(0), cx.output_grad()?);
    let (l, dl) = if cx.flag(0) { (mt(l)?, mt(&dl)?) } else { (l.clone(), dl) };
    let inner = mirrored(&matmul(&mt(&l)?, &dl)?)?;
    let half = solve_left(&mt(&l)?, &inner, Half::Upper)?;
    Ok(vec![Some(solve_right(&l, &half, Half::Lower)?)])
}
