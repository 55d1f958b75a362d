//! `one_hot`: a 1 at the place that each whole number names, 0 elsewhere, in a new last dimension of size `num_classes` (the largest number plus one when -1).

use smallvec::smallvec;

use super::admit_places;
use crate::cpu::interrupt;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::AdmitCx;
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Default, Grad, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Surface,
};
use crate::{DType, Error, Meta, Metas, OpDef, Result};

pub static OP: OpDef = OpDef {
    name: "one_hot",
    doc: "A 1 at the place that each whole number names, 0 elsewhere, in a new last dimension of size `num_classes` (the largest number plus one when -1).",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::with("num_classes", ParamKind::Int, Default::Int(-1))],
    dtypes: DTypeRule::IntsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("one_hot.loop", run)
        .admitting(admits)
        .on_cuda(super::cuda::one_hot)]),
    grad: Grad::Stops("the input is whole numbers"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        by_places: true,
        shapes: "[...] gives [..., num_classes]",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("OneHot", super::onnx::one_hot),
    aliases: &["megengine.functional.one_hot", "oneflow.nn.functional.one_hot"],
    examples: &[
        ("one_hot(tensor([0, 2]))", "tensor([[1, 0, 0],\n        [0, 0, 1]])"),
        ("one_hot(tensor([1]), 3)", "tensor([[0, 1, 0]])"),
        ("one_hot(tensor([[0], [1]]), 2)", "tensor([[[1, 0]],\n\n        [[0, 1]]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let numbers = cx.input(0).ints();
    let n_classes = match cx.int(0) {
        -1 => numbers.iter().max().map_or(0, |it| it + 1),
        given => given,
    };
    let shape = [numbers.shape(), &[n_classes as usize]].concat();
    let is_hit =
        |at: &[usize]| at.split_last().is_some_and(|(class, row)| numbers[row] == *class as i64);
    by_index(&shape, is_hit).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_classes = match cx.int(0) {
        -1 => cx.inputs[0].to_f64_vec()?.into_iter().fold(-1.0, f64::max) as i64 + 1,
        given => given,
    };
    if n_classes < 1 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "num_classes",
            problem: "must be at least 1".into(),
        });
    }
    let shape = cx.shape(0).iter().copied().chain([n_classes as usize]).collect();
    Ok(smallvec![Meta::new(shape, DType::I64)])
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    let mut n_classes = cx.int(0);
    if n_classes < 0 {
        cx.elements(0, |it| {
            let greatest = indices(cx.op.name, it)?.iter().copied().max();
            n_classes = greatest.unwrap_or(-1).saturating_add(1);
            Ok(())
        })?;
    }
    admit_places(cx, 0, n_classes.max(0) as usize, 0)
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let index = indices(cx.op.name, &cx.inputs[0])?;
    let n_classes = cx.outputs[0].shape().last().copied().unwrap_or(1);
    let out = cx.outputs[0].as_mut_slice::<i64>();
    interrupt::fill(out, 0);
    for (row, &at) in out.chunks_exact_mut(n_classes).zip(index.iter()) {
        row[at as usize] = 1;
    }
    Ok(())
}
