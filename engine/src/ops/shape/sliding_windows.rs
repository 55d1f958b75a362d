//! `sliding_windows`: all windows of `size` elements along a dimension, `step` apart, as a last dimension; `Tensor.unfold`.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::{full, index_add, reshape};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface, int,
};
use crate::{Attrs, Error, Layout, Meta, Metas, OpDef, Result, Shape, Tensor, functional};

pub static OP: OpDef = OpDef {
    name: "sliding_windows",
    doc: "All windows of `size` elements along a dimension, `step` apart, as a last dimension: a view.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dimension", ParamKind::Int),
        Param::required("size", ParamKind::Int),
        Param::required("step", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Gather", super::onnx::sliding_windows),
    aliases: &["Tensor.unfold"],
    examples: &[
        (
            "sliding_windows(tensor([1, 2, 3, 4]), 0, 2, 1)",
            "tensor([[1, 2],\n        [2, 3],\n        [3, 4]])",
        ),
        (
            "sliding_windows(tensor([[1, 2, 3, 4]]), 1, 2, 2)",
            "tensor([[[1, 2],\n         [3, 4]]])",
        ),
        ("sliding_windows(zeros(2, 5), -1, 3, 1).shape", "torch.Size([2, 3, 3])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (mut shape, dim) = (cx.shape(0).to_vec(), cx.dim(0, cx.input(0).rank()));
    let (size, step) = (cx.int(1) as usize, cx.int(2) as usize);
    shape[dim] = (0..).step_by(step).take_while(|it| it + size <= shape[dim]).count();
    shape.push(size);
    cx.input(0).moved(&shape, |at| {
        let mut from = at[..at.len() - 1].to_vec();
        from[dim] = at[dim] * step + at[at.len() - 1];
        from
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    if shape.rank() == 0 {
        return Err(cx.bad_shapes("a scalar has no dimension to look along"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let (size, step) = (cx.int(1), cx.int(2));
    if !(0..=shape[dim] as i64).contains(&size) {
        let problem = format!("must lie between 0 and {}, the size of the dimension", shape[dim]);
        return Err(Error::Attr { op: cx.op.name, name: "size", problem });
    }
    if step < 1 {
        let problem = "must be 1 or more".into();
        return Err(Error::Attr { op: cx.op.name, name: "step", problem });
    }
    shape.dims_mut()[dim] = (shape[dim] - size as usize) / step as usize + 1;
    shape.dims_mut().push(size as usize);
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn view(layout: &Layout, attrs: &Attrs, shape: &Shape) -> Option<Layout> {
    let dim = dim_attr("sliding_windows", attrs, 0, layout.shape.rank()).ok()?;
    let mut strides = layout.strides.clone();
    let within = strides[dim];
    strides[dim] = within.checked_mul(isize::try_from(int(attrs, 2)).ok()?)?;
    strides.push(within);
    Some(Layout { shape: shape.clone(), strides, offset: layout.offset })
}

/// Each element gets the sum over the windows that it is in.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let shape = cx.input(0).shape().clone();
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let (size, step) = (int(cx.attrs, 1), int(cx.attrs, 2));
    let count = dy.shape()[dim] as i64;
    let last = dy.rank() as i64 - 1;
    let mut order: Vec<i64> = (0..last).collect();
    order.insert(dim + 1, last);
    let mut joined = shape.clone();
    joined.dims_mut()[dim] = (count * size) as usize;
    let dy = reshape(&functional::permute(&dy, &order)?, &joined)?;
    let places: Vec<i64> =
        (0..count).flat_map(|window| (0..size).map(move |it| window * step + it)).collect();
    let places = Tensor::from_vec(&places, Shape::from([places.len()]))?;
    let zero = full(&shape, 0.0, dy.dtype())?;
    Ok(vec![Some(index_add(&zero, dim as i64, &places, &dy)?)])
}
