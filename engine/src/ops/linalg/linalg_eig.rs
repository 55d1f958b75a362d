//! `linalg_eig`: eigenvalues and eigenvectors of any square matrices.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::{diag_embed, diagonal, identity, mt, or_zeros, results, rows};
use super::{Sizes, cuda, flops, linalg_solve_ex, operand};
use crate::cpu::linalg::{Eigen, eigen};
use crate::functional::{add, cat, div, matmul, mul, neg, sub, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves, Surface,
};
use crate::{Attrs, Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_eig",
    doc: "Eigenvalues of square matrices, real parts and imaginary ones, and their vectors as columns, real parts and imaginary ones, each of length 1 with a largest element that is real and positive; then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 25),
        ..Kernel::new("linalg_eig.hessenberg", run).on_cuda(cuda::eig)
    }]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: Some(|_| "LinalgEigBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n]: twice [..., n], twice [..., n, n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_eig(tensor([[0.0, -2.0], [2.0, 0.0]]))[:2]",
            "(tensor([0., 0.]), tensor([ 2., -2.]))",
        ),
        (
            "linalg_eig(tensor([[2.0, 0.0], [0.0, 1.0]]))[:3]",
            "(tensor([2., 1.]), tensor([0., 0.]), tensor([[1., 0.],\n        [0., 1.]]))",
        ),
        (
            "linalg_eig(tensor([[-3.0]]))",
            "(tensor([-3.]), tensor([0.]), tensor([[1.]]), tensor([[0.]]), tensor(0, dtype=torch.int32))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let n = cx.shape(0)[cx.shape(0).len() - 1];
    let all: Vec<_> = exact::matrices(cx.input(0)).iter().map(exact::eig).collect();
    let values = |part: fn(&num_complex::Complex64) -> f64| {
        let one = |it: &Vec<_>| exact::column(&it.iter().map(part).collect::<Vec<f64>>());
        exact::stacked(cx, &all.iter().map(|it| one(&it.0)).collect::<Vec<_>>(), [n, 1], 1)
    };
    let vectors = |part: fn(&num_complex::Complex64) -> f64| {
        let all: Vec<Matrix> = all.iter().map(|it| it.1.map(part)).collect();
        exact::stacked(cx, &all, [n, n], 2)
    };
    let [re, im]: [fn(&num_complex::Complex64) -> f64; 2] = [|it| it.re, |it| it.im];
    vec![values(re), values(im), vectors(re), vectors(im), exact::counts(cx, &vec![0; all.len()])]
}

/// How far `A V` is from `V L`, and lengths from 1; the sum of values from the trace.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let values = exact::vectors(&got[0]).into_iter().zip(exact::vectors(&got[1]));
    let vectors = exact::matrices(&got[2]).into_iter().zip(exact::matrices(&got[3]));
    let all = exact::matrices(cx.input(0)).into_iter().zip(values).zip(vectors);
    type Pair = (Matrix, Matrix);
    let one = |((a, (x, y)), (re, im)): ((Matrix, Pair), Pair)| {
        let (x, y, size) = (x.t().to_owned(), y.t().to_owned(), exact::size(&a));
        let lengths = (&re * &re + &im * &im).sum_axis(ndarray::Axis(0));
        let ones = lengths.iter().fold(0.0_f64, |most, it| most.max((it - 1.0).abs()));
        ones.max(exact::far(&a.dot(&re), &(&re * &x - &im * &y), size))
            .max(exact::far(&a.dot(&im), &(&re * &y + &im * &x), size))
            .max((x.sum() - a.diag().sum()).abs() / size.max(f64::MIN_POSITIVE))
            .max(y.sum().abs() / size.max(f64::MIN_POSITIVE))
    };
    exact::any_failed(&got[4]).max(all.map(one).fold(0.0, f64::max))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    let (values, vectors) = (a.each(&[a.rows]), a.each(&[a.rows, a.rows]));
    Ok(smallvec![values.clone(), values, vectors.clone(), vectors, a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [x, y, re, im, info] = cx.outputs else { return Ok(()) };
        let found = Eigen {
            values: [x.as_mut_slice(), y.as_mut_slice()],
            vectors: Some([re.as_mut_slice(), im.as_mut_slice()]),
        };
        Ok(eigen(&a, found, info.as_mut_slice())?)
    })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let of = |at: usize| or_zeros(cx.output_grad_of(at)?, cx.output(at));
    let (values, dl) = ([cx.output(0).clone(), cx.output(1).clone()], [of(0)?, of(1)?]);
    let v = [cx.output(2).clone(), cx.output(3).clone()];
    let dv = match (cx.output_grad_of(2)?, cx.output_grad_of(3)?) {
        (None, None) => None,
        _ => Some([of(2)?, of(3)?]),
    };
    gradient(&values, &v, &dl, dv.as_ref()).map(|it| vec![Some(it)])
}

/// Complex numbers by their parts.
pub(super) type Parts = [Tensor; 2];

/// The real part of `V^-H (diag(dL) + (V^H dV - V^H V diag(Re(V^H dV))) / E) V^H` with `E_ij = conj(L_j - L_i)` and 1 on its diagonal
/// (Boeddeker et al. 2017, "On the computation of complex-valued gradients"; PyTorch, `linalg_eig_backward`). That vectors are turned so
/// that an element is real is not part of it.
pub(super) fn gradient(
    values: &Parts,
    v: &Parts,
    dl: &Parts,
    dv: Option<&Parts>,
) -> Result<Tensor> {
    let vh = [mt(&v[0])?, neg(&mt(&v[1])?)?];
    let mut inner = [diag_embed(&dl[0])?, diag_embed(&dl[1])?];
    if let Some(dv) = dv {
        let slopes = product(&vh, dv)?;
        let own = unsqueeze(&diagonal(&slopes[0])?, -2)?;
        let lengths = product(&vh, v)?;
        let off = |at: usize| sub(&slopes[at], &mul(&lengths[at], &own)?);
        let gap = |at: usize| sub(&unsqueeze(&values[at], -2)?, &unsqueeze(&values[at], -1)?);
        let one = identity(&slopes[0])?;
        let gaps = [add(&gap(0)?, &one)?, neg(&gap(1)?)?];
        let found = quotient(&[off(0)?, off(1)?], &gaps)?;
        for at in 0..2 {
            let off = sub(&found[at], &diag_embed(&diagonal(&found[at])?)?)?;
            inner[at] = add(&inner[at], &off)?;
        }
    }
    let right = product(&inner, &vh)?;
    // V^H X = right, of which the real part of X is wanted, as a system of twice the size.
    let n = v[0].shape()[v[0].rank() - 1];
    let system = cat(
        &[cat(&[vh[0].clone(), neg(&vh[1])?], -1)?, cat(&[vh[1].clone(), vh[0].clone()], -1)?],
        -2,
    )?;
    let sides = cat(&right, -2)?;
    let solved = results(&linalg_solve_ex::OP, &[system, sides], &Attrs::new())?;
    rows(&solved[0], 0, n)
}

fn product(a: &Parts, b: &Parts) -> Result<Parts> {
    let of = |x: usize, y: usize| matmul(&a[x], &b[y]);
    Ok([sub(&of(0, 0)?, &of(1, 1)?)?, add(&of(0, 1)?, &of(1, 0)?)?])
}

fn quotient(a: &Parts, b: &Parts) -> Result<Parts> {
    let size = add(&mul(&b[0], &b[0])?, &mul(&b[1], &b[1])?)?;
    let of = |x: usize, y: usize| mul(&a[x], &b[y]);
    let real = add(&of(0, 0)?, &of(1, 1)?)?;
    Ok([div(&real, &size)?, div(&sub(&of(1, 0)?, &of(0, 1)?)?, &size)?])
}
