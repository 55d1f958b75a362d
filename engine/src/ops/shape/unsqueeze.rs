//! `unsqueeze`: with a dimension of size 1 put in at `dim`.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::reshape;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::{Meta, Metas, OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "unsqueeze",
    doc: "With a dimension of size 1 put in at `dim`.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("dim", ParamKind::Int)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(|layout, _, shape| layout.reshape(shape)),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Unsqueeze", super::onnx::unsqueeze),
    aliases: &["megengine.functional.expand_dims", "oneflow.unsqueeze", "oneflow.expand_dims"],
    examples: &[
        ("unsqueeze(tensor([1, 2]), 0)", "tensor([[1, 2]])"),
        ("unsqueeze(tensor([1, 2]), -1)", "tensor([[1],\n        [2]])"),
        ("unsqueeze(tensor(5), 0)", "tensor([5])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let mut shape = cx.shape(0).to_vec();
    shape.insert(cx.dim(0, shape.len() + 1), 1);
    cx.input(0).reshaped(&shape)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    let at = dim_attr(cx.op.name, cx.attrs, 0, shape.rank() + 1)?;
    shape.dims_mut().insert(at, 1);
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(reshape(&cx.output_grad()?, cx.input(0).shape())?)])
}
