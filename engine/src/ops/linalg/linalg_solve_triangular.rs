//! `linalg_solve_triangular`: systems whose matrices are triangular.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{mt, tril, triu};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::{Triangle, solve_triangular};
use crate::functional::{matmul, neg};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Metas, OpDef, Result, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_solve_triangular",
    doc: "The X with A @ X = B, or X @ A = B without `left`, where A is triangular: its other half is not read, nor with `unitriangular` its diagonal, which counts as 1.",
    meaning: Meaning::defined(meaning, distance),
    params: &[
        Param::tensor("A"),
        Param::tensor("B"),
        Param::required("upper", ParamKind::Bool),
        Param::with("left", ParamKind::Bool, Default::Bool(true)),
        Param::with("unitriangular", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 1),
        ..Kernel::new("linalg_solve_triangular.blocked", run).on_cuda(cuda::solve_triangular)
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgSolveTriangularBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., n, n], sides [..., n, k]: [..., n, k]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_solve_triangular(tensor([[2.0, 9.0], [1.0, 4.0]]), tensor([[2.0], [9.0]]), upper=False)",
            "tensor([[1.],\n        [2.]])",
        ),
        (
            "linalg_solve_triangular(tensor([[2.0, 1.0], [9.0, 4.0]]), tensor([[2.0, 9.0]]), upper=True, left=False)",
            "tensor([[1., 2.]])",
        ),
        (
            "linalg_solve_triangular(tensor([[5.0, 1.0], [9.0, 5.0]]), tensor([[3.0], [2.0]]), upper=True, unitriangular=True)",
            "tensor([[1.],\n        [2.]])",
        ),
    ],
};

/// What is read of a matrix.
fn read(cx: &MeaningCx<'_>, a: &Matrix) -> Matrix {
    let lower = if cx.flag(0) { a.t().to_owned() } else { a.clone() };
    let read = match cx.flag(2) {
        true => exact::lower(&lower, -1) + Matrix::eye(a.nrows()),
        false => exact::lower(&lower, 0),
    };
    if cx.flag(0) { read.t().to_owned() } else { read }
}

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., n, k] = cx.shape(1)[..] else { return Vec::new() };
    let systems = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(cx.input(1)));
    let one = |(a, b): (Matrix, Matrix)| match cx.flag(1) {
        true => exact::by_triangle(&read(cx, &a), &b, cx.flag(0)),
        false => {
            let (a, b) = (read(cx, &a).t().to_owned(), b.t().to_owned());
            exact::by_triangle(&a, &b, !cx.flag(0)).t().to_owned()
        }
    };
    vec![exact::stacked(cx, &systems.map(one).collect::<Vec<_>>(), [n, k], 2)]
}

fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let systems = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(cx.input(1)));
    let one = |((a, b), x): ((Matrix, Matrix), Matrix)| match cx.flag(1) {
        true => exact::unsolved(&read(cx, &a), &b, &x),
        false => {
            let [a, b, x] = [read(cx, &a), b, x].map(|it| it.t().to_owned());
            exact::unsolved(&a, &b, &x)
        }
    };
    systems.zip(exact::matrices(&got[0])).map(one).fold(0.0, f64::max)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    let b = a.beside(cx, 1)?;
    match a.rows == if cx.flag(1) { b.rows } else { b.columns } {
        true => Ok(smallvec![b.each(&[b.rows, b.columns])]),
        false => Err(cx.bad_shapes("matrices and right-hand sides have as many rows")),
    }
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let of = Triangle { upper: cx.flag(0), left: cx.flag(1), unit: cx.flag(2) };
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let (a, b) = (operand::<T>(cx, 0), operand::<T>(cx, 1));
        Ok(solve_triangular([&a, &b], of, cx.outputs[0].as_mut_slice())?)
    })
}

/// `dB = A^-T dX`, `dA = -dB X^T`, or `dB = dX A^-T`, `dA = -X^T dB`, of which the triangle counts that is read.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (upper, left, unit) = (cx.flag(0), cx.flag(1), cx.flag(2));
    let attrs = smallvec![Attr::Bool(!upper), Attr::Bool(left), Attr::Bool(unit)];
    let x = cx.output(0);
    let db = apply_one(&OP, &[mt(cx.input(0))?, cx.output_grad()?], &attrs)?;
    if !cx.needs(0) {
        return Ok(vec![None, Some(db)]);
    }
    let da = if left { matmul(&db, &mt(x)?)? } else { matmul(&mt(x)?, &db)? };
    let from = i64::from(unit);
    let da = neg(&if upper { triu(&da, from)? } else { tril(&da, -from)? })?;
    Ok(vec![Some(da), Some(db)])
}
