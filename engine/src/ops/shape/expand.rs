//! `expand`: broadcast to a larger shape without copying; -1 keeps a size.

use smallvec::smallvec;

use crate::functional::unbroadcast;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::{Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "expand",
    doc: "Broadcast to a larger shape without copying; -1 keeps a size.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("shape", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(|layout, _, shape| layout.broadcast_to(shape)),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Expand", super::onnx::expand),
    aliases: &[
        "torch.broadcast_to",
        "megengine.functional.broadcast_to",
        "oneflow.expand",
        "oneflow.broadcast_to",
    ],
    examples: &[
        ("expand(tensor([[1], [2]]), (2, 3))", "tensor([[1, 1, 1],\n        [2, 2, 2]])"),
        ("expand(tensor(7), (2,))", "tensor([7, 7])"),
        ("expand(tensor([1, 2]), (2, -1))", "tensor([[1, 2],\n        [1, 2]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (own, sizes) = (cx.shape(0), cx.ints(0).unwrap_or_default());
    let lead = sizes.len() - own.len();
    let size = |(dim, &it): (usize, &i64)| if it == -1 { own[dim - lead] } else { it as usize };
    cx.input(0).expanded(&sizes.iter().enumerate().map(size).collect::<Vec<_>>())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (from, sizes) = (cx.shape(0), cx.ints(0).unwrap_or_default());
    let refuse = || {
        cx.bad_shapes(format!(
            "it cannot be expanded to {:?}: only sizes of 1 stretch",
            sizes.as_slice()
        ))
    };
    let lead = sizes.len().checked_sub(from.rank()).ok_or_else(refuse)?;
    let size = |(idx, &want): (usize, &i64)| match idx.checked_sub(lead).map(|it| from[it]) {
        Some(have) if want == -1 || want == have as i64 => Ok(have),
        Some(1) | None if want >= 0 => Ok(want as usize),
        _ => Err(refuse()),
    };
    let shape = sizes.iter().enumerate().map(size).collect::<Result<Shape>>()?;
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(unbroadcast(&cx.output_grad()?, cx.input(0).shape())?)])
}
