//! `sign`: -1, 0 or 1 after the sign of the number; 0 for NaN.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `sign`.
pub static OP: OpDef = OpDef {
    name: "sign",
    doc: "-1, 0 or 1 after the sign of the number; 0 for NaN.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.sign()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.sign", "oneflow.sign"],
    examples: &[
        ("sign(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-1.,  0.,  1.,  1.])"),
        ("sign(tensor([0.0, inf, nan]))", "tensor([0., 1., 0.])"),
        ("sign(tensor([-3, 0, 3]))", "tensor([-1,  0,  1])"),
    ],
};
