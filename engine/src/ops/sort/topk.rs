//! `topk`: the `k` largest (or smallest) elements along a dimension in order, and where they came from.

use smallvec::smallvec;

use super::{back_to_places, sort_lines};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Returns, Saves, Surface,
};
use crate::shape::resolve_dim;
use crate::{DType, Error, Meta, Metas, OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "topk",
    doc: "The `k` largest (or smallest) elements along a dimension in order, and where they came from.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("k", ParamKind::Int),
        Param::with("dim", ParamKind::Int, Default::Int(-1)),
        Param::with("largest", ParamKind::Bool, Default::Bool(true)),
        Param::with("sorted", ParamKind::Bool, Default::Bool(true)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("topk.select", run)
        .on_cuda(|cx| super::cuda::first_of_lines(cx, cx.int(1), cx.flag(2)))]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Named,
        shapes: "values and indices: k along dim",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("TopK", super::onnx::topk),
    aliases: &["megengine.functional.topk", "oneflow.topk"],
    examples: &[
        (
            "topk(tensor([3.0, 1.0, 2.0]), 2)",
            "torch.return_types.topk(\nvalues=tensor([3., 2.]),\nindices=tensor([0, 2]))",
        ),
        (
            "topk(tensor([[1, 3], [2, 0]]), 1, 0)",
            "torch.return_types.topk(\nvalues=tensor([[2, 3]]),\nindices=tensor([[1, 0]]))",
        ),
        (
            "topk(tensor([3.0, 1.0, 2.0]), 1, largest=False)",
            "torch.return_types.topk(\nvalues=tensor([1.]),\nindices=tensor([1]))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    super::firsts(cx, 1, Some(cx.int(0) as usize), cx.flag(2))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    let dim = resolve_dim(cx.op.name, cx.int(1), shape.rank())?;
    let size = shape.get(dim).copied().unwrap_or(1) as i64;
    if !(0..=size).contains(&cx.int(0)) {
        let problem = format!("must lie between 0 and the size {size}");
        return Err(Error::Attr { op: cx.op.name, name: "k", problem });
    }
    if let Some(size) = shape.dims_mut().get_mut(dim) {
        *size = cx.int(0) as usize;
    }
    Ok(smallvec![Meta::new(shape.clone(), cx.dtype(0)), Meta::new(shape, DType::I64)])
}

/// Selects before it sorts.
fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    sort_lines(cx, cx.int(1), Some(cx.int(0) as usize), cx.flag(2))
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    back_to_places(cx, cx.int(1))
}
