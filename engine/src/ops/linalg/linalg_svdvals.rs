//! `linalg_svdvals`: singular values.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::results;
use super::linalg_svd::{self, gradient};
use super::{Sizes, flops, operand};
use crate::cpu::linalg::svd;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, Saves,
    Surface,
};
use crate::{Attr, Metas, OpDef, Outputs, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_svdvals",
    doc: "Descending singular values of matrices; then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A")],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 4),
        ..Kernel::new("linalg_svdvals.bidiagonal", run).composed_on_cuda(composed)
    }]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|_| "LinalgSvdBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "matrices [..., m, n]: [..., min(m, n)] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_svdvals(tensor([[0.0, 2.0], [3.0, 0.0]]))",
            "(tensor([3., 2.]), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_svdvals(tensor([[3.0, 4.0]]))[0]", "tensor([5.])"),
        ("linalg_svdvals(tensor([[1.0, 1.0], [1.0, 1.0]]))[0].round()", "tensor([2., 0.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let [.., m, n] = cx.shape(0)[..] else { return Vec::new() };
    let values = |it: &Matrix| exact::column(&exact::svd(it).1);
    let all: Vec<Matrix> = exact::matrices(cx.input(0)).iter().map(values).collect();
    vec![exact::stacked(cx, &all, [m.min(n), 1], 1), exact::counts(cx, &vec![0; all.len()])]
}

fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = exact::matrices(cx.input(0)).into_iter().zip(exact::vectors(&got[0]));
    let one = |(a, values): (Matrix, Matrix)| {
        exact::far(&values, &exact::column(&exact::svd(&a).1), exact::size(&a))
    };
    exact::any_failed(&got[1]).max(all.map(one).fold(0.0, f64::max))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let a = Sizes::of(cx, 0)?;
    Ok(smallvec![a.each(&[a.least()]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [values, info] = cx.outputs else { return Ok(()) };
        Ok(svd(&a, values.as_mut_slice(), None, info.as_mut_slice())?)
    })
}

/// All of the decomposition.
fn whole(a: &Tensor) -> Result<Outputs> {
    results(&linalg_svd::OP, std::slice::from_ref(a), &smallvec![Attr::Bool(false)])
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let found = whole(cx.input(0)?)?;
    Ok(smallvec![found[1].clone(), found[3].clone()])
}

/// By the vectors, which are computed for it.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let found = whole(cx.input(0))?;
    let slopes = [None, cx.output_grad_of(0)?, None];
    Ok(vec![gradient(&found[0], &found[1], &found[2], slopes)?])
}
