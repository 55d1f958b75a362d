//! `min`: the smallest element, or with `dim` the smallest along it and where it is.

use super::extremes::{self, Side};
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, Is, Kernel, Onnx, Param, ParamKind, Returns, Saves,
    Surface, When, shapes,
};

pub static OP: OpDef = OpDef {
    name: "min",
    doc: "The smallest element, or with `dim` the smallest along it and where it is.",
    meaning: Meaning::each(|cx| extremes::meaning_best(cx, Side::Smallest)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_best,
    body: Body::Kernels(&[Kernel::new("reduce.min", |cx| extremes::run_best(cx, Side::Smallest))
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| extremes::best_on_cuda(cx, "ng_smallest"))]),
    grad: Grad::Rule(|cx| extremes::grad_best(cx, &super::amin::OP), Saves::Both),
    step: Some(|cx| if cx.has(0) { "MinBackward0" } else { "MinBackward1" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Named,
        form: Some(Form::new("min_of", When::At(1, "other", Is::Tensor))),
        shapes: shapes::WITH_INDICES,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceMin", super::onnx::min),
    aliases: &["oneflow.min"],
    examples: &[
        ("min(tensor([1.0, 5.0, -2.0]))", "tensor(-2.)"),
        (
            "min(tensor([[1, 2], [3, 0]]), 1)",
            "torch.return_types.min(\nvalues=tensor([1, 0]),\nindices=tensor([0, 1]))",
        ),
        (
            "min(tensor([1.0, float(\"nan\")]), 0)",
            "torch.return_types.min(\nvalues=tensor(nan),\nindices=tensor(1))",
        ),
    ],
};
