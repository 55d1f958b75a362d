//! `celu`: x where it is positive, else `alpha * (exp(x / alpha) - 1)`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `celu`.
pub static OP: OpDef = OpDef {
    name: "celu",
    doc: "x where it is positive, else `alpha * (exp(x / alpha) - 1)`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::with("alpha", ParamKind::Float, Default::Float(1.0))],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        let bent = (x[0].clone() / Expr::param(0)).expm1() * Expr::param(0);
        Expr::select(x[0].clone().gt(0.0), x[0].clone(), bent)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.celu", "torch.nn.functional.celu"],
    examples: &[
        ("celu(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.7769, -0.0000,  0.5000,  2.0000])"),
        ("celu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("celu(tensor([-10.0, 3.0]), 0.5)", "tensor([-0.5000,  3.0000])"),
    ],
};
