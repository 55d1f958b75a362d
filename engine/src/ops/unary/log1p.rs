//! `log1p`: `log(1 + x)`, accurate near 0.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `log1p`.
pub static OP: OpDef = OpDef {
    name: "log1p",
    doc: "`log(1 + x)`, accurate near 0.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.log1p()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.log1p", "oneflow.log1p"],
    examples: &[
        ("log1p(tensor([0.5, 1.0, 10.0]))", "tensor([0.4055, 0.6931, 2.3979])"),
        ("log1p(tensor([-1.0, -2.0, inf]))", "tensor([-inf, nan, inf])"),
        ("log1p(tensor(1e-8))", "tensor(1.0000e-08)"),
    ],
};
