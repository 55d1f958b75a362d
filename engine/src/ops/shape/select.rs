//! `select`: element `index` along a dimension, which goes away.

use smallvec::smallvec;

use super::{dim_attr, wrap_index};
use crate::functional::unsqueeze;
use crate::meaning::{Array, Meaning, MeaningCx, from_end};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::{Attr, Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "select",
    doc: "Element `index` along a dimension, which goes away.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::required("index", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Onto(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Gather", super::onnx::select),
    aliases: &["oneflow.select"],
    examples: &[
        ("select(tensor([[1, 2], [3, 4]]), 0, 1)", "tensor([3, 4])"),
        ("select(tensor([[1, 2], [3, 4]]), 1, -2)", "tensor([1, 3])"),
        ("select(tensor([5, 6]), 0, 0)", "tensor(5)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (mut shape, dim) = (cx.shape(0).to_vec(), cx.dim(0, cx.input(0).rank()));
    let index = from_end(cx.int(1), shape.remove(dim));
    cx.input(0).moved(&shape, |at| [&at[..dim], &[index], &at[dim..]].concat())
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    if shape.rank() == 0 {
        return Err(cx.bad_shapes("a scalar cannot be indexed"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    wrap_index(cx.op.name, cx.int(1), shape[dim], dim)?;
    shape.dims_mut().remove(dim);
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn view(layout: &Layout, attrs: &Attrs, shape: &Shape) -> Option<Layout> {
    let dim = dim_attr("select", attrs, 0, layout.shape.rank()).ok()?;
    let index = wrap_index("select", crate::op::int(attrs, 1), layout.shape[dim], dim).ok()?;
    let mut res = layout.slice(dim, index, 1, 1);
    res.strides.remove(dim);
    res.shape = shape.clone();
    Some(res)
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let shape = cx.input(0).shape();
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let index = wrap_index(cx.op.name, cx.int(1), shape[dim], dim)? as i64;
    let dy = unsqueeze(&cx.output_grad()?, dim as i64)?;
    let attrs =
        smallvec![Attr::Int(dim as i64), Attr::Int(index), Attr::Int(index + 1), Attr::Int(1)];
    super::slice::gradient_of(cx, dy, attrs)
}
