//! `squeeze`: without the dimensions of size 1, or without those of `dim` that have size 1.

use smallvec::smallvec;

use crate::functional::reshape;
use crate::meaning::{Array, Meaning, MeaningCx, from_end};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves,
    Surface,
};
use crate::shape::resolve_dim;
use crate::{Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "squeeze",
    doc: "Without the dimensions of size 1, or without those of `dim` that have size 1.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::with("dim", ParamKind::OptInts, Default::None)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(|layout, _, shape| layout.reshape(shape).or_else(|| view(layout, shape))),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|cx| if cx.has(0) { "SqueezeBackward1" } else { "SqueezeBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Squeeze", super::onnx::squeeze),
    aliases: &["megengine.functional.squeeze", "oneflow.squeeze"],
    examples: &[
        ("squeeze(tensor([[[1.0], [2.0]]]))", "tensor([1., 2.])"),
        ("squeeze(tensor([[1, 2]]), 0)", "tensor([1, 2])"),
        ("squeeze(zeros(1, 2, 1), 1).shape", "torch.Size([1, 2, 1])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (shape, named) = (cx.shape(0), cx.ints(0));
    let is_named = |dim| match &named {
        Some(named) => named.iter().any(|it| from_end(*it, shape.len().max(1)) == dim),
        None => true,
    };
    let kept = shape.iter().enumerate().filter(|(dim, size)| **size != 1 || !is_named(*dim));
    cx.input(0).reshaped(&kept.map(|it| *it.1).collect::<Vec<_>>())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let shape = cx.shape(0);
    let mut gone = vec![cx.ints(0).is_none(); shape.rank()];
    for dim in cx.ints(0).unwrap_or_default() {
        if let Some(slot) = gone.get_mut(resolve_dim(cx.op.name, dim, shape.rank())?) {
            *slot = true;
        }
    }
    let kept = shape.iter().zip(&gone).filter(|it| !(*it.1 && *it.0 == 1)).map(|it| *it.0);
    Ok(smallvec![Meta::new(kept.collect(), cx.dtype(0))])
}

/// Sizes other than 1 keep their strides.
fn view(layout: &Layout, shape: &Shape) -> Option<Layout> {
    let mut strides =
        layout.shape.iter().zip(&layout.strides).filter(|it| *it.0 != 1).map(|it| *it.1);
    let strides = shape
        .iter()
        .map(|&it| if it == 1 { Some(1) } else { strides.next() })
        .collect::<Option<_>>()?;
    Some(Layout { shape: shape.clone(), strides, offset: layout.offset })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(reshape(&cx.output_grad()?, cx.input(0).shape())?)])
}
