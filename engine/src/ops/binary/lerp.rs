//! `lerp`: `input + weight * (end - input)`.

use crate::op::{Body, DTypeRule, Grad, OpDef, Param};
use crate::rules;

/// The row of `lerp`.
pub static OP: OpDef = OpDef {
    name: "lerp",
    doc: "`input + weight * (end - input)`.",
    params: &[Param::tensor("input"), Param::tensor("end"), Param::tensor("weight")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Ternary(|x, y, w| x.clone() + w * (y - x)),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    onnx: &[],
    aliases: &[],
    examples: &[
        ("lerp(tensor([0.0, 10.0]), tensor([1.0, 20.0]), 0.5)", "tensor([ 0.5000, 15.0000])"),
        ("lerp(tensor([1.0]), tensor([2.0]), tensor([0.0]))", "tensor([1.])"),
        ("lerp(tensor([1.0]), tensor([nan]), tensor([0.5]))", "tensor([nan])"),
    ],
};
