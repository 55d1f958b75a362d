//! `sort`: the elements in order along a dimension, and where they came from.

use smallvec::smallvec;

use super::{back_to_places, sort_lines};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Returns, Saves, Surface, shapes,
};
use crate::shape::resolve_dim;
use crate::{DType, Meta, Metas, OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "sort",
    doc: "The elements in order along a dimension, and where they came from. Equal elements keep their order; NaN counts as the largest.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::Int, Default::Int(-1)),
        Param::with("descending", ParamKind::Bool, Default::Bool(false)),
        Param::with("stable", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::new("sort.merge", run)
        .on_cuda(|cx| super::cuda::sort_lines(cx, cx.int(0), cx.flag(1)))]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Named,
        shapes: shapes::SAME_WITH_INDICES,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("TopK", super::onnx::sort),
    aliases: &["megengine.functional.sort", "oneflow.sort"],
    examples: &[
        (
            "sort(tensor([3.0, 1.0, 2.0]))",
            "torch.return_types.sort(\nvalues=tensor([1., 2., 3.]),\nindices=tensor([1, 2, 0]))",
        ),
        (
            "sort(tensor([[1, 3], [2, 0]]), 0, descending=True)",
            "torch.return_types.sort(\nvalues=tensor([[2, 3],\n        [1, 0]]),\nindices=tensor([[1, 0],\n        [0, 1]]))",
        ),
        (
            "sort(tensor([1.0, float(\"nan\"), 0.0]))",
            "torch.return_types.sort(\nvalues=tensor([0., 1., nan]),\nindices=tensor([2, 0, 1]))",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    super::firsts(cx, 0, None, cx.flag(1))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    Ok(smallvec![cx.inputs[0].meta(), Meta::new(cx.shape(0).clone(), DType::I64)])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    sort_lines(cx, cx.int(0), None, cx.flag(1))
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    back_to_places(cx, cx.int(0))
}
