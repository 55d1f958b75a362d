//! `cube`: the third power, by two products.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `cube`.
pub static OP: OpDef = OpDef {
    name: "cube",
    doc: "The third power, by two products.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| x.clone() * x.clone() * x),
    grad: Grad::Derived,
    step: Some(|_| "PowBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("cube(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-3.3750, -0.0000,  0.1250,  8.0000])"),
        ("cube(tensor([-inf, inf, nan]))", "tensor([-inf,  inf,  nan])"),
        ("cube(tensor([1e20, -1e-20]))", "tensor([inf, -0.])"),
    ],
};
