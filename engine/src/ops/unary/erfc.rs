//! `erfc`: the complement of the error function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `erfc`.
pub static OP: OpDef = OpDef {
    name: "erfc",
    doc: "`1 - erf(x)`, accurate where little is left.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.erfc()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.erfc", "torch.special.erfc"],
    examples: &[
        ("erfc(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([1.9661, 1.0000, 0.4795, 0.0047])"),
        ("erfc(tensor([9.0]))", "tensor([4.1370e-37])"),
        ("erfc(tensor([-inf, inf, nan]))", "tensor([2., 0., nan])"),
    ],
};
