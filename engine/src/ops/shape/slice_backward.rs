//! `slice_backward`: zeros of `shape`, but for the slice along `dim`, which holds the input: the gradient of slice.

use smallvec::smallvec;

use super::{dim_attr, size_list, span_of};
use crate::cpu::{interrupt, strided};
use crate::dtype::Number;
use crate::meaning::{Array, Meaning, MeaningCx, slice_places};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::{Layout, Meta, Metas, OpDef, Result, Tensor, apply_one, with_size};

pub static OP: OpDef = OpDef {
    name: "slice_backward",
    doc: "Zeros of `shape`, but for the slice along `dim`, which holds the input: the gradient of slice.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::required("start", ParamKind::OptInt),
        Param::required("stop", ParamKind::OptInt),
        Param::required("step", ParamKind::Int),
        Param::required("shape", ParamKind::Ints),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[
        Kernel::moving("slice_backward.copy", run).on_cuda(super::cuda::slice_backward)
    ]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "the gradient has the shape of what was sliced", ..Surface::PLAIN },
    onnx: Onnx::written("ScatterElements", super::onnx::slice_backward),
    aliases: &[],
    examples: &[
        ("slice_backward(tensor([5.0, 6.0]), 0, 1, None, 2, (4,))", "tensor([0., 5., 0., 6.])"),
        ("slice_backward(tensor([1, 2]), 0, None, 2, 1, (3,))", "tensor([1, 2, 0])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let shape = cx.sizes(4);
    let dim = cx.dim(0, shape.len());
    let places = slice_places(shape[dim], [&cx.attrs[1], &cx.attrs[2]], cx.int(3));
    cx.input(0).moved_or(&shape, Number::Int(0), |at| {
        let mut from = at.to_vec();
        from[dim] = places.iter().position(|it| *it == at[dim])?;
        Some(from)
    })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let shape = size_list(cx.op.name, "shape", &cx.ints(4).unwrap_or_default())?;
    let mut part = shape.clone();
    if shape.rank() == 0 {
        return Err(cx.bad_shapes("a scalar has no dimension to slice"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    part.dims_mut()[dim] =
        span_of(cx.op.name, shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?.len;
    if &part != cx.shape(0) {
        return Err(cx.bad_shapes(format!("the slice of {shape} has shape {part}")));
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let whole = Layout::contiguous(cx.outputs[0].shape().clone());
    let dim = dim_attr(cx.op.name, cx.attrs, 0, whole.shape.rank())?;
    let span = span_of(cx.op.name, whole.shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?;
    let part = whole.slice(dim, span.start, span.len, span.step);
    let input = cx.inputs[0];
    with_size!(input.dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        interrupt::fill(out, T::default());
        strided::copy(input.buffer::<T>(), input.layout(), out, &part);
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let attrs = cx.attrs[..4].iter().cloned().collect();
    Ok(vec![Some(apply_one(&super::slice::OP, &[cx.output_grad()?], &attrs)?)])
}
