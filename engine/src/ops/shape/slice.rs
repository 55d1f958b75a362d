//! `slice`: elements `start, start + step, ...` before `stop` along a dimension; bounds as in Python, also with a negative step.

use smallvec::smallvec;

use super::{dim_attr, span_of};
use crate::meaning::{Array, Meaning, MeaningCx, slice_places};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves,
    Surface,
};
use crate::ops::added_to;
use crate::{Attr, Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "slice",
    doc: "Elements `start, start + step, ...` before `stop` along a dimension; bounds as in Python, also with a negative step.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
        Param::with("start", ParamKind::OptInt, Default::None),
        Param::with("stop", ParamKind::OptInt, Default::None),
        Param::with("step", ParamKind::Int, Default::Int(1)),
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
    onnx: Onnx::written("Slice", super::onnx::slice),
    aliases: &[],
    examples: &[
        ("slice(tensor([0, 1, 2, 3, 4]), 0, 1, 4, 2)", "tensor([1, 3])"),
        ("slice(tensor([0, 1, 2]), 0, 5, 9)", "tensor([], dtype=torch.int64)"),
        ("slice(tensor([[1, 2, 3]]), 1, -2)", "tensor([[2, 3]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (mut shape, dim) = (cx.shape(0).to_vec(), cx.dim(0, cx.input(0).rank()));
    let places = slice_places(shape[dim], [&cx.attrs[1], &cx.attrs[2]], cx.int(3));
    shape[dim] = places.len();
    cx.input(0).moved(&shape, |at| {
        let mut from = at.to_vec();
        from[dim] = places[at[dim]];
        from
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    if shape.rank() == 0 {
        return Err(cx.bad_shapes("a scalar has no dimension to slice"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let span = span_of(cx.op.name, shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?;
    shape.dims_mut()[dim] = span.len;
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn view(layout: &Layout, attrs: &Attrs, _: &Shape) -> Option<Layout> {
    let dim = dim_attr("slice", attrs, 0, layout.shape.rank()).ok()?;
    let step = crate::op::int(attrs, 3);
    let span = span_of("slice", layout.shape[dim], &attrs[1], &attrs[2], step).ok()?;
    Some(layout.slice(dim, span.start, span.len, span.step))
}

/// `dx` is what had come before with `dy` added to the slice, or zero but for the slice, where it is `dy`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (dy, attrs) = (cx.output_grad()?, cx.attrs.clone());
    gradient_of(cx, dy, attrs)
}

/// The gradient of the input of a row that takes a slice by these attributes, where that of the slice is `dy`.
pub(super) fn gradient_of(
    cx: &mut GradCx<'_>,
    dy: Tensor,
    mut attrs: Attrs,
) -> Result<Vec<Option<Tensor>>> {
    if cx.sum(0).is_some() {
        return Ok(vec![Some(added_to(cx, 0, &super::slice_add::OP, &[dy], &attrs)?)]);
    }
    attrs.push(Attr::sizes(cx.input(0).shape()));
    Ok(vec![Some(apply_one(&super::slice_backward::OP, &[dy], &attrs)?)])
}
