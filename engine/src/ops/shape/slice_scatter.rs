//! `slice_scatter`: the input with a slice along `dim` replaced by `src`.

use smallvec::smallvec;

use super::{dim_attr, span_of};
use crate::cpu::strided;
use crate::meaning::{Array, Meaning, MeaningCx, slice_places};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Error, Layout, Metas, OpDef, Result, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "slice_scatter",
    doc: "The input with a slice along `dim` replaced by `src`.",
    meaning: Meaning::of(|cx| meant(cx, false)),
    params: &[
        Param::tensor("input"),
        Param::tensor("src"),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
        Param::with("start", ParamKind::OptInt, Default::None),
        Param::with("stop", ParamKind::OptInt, Default::None),
        Param::with("step", ParamKind::Int, Default::Int(1)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("slice_scatter.copy", run)
        .updating()
        .on_cuda(super::cuda::slice_scatter)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input; src has the shape of the slice",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::slice_scatter),
    aliases: &[],
    examples: &[
        ("slice_scatter(zeros(4), ones(2), 0, 1, 3)", "tensor([0., 1., 1., 0.])"),
        ("slice_scatter(tensor([1, 2, 3]), tensor([9, 8]), 0, 0, None, 2)", "tensor([9, 2, 8])"),
        (
            "slice_scatter(tensor([[1, 2], [3, 4]]), tensor([[0], [0]]), 1, -1)",
            "tensor([[1, 0],\n        [3, 0]])",
        ),
    ],
};

/// The input with `src` in the places of the slice, or added there.
pub(super) fn meant(cx: &MeaningCx<'_>, adds: bool) -> Array {
    let dim = cx.dim(0, cx.input(0).rank());
    let places = slice_places(cx.shape(0)[dim], [&cx.attrs[1], &cx.attrs[2]], cx.int(3));
    cx.input(0).placed(cx.input(1), adds, |at| {
        let mut to = at.to_vec();
        to[dim] = places[at[dim]];
        Some(to)
    })
}

pub(super) fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut part = cx.shape(0).clone();
    if part.rank() == 0 {
        return Err(cx.bad_shapes("a scalar has no dimension to slice"));
    }
    let dim = dim_attr(cx.op.name, cx.attrs, 0, part.rank())?;
    part.dims_mut()[dim] =
        span_of(cx.op.name, part[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?.len;
    if &part != cx.shape(1) {
        return Err(cx.bad_shapes(format!("the slice has shape {part}")));
    }
    if cx.dtype(0) != cx.dtype(1) {
        return Err(Error::DTypes { op: cx.op.name, dtypes: vec![cx.dtype(0), cx.dtype(1)] });
    }
    Ok(smallvec![cx.inputs[0].meta()])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let whole = Layout::contiguous(cx.outputs[0].shape().clone());
    let dim = dim_attr(cx.op.name, cx.attrs, 0, whole.shape.rank())?;
    let span = span_of(cx.op.name, whole.shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?;
    let part = whole.slice(dim, span.start, span.len, span.step);
    let src = cx.inputs[0];
    with_size!(src.dtype(), T => {
        let out = cx.outputs[0].as_mut_slice::<T>();
        strided::copy(src.buffer::<T>(), src.layout(), out, &part);
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    super::grad_of_placed(cx, &super::slice::OP)
}
