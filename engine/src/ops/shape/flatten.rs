//! `flatten`: dimensions `start_dim` to `end_dim` joined into one.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::reshape;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves,
    Surface,
};
use crate::{Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "flatten",
    doc: "Dimensions `start_dim` to `end_dim` joined into one.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("start_dim", ParamKind::Int, Default::Int(0)),
        Param::with("end_dim", ParamKind::Int, Default::Int(-1)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(|layout, _, shape| layout.reshape(shape)),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "ViewBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Reshape", super::onnx::reshaped),
    aliases: &["torch.ravel", "megengine.functional.flatten", "oneflow.flatten"],
    examples: &[
        ("flatten(tensor([[1, 2], [3, 4]]))", "tensor([1, 2, 3, 4])"),
        ("flatten(zeros(2, 3, 4), 1).shape", "torch.Size([2, 12])"),
        ("flatten(tensor(1))", "tensor([1])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, shape) = (cx.input(0).raised(), cx.input(0).raised().shape().to_vec());
    let (start, end) = (cx.dim(0, x.rank()), cx.dim(1, x.rank()));
    let joined = shape[start..=end].iter().product();
    x.reshaped(&[&shape[..start], &[joined], &shape[end + 1..]].concat())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let from = cx.shape(0);
    if from.rank() == 0 {
        return Ok(smallvec![Meta::new(Shape::from([1]), cx.dtype(0))]);
    }
    let start = dim_attr(cx.op.name, cx.attrs, 0, from.rank())?;
    let end = dim_attr(cx.op.name, cx.attrs, 1, from.rank())?;
    if start > end {
        return Err(cx.bad_shapes("start_dim must not come after end_dim"));
    }
    let joined = from[start..=end].iter().product();
    let shape = from[..start]
        .iter()
        .copied()
        .chain([joined])
        .chain(from[end + 1..].iter().copied())
        .collect();
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(reshape(&cx.output_grad()?, cx.input(0).shape())?)])
}
