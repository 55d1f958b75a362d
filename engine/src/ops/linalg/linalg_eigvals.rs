//! `linalg_eigvals`: eigenvalues of any square matrices.

use smallvec::smallvec;

use super::in_ops::{or_zeros, results};
use super::linalg_eig::{self, gradient};
use super::{Sizes, cuda, flops, operand};
use crate::cpu::linalg::{Eigen, eigen};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves, Surface,
};
use crate::{Attrs, Metas, OpDef, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_eigvals",
    doc: "Eigenvalues of square matrices, real parts and imaginary ones; then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 10),
        ..Kernel::new("linalg_eigvals.hessenberg", run).on_cuda(cuda::eig)
    }]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|_| "LinalgEigBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n]: twice [..., n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_eigvals(tensor([[0.0, -2.0], [2.0, 0.0]]))[:2]",
            "(tensor([0., 0.]), tensor([ 2., -2.]))",
        ),
        (
            "linalg_eigvals(tensor([[2.0, 0.0], [0.0, 1.0]]))",
            "(tensor([2., 1.]), tensor([0., 0.]), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_eigvals(tensor([[-3.0]]))[0]", "tensor([-3.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let Meaning::Defined(whole, _) = linalg_eig::OP.meaning else { return Vec::new() };
    let all = whole(cx);
    vec![all[0].clone(), all[1].clone(), all[4].clone()]
}

/// How far the sums of the values and of their squares are from the traces of the matrix and its square.
fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    use super::exact;
    let values = exact::vectors(&got[0]).into_iter().zip(exact::vectors(&got[1]));
    let all = exact::matrices(cx.input(0)).into_iter().zip(values);
    let one = |(a, (x, y)): (exact::Matrix, (exact::Matrix, exact::Matrix))| {
        let size = exact::size(&a).max(f64::MIN_POSITIVE);
        let (sum, squares) = (x.sum() - a.diag().sum(), (&x * &x - &y * &y).sum());
        let mixed = [y.sum() / size, (&x * &y).sum() / size / size];
        let far = [sum / size, (squares - a.dot(&a).diag().sum()) / size / size];
        far.into_iter().chain(mixed).fold(0.0_f64, |most, it| most.max(it.abs()))
    };
    exact::any_failed(&got[2]).max(all.map(one).fold(0.0, f64::max))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::square(cx, 0)?;
    Ok(smallvec![a.each(&[a.rows]), a.each(&[a.rows]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [x, y, info] = cx.outputs else { return Ok(()) };
        let values = [x.as_mut_slice(), y.as_mut_slice()];
        Ok(eigen(&a, Eigen { values, vectors: None }, info.as_mut_slice())?)
    })
}

/// By the vectors, which are computed for it.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let all = results(&linalg_eig::OP, std::slice::from_ref(cx.input(0)), &Attrs::new())?;
    let [x, y, re, im] = [0, 1, 2, 3].map(|it| all[it].clone());
    let of = |at: usize| or_zeros(cx.output_grad_of(at)?, &x);
    let slopes = [of(0)?, of(1)?];
    gradient(&[x, y], &[re, im], &slopes, None).map(|it| vec![Some(it)])
}
