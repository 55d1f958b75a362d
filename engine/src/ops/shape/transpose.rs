//! `transpose`: two dimensions exchanged.

use smallvec::{SmallVec, smallvec};

use super::dim_attr;
use crate::functional::transpose;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Returns, Saves, Surface,
};
use crate::{Attrs, Layout, Meta, Metas, OpDef, Result, Shape, Tensor};

pub static OP: OpDef = OpDef {
    name: "transpose",
    doc: "Two dimensions exchanged.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim0", ParamKind::Int),
        Param::required("dim1", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::View(view),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, ..Surface::PLAIN },
    onnx: Onnx::written("Transpose", super::onnx::transpose),
    aliases: &["torch.swapaxes", "torch.swapdims", "oneflow.transpose"],
    examples: &[
        (
            "transpose(tensor([[1, 2, 3], [4, 5, 6]]), 0, 1)",
            "tensor([[1, 4],\n        [2, 5],\n        [3, 6]])",
        ),
        ("transpose(zeros(2, 3, 4), -1, 0).shape", "torch.Size([4, 3, 2])"),
        ("transpose(tensor(1.5), 0, -1)", "tensor(1.5000)"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0);
    let exchanged = |at: &[usize]| {
        let mut res = at.to_vec();
        if x.rank() > 0 {
            res.swap(cx.dim(0, x.rank()), cx.dim(1, x.rank()));
        }
        res
    };
    x.moved(&exchanged(x.shape()), exchanged)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let rank = cx.shape(0).rank();
    let (a, b) =
        (dim_attr(cx.op.name, cx.attrs, 0, rank)?, dim_attr(cx.op.name, cx.attrs, 1, rank)?);
    let mut shape = cx.shape(0).clone();
    if rank > 0 {
        shape.dims_mut().swap(a, b);
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn view(layout: &Layout, attrs: &Attrs, shape: &Shape) -> Option<Layout> {
    let rank = shape.rank();
    let mut dims: SmallVec<[usize; 6]> = (0..rank).collect();
    if rank > 0 {
        dims.swap(
            dim_attr("transpose", attrs, 0, rank).ok()?,
            dim_attr("transpose", attrs, 1, rank).ok()?,
        );
    }
    Some(layout.permute(&dims))
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    Ok(vec![Some(transpose(&cx.output_grad()?, cx.int(0), cx.int(1))?)])
}
