//! `elu`: x where it is positive, else `alpha * (exp(x) - 1)`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `elu`.
pub static OP: OpDef = OpDef {
    name: "elu",
    doc: "x where it is positive, else `alpha * (exp(x) - 1)`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::with("alpha", ParamKind::Float, Default::Float(1.0))],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        Expr::select(x[0].clone().gt(0.0), x[0].clone(), x[0].clone().expm1() * Expr::param(0))
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Elu", 6, &[("alpha", "alpha")]),
    aliases: &[
        "megengine.functional.nn.elu",
        "oneflow.nn.functional.elu",
        "torch.nn.functional.elu",
    ],
    examples: &[
        ("elu(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([-0.7769, -0.0000,  0.5000,  2.0000])"),
        ("elu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("elu(tensor([-10.0, 3.0]), 0.5)", "tensor([-0.5000,  3.0000])"),
    ],
};
