//! `pick_class`: of each row of scores `[n, classes]` the one of its target class; 0 for rows whose target is `ignore_index`.

use smallvec::smallvec;

use super::softmax_cross_entropy::{admit_classes, checked_rows};
use crate::dtype::Number;
use crate::functional::locally_constant;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "pick_class",
    doc: "Of each row of scores `[n, classes]` the one of its target class; 0 for rows whose target is `ignore_index`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("ignore_index", ParamKind::Int, Default::Int(-100)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("pick_class.rows", run)
        .admitting(admit_classes)
        .on_cuda(super::cuda::pick_class)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "scores [N, C] and classes [N]: a score per row", ..Surface::PLAIN },
    onnx: Onnx::written("NegativeLogLikelihoodLoss", super::onnx::pick_class),
    aliases: &[],
    examples: &[
        ("pick_class(tensor([[0.5, 2.0], [3.0, nan]]), tensor([1, 0]))", "tensor([2., 3.])"),
        ("pick_class(tensor([[inf, 2.0]]), tensor([-100]))", "tensor([0.])"),
        ("pick_class(tensor([[-1.5, 2.0]]), tensor([0]), 1)", "tensor([-1.5000])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (target, ignored) = (cx.input(1).ints(), cx.int(0));
    cx.input(0).moved_or(target.shape(), Number::Int(0), |at| {
        let class = Some(target[at]).filter(|it| *it != ignored)?;
        Some(vec![at[0], class as usize])
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    Ok(smallvec![Meta::new(Shape::from([checked_rows(cx)?]), cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (scores, ignored) = (cx.inputs[0], cx.int(0));
    let target = indices(cx.op.name, &cx.inputs[1])?;
    let layout = scores.layout();
    let (start, steps) = (layout.offset as isize, &layout.strides);
    with_float!(cx.op.name, scores.dtype(), T => {
        let (scores, out) = (scores.buffer::<T>(), cx.outputs[0].as_mut_slice::<T>());
        for (row, (slot, &class)) in out.iter_mut().zip(target.iter()).enumerate() {
            let at = start + row as isize * steps[0] + class as isize * steps[1];
            *slot = if class == ignored { 0.0 } else { scores[at as usize] };
        }
        Ok(())
    })
}

/// Each gradient goes back to the score that was picked.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let n_classes = cx.input(0).shape()[1] as i64;
    let inputs = [cx.output_grad()?, cx.input(1).clone()];
    let attrs = smallvec![Attr::Int(n_classes), Attr::Int(cx.int(0))];
    let dx = apply_one(&super::pick_class_backward::OP, &inputs, &attrs)?;
    Ok(vec![Some(locally_constant(dx, cx.input(0))?), None])
}
