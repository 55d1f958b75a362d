//! `max`: the largest element, or with `dim` the largest along it and where it is.

use super::extremes::{self, Side};
use crate::OpDef;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Default, Form, Grad, Is, Kernel, Onnx, Param, ParamKind, Returns, Saves,
    Surface, When, shapes,
};

pub static OP: OpDef = OpDef {
    name: "max",
    doc: "The largest element, or with `dim` the largest along it and where it is.",
    meaning: Meaning::each(|cx| extremes::meaning_best(cx, Side::Largest)),
    params: &[
        Param::tensor("input"),
        Param::with("dim", ParamKind::OptInt, Default::None),
        Param::with("keepdim", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::Any,
    infer: extremes::infer_best,
    body: Body::Kernels(&[Kernel::new("reduce.max", |cx| extremes::run_best(cx, Side::Largest))
        .finishing()
        .with_prologue(super::streamed)
        .on_cuda(|cx| extremes::best_on_cuda(cx, "ng_largest"))]),
    grad: Grad::Rule(|cx| extremes::grad_best(cx, &super::amax::OP), Saves::Both),
    step: Some(|cx| if cx.has(0) { "MaxBackward0" } else { "MaxBackward1" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::Named,
        form: Some(Form::new("max_of", When::At(1, "other", Is::Tensor))),
        shapes: shapes::WITH_INDICES,
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceMax", super::onnx::max),
    aliases: &["oneflow.max"],
    examples: &[
        ("max(tensor([1.0, 5.0, -2.0]))", "tensor(5.)"),
        (
            "max(tensor([[1, 2], [3, 0]]), 1)",
            "torch.return_types.max(\nvalues=tensor([2, 3]),\nindices=tensor([1, 0]))",
        ),
        (
            "max(tensor([1.0, float(\"nan\")]), 0)",
            "torch.return_types.max(\nvalues=tensor(nan),\nindices=tensor(1))",
        ),
    ],
};
