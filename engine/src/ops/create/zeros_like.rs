//! `zeros_like`: the number 0 in the shape of another tensor.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface, shapes};
use crate::rules;

/// The row of `zeros_like`.
pub static OP: OpDef = OpDef {
    name: "zeros_like",
    doc: "A tensor of the input's shape, and of its dtype unless another is given, in which every element is 0.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::with("dtype", ParamKind::OptDType, Default::None)],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(|cx| super::like(cx, &super::zeros::OP)),
    grad: Grad::Stops("the result does not depend on the elements"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.zeros_like", "oneflow.zeros_like", "numpy.zeros_like"],
    examples: &[
        ("zeros_like(tensor([2.0, nan]))", "tensor([0., 0.])"),
        ("zeros_like(tensor([[2, 3]]))", "tensor([[0, 0]])"),
        ("zeros_like(tensor(5), dtype=float32)", "tensor(0.)"),
    ],
};
