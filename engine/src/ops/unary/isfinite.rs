//! `isfinite`: whether x is neither infinite nor NaN.

use crate::DType;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `isfinite`.
pub static OP: OpDef = OpDef {
    name: "isfinite",
    doc: "Whether x is neither infinite nor NaN.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Custom(|inputs, _| Ok((inputs[0].dtype().floats(), DType::Bool))),
    infer: rules::broadcast,
    body: Body::Unary(|x| x.isfinite()),
    grad: Grad::Stops("the result is bool"),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("isfinite(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([True, True, True, True])"),
        ("isfinite(tensor([0.0, inf, nan]))", "tensor([ True, False, False])"),
        ("isfinite(tensor([-3, 3]))", "tensor([True, True])"),
    ],
};
