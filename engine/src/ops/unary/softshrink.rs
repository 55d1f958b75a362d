//! `softshrink`: x brought nearer to 0 by `lambd`, and 0 where it is not larger than that.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `softshrink`.
pub static OP: OpDef = OpDef {
    name: "softshrink",
    doc: "x brought nearer to 0 by `lambd`, and 0 where it is not larger than that.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::with("lambd", ParamKind::Float, Default::Float(0.5))],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        let (x, by) = (x[0].clone(), Expr::param(0));
        let nearer =
            Expr::select(by.clone().lt(x.clone()), x.clone() - by.clone(), x.clone() + by.clone());
        Expr::select(x.abs().le(by), 0.0, nearer)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.softshrink", "torch.nn.functional.softshrink"],
    examples: &[
        (
            "softshrink(tensor([-1.5, -0.5, 0.2, 2.0]))",
            "tensor([-1.0000,  0.0000,  0.0000,  1.5000])",
        ),
        ("softshrink(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("softshrink(tensor([1.0, -3.0]), 2.0)", "tensor([ 0., -1.])"),
    ],
};
