//! `linalg_eigvalsh`: eigenvalues of symmetric matrices.

use smallvec::smallvec;

use super::exact::{self, Matrix};
use super::in_ops::results;
use super::linalg_eigh::{self, gradient, is_upper, read};
use super::{Sizes, flops, operand};
use crate::cpu::linalg::symmetric;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param,
    ParamKind, Saves, Surface,
};
use crate::{Metas, OpDef, Outputs, Result, Tensor, with_float};

pub static OP: OpDef = OpDef {
    name: "linalg_eigvalsh",
    doc: "Ascending eigenvalues of symmetric matrices, of which one triangle is read; then 1 where they were not found, else 0.",
    meaning: Meaning::defined(meaning, distance),
    params: &[Param::tensor("A"), Param::with("UPLO", ParamKind::Str, Default::Str("L"))],
    dtypes: DTypeRule::SameFloats,
    infer,
    body: Body::Kernels(&[Kernel {
        flops: |cx| flops(cx, 2),
        ..Kernel::new("linalg_eigvalsh.tridiagonal", run).composed_on_cuda(composed)
    }]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|_| "LinalgEighBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "square matrices [..., n, n]: [..., n] and a number for each",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "linalg_eigvalsh(tensor([[2.0, 9.0], [1.0, 2.0]]))",
            "(tensor([1., 3.]), tensor(0, dtype=torch.int32))",
        ),
        ("linalg_eigvalsh(tensor([[2.0, 1.0], [9.0, 2.0]]), UPLO=\"U\")[0]", "tensor([1., 3.])"),
        ("linalg_eigvalsh(tensor([[-5.0]]))[0]", "tensor([-5.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let n = cx.shape(0)[cx.shape(0).len() - 1];
    let all: Vec<Matrix> = read(cx).iter().map(|it| exact::column(&exact::eigh(it).0)).collect();
    vec![exact::stacked(cx, &all, [n, 1], 1), exact::counts(cx, &vec![0; all.len()])]
}

fn distance(cx: &MeaningCx<'_>, got: &[Array]) -> f64 {
    let all = read(cx).into_iter().zip(exact::vectors(&got[0]));
    let one = |(a, values): (Matrix, Matrix)| {
        exact::far(&values, &exact::column(&exact::eigh(&a).0), exact::size(&a))
    };
    exact::any_failed(&got[1]).max(all.map(one).fold(0.0, f64::max))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    is_upper(cx.op.name, cx.attrs)?;
    let a = Sizes::square(cx, 0)?;
    Ok(smallvec![a.each(&[a.rows]), a.info()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let upper = is_upper(cx.op.name, cx.attrs)?;
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let a = operand::<T>(cx, 0);
        let [values, info] = cx.outputs else { return Ok(()) };
        Ok(symmetric(&a, upper, values.as_mut_slice(), None, info.as_mut_slice())?)
    })
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut found = results(&linalg_eigh::OP, &[cx.input(0)?.clone()], cx.attrs)?;
    found.remove(1);
    Ok(found)
}

/// By the vectors, which are computed for it.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let found = results(&linalg_eigh::OP, std::slice::from_ref(cx.input(0)), cx.attrs)?;
    Ok(vec![gradient(&found[0], &found[1], cx.output_grad_of(0)?, None)?])
}
