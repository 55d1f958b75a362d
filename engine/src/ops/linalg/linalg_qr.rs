//! `linalg_qr`: factors by reflections.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{Half, columns, mt, or_zeros, solve_right, triu};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::{Orthogonal, qr};
use crate::functional::{add, cat, matmul, sub};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Attrs, Error, Meta, Metas, OpDef, Result, Shape, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_qr",
    doc: "Q with orthonormal columns and R upper triangular, with Q @ R = A and LAPACK's signs; Q is square with mode \"complete\", and empty with \"r\".",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A"), Param::with("mode", ParamKind::Str, Default::Str("reduced"))],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 3),
        ..Kernel::new("linalg_qr.blocked", run).on_cuda(cuda::qr)
    }]),
    grad: Grad::Rule(grad, Saves::Both),
    step: Some(|_| "LinalgQrBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., m, n]: [..., m, k] and [..., k, n]",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_qr(tensor([[3.0, 5.0], [4.0, 0.0]]))",
            "(tensor([[-0.6000, -0.8000],\n        [-0.8000,  0.6000]]), tensor([[-5., -3.],\n        [ 0., -4.]]))",
        ),
        ("linalg_qr(tensor([[3.0], [4.0]]), mode=\"r\")[1]", "tensor([[-5.]])"),
        (
            "linalg_qr(tensor([[3.0], [4.0]]), mode=\"complete\")",
            "(tensor([[-0.6000, -0.8000],\n        [-0.8000,  0.6000]]), tensor([[-5.],\n        [ 0.]]))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., m, n] = cx.shape(0)[..] else { return Vec::new() };
    let rows = if cx.word(0) == "complete" { m } else { m.min(n) };
    let all: Vec<[Matrix; 2]> = exact::matrices(cx.input(0)).iter().map(exact::qr).collect();
    let q: Vec<Matrix> =
        all.iter().map(|it| it[0].slice(ndarray::s![.., ..rows]).to_owned()).collect();
    let r: Vec<Matrix> =
        all.iter().map(|it| it[1].slice(ndarray::s![..rows, ..]).to_owned()).collect();
    let q = match cx.word(0) {
        "r" => ndarray::ArrayD::<f64>::zeros(vec![0]).into(),
        _ => exact::stacked(cx, &q, [m, rows], 2),
    };
    vec![q, exact::stacked(cx, &r, [rows, n], 2)]
}

/// Without Q: how far `R^T R` is from `A^T A`.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::matrices(&got[1]));
    let one = |((a, r), q): ((Matrix, Matrix), Option<Matrix>)| {
        let size = exact::size(&a);
        let below = exact::far(&exact::lower(&r, -1), &Matrix::zeros(r.dim()), size);
        let rest = match q {
            Some(q) => exact::askew(&q).max(exact::far(&q.dot(&r), &a, size)),
            None => exact::far(&r.t().dot(&r), &a.t().dot(&a), size * size * a.nrows() as f64),
        };
        below.max(rest)
    };
    match cx.word(0) {
        "r" => all.map(|it| one((it, None))).fold(0.0, f64::max),
        _ => {
            all.zip(exact::matrices(&got[0])).map(|(it, q)| one((it, Some(q)))).fold(0.0, f64::max)
        }
    }
}

fn wanted(op: &'static str, mode: &str) -> Result<Orthogonal> {
    match mode {
        "reduced" => Ok(Orthogonal::Reduced),
        "complete" => Ok(Orthogonal::Complete),
        "r" => Ok(Orthogonal::None),
        _ => {
            let problem = "is 'reduced', 'complete' or 'r'".into();
            Err(Error::Attr { op, name: "mode", problem })
        }
    }
}

fn word(attrs: &Attrs) -> &'static str {
    match attrs.first() {
        Some(Attr::Str(it)) => it,
        _ => "",
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::of(cx, 0)?;
    let wanted = wanted(cx.op.name, word(cx.attrs))?;
    let rows = if wanted == Orthogonal::Complete { a.rows } else { a.least() };
    let q = match wanted {
        Orthogonal::None => Meta::new(Shape::from([0]), a.dtype),
        _ => a.each(&[a.rows, rows]),
    };
    Ok(smallvec![q, a.each(&[rows, a.columns])])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let wanted = wanted(cx.op.name, word(cx.attrs))?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [q, r] = cx.outputs else { return Ok(()) };
        Ok(qr(&a, wanted, q.as_mut_slice(), r.as_mut_slice())?)
    })
}

/// Of a matrix with more columns than rows the first are square, A = [X Y], R = [U Q^T Y]: Y gets `Q dV`, and X what Q gets more by
/// `Y dV^T`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let a = cx.input(0);
    let (m, n) = (a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]);
    let reason = match word(cx.attrs) {
        "r" => Some("Q is not there with mode 'r'"),
        "complete" if m > n => Some("with mode 'complete' Q has columns that A does not determine"),
        _ => None,
    };
    if let Some(reason) = reason {
        return Err(Error::NoGradient { op: cx.op.name, reason });
    }
    let (q, r) = (cx.output(0), cx.output(1));
    let dq = or_zeros(cx.output_grad_of(0)?, q)?;
    let dr = or_zeros(cx.output_grad_of(1)?, r)?;
    if n <= m {
        return Ok(vec![Some(of_square(q, r, &dq, &dr)?)]);
    }
    let (y, dv) = (columns(a, m, n)?, columns(&dr, m, n)?);
    let dq = add(&dq, &matmul(&y, &mt(&dv)?)?)?;
    let dx = of_square(q, &columns(r, 0, m)?, &dq, &columns(&dr, 0, m)?)?;
    Ok(vec![Some(cat(&[dx, matmul(q, &dv)?], -1)?)])
}

/// `(dQ + Q copyltu(R dR^T - dQ^T Q)) R^-T` (Walter and Lehmann 2010, "Algorithmic differentiation of linear algebra functions").
fn of_square(q: &Tensor, r: &Tensor, dq: &Tensor, dr: &Tensor) -> Result<Tensor> {
    let inner = sub(&matmul(dr, &mt(r)?)?, &matmul(&mt(q)?, dq)?)?;
    let both = add(&triu(&inner, 0)?, &mt(&triu(&inner, 1)?)?)?;
    solve_right(&mt(r)?, &add(dq, &matmul(q, &both)?)?, Half::Lower)
}
