//! `exp2`: 2 to the power of x.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `exp2`.
pub static OP: OpDef = OpDef {
    name: "exp2",
    doc: "2 to the power of x.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.exp2()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("exp2(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.3536, 1.0000, 1.4142, 4.0000])"),
        ("exp2(tensor([0.0, inf, nan]))", "tensor([1., inf, nan])"),
        ("exp2(tensor([10.0, -200.0]))", "tensor([1024.,    0.])"),
    ],
};
