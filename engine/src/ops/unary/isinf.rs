//! `isinf`: whether x is infinite.

use crate::DType;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `isinf`.
pub static OP: OpDef = OpDef {
    name: "isinf",
    doc: "Whether x is infinite.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Custom(|inputs, _| Ok((inputs[0].dtype().floats(), DType::Bool))),
    infer: rules::broadcast,
    body: Body::Unary(|x| x.isinf()),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("IsInf", 10, &[]),
    aliases: &["megengine.functional.isinf", "oneflow.isinf"],
    examples: &[
        ("isinf(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([False, False, False, False])"),
        ("isinf(tensor([0.0, inf, nan]))", "tensor([False,  True, False])"),
        ("isinf(tensor([-3, 3]))", "tensor([False, False])"),
    ],
};
