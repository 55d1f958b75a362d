//! `flip`: order reversed along the given dimensions.

use crate::functional::flip;
use crate::meaning::{Array, Meaning, MeaningCx, from_end};
use crate::op::{Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Saves, Surface};
use crate::shape::resolve_dim;
use crate::{Attrs, Layout, Metas, OpDef, Result, Shape, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "flip",
    doc: "Order reversed along the given dimensions.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::required("dims", ParamKind::Ints)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::written("Slice", super::onnx::flip),
    aliases: &["megengine.functional.flip", "oneflow.flip"],
    examples: &[
        ("flip(tensor([1, 2, 3]), (0,))", "tensor([3, 2, 1])"),
        ("flip(tensor([[1, 2], [3, 4]]), (0, 1))", "tensor([[4, 3],\n        [2, 1]])"),
        ("flip(tensor([[1, 2], [3, 4]]), (-1,))", "tensor([[2, 1],\n        [4, 3]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, named) = (cx.input(0), cx.ints(0).unwrap_or_default());
    let is_named = |dim| named.iter().any(|it| from_end(*it, x.rank()) == dim);
    x.moved(x.shape(), |at| {
        let place = |(dim, &at): (usize, &usize)| {
            if is_named(dim) { x.shape()[dim] - 1 - at } else { at }
        };
        at.iter().enumerate().map(place).collect()
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut seen = vec![false; cx.shape(0).rank()];
    for dim in cx.ints(0).unwrap_or_default() {
        match seen.get_mut(resolve_dim(cx.op.name, dim, cx.shape(0).rank())?) {
            Some(slot) if !*slot => *slot = true,
            Some(_) => return Err(cx.bad_shapes("a dimension is named twice")),
            None => {}
        }
    }
    rules::same_as_input(cx)
}

fn view(layout: &Layout, attrs: &Attrs, shape: &Shape) -> Option<Layout> {
    let mut res = layout.clone();
    for dim in crate::op::ints(attrs, 0)? {
        let dim = resolve_dim("flip", dim, shape.rank()).ok()?;
        if let Some(&size) = shape.get(dim) {
            res = res.slice(dim, size.saturating_sub(1), size, -1);
        }
    }
    Some(res)
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(flip(&cx.output_grad()?, &cx.ints(0).unwrap_or_default())?)])
}
