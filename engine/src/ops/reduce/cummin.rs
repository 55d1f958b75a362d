//! `cummin`: the smallest element so far along a dimension, and where it is.

use super::extremes::{self, Side};
use crate::OpDef;
use crate::cuda::source::computed;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Grad, Kernel, Onnx, Param, ParamKind, Returns, Saves, Surface, shapes,
};

pub static OP: OpDef = OpDef {
    name: "cummin",
    doc: "The smallest element so far along a dimension, and where it is: the last of equal ones. NaN wins.",
    meaning: Meaning::each(|cx| extremes::meaning_running(cx, Side::Smallest)),
    params: &[Param::tensor("input"), Param::required("dim", ParamKind::Int)],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_running,
    body: Body::Kernels(&[Kernel::new("reduce.cummin", |cx| {
        extremes::run_running(cx, Side::Smallest)
    })
    .on_cuda(|cx| super::cuda::scan(cx, "ng_running_smallest", computed(cx.dtype(0))))]),
    grad: Grad::Rule(|cx| extremes::grad_running(cx), Saves::Outputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Named,
        shapes: shapes::SAME_WITH_INDICES,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "cummin(tensor([2.0, 3.0, 1.0, 1.0]), 0)",
            "torch.return_types.cummin(\nvalues=tensor([2., 2., 1., 1.]),\nindices=tensor([0, 0, 2, 3]))",
        ),
        (
            "cummin(tensor([[1, 2], [0, 5]]), 1)",
            "torch.return_types.cummin(\nvalues=tensor([[1, 1],\n        [0, 0]]),\nindices=tensor([[0, 0],\n        [0, 0]]))",
        ),
        (
            "cummin(tensor([1.0, nan, 0.0]), 0)",
            "torch.return_types.cummin(\nvalues=tensor([1., nan, nan]),\nindices=tensor([0, 1, 1]))",
        ),
    ],
};
