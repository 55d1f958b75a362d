//! `log`: the natural logarithm.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `log`.
pub static OP: OpDef = OpDef {
    name: "log",
    doc: "The natural logarithm.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.log()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Log", 13, &[]),
    aliases: &["megengine.functional.log", "oneflow.log"],
    examples: &[
        ("log(tensor([0.5, 1.0, 10.0]))", "tensor([-0.6931,  0.0000,  2.3026])"),
        ("log(tensor([0.0, -1.0, inf]))", "tensor([-inf, nan, inf])"),
        ("log(tensor(0.25))", "tensor(-1.3863)"),
    ],
};
