//! `erfinv`: the inverse of the error function.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `erfinv`.
pub static OP: OpDef = OpDef {
    name: "erfinv",
    doc: "The inverse of the error function: the x with `erf(x) = input`. Infinite at -1 and 1, NaN beyond.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.erfinv()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.erfinv", "torch.special.erfinv"],
    examples: &[
        ("erfinv(tensor([-0.5, 0.0, 0.9]))", "tensor([-0.4769,  0.0000,  1.1631])"),
        ("erfinv(tensor([-1.0, 1.0, 1.5]))", "tensor([-inf, inf, nan])"),
        ("erfinv(tensor([1e-30, 0.999999]))", "tensor([8.8623e-31, 3.4571e+00])"),
    ],
};
