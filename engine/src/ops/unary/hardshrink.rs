//! `hardshrink`: x, but 0 where it is not larger than `lambd` in size.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `hardshrink`.
pub static OP: OpDef = OpDef {
    name: "hardshrink",
    doc: "x, but 0 where it is not larger than `lambd` in size.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::with("lambd", ParamKind::Float, Default::Float(0.5))],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        Expr::select(x[0].clone().abs().le(Expr::param(0)), 0.0, x[0].clone())
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.hardshrink", "torch.nn.functional.hardshrink"],
    examples: &[
        (
            "hardshrink(tensor([-1.5, -0.5, 0.2, 2.0]))",
            "tensor([-1.5000,  0.0000,  0.0000,  2.0000])",
        ),
        ("hardshrink(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("hardshrink(tensor([1.0, -3.0]), 2.0)", "tensor([ 0., -3.])"),
    ],
};
