//! `softplus`: `log(1 + exp(beta * x)) / beta`; x itself where `beta * x` is above `threshold`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `softplus`.
pub static OP: OpDef = OpDef {
    name: "softplus",
    doc: "`log(1 + exp(beta * x)) / beta`; x itself where `beta * x` is above `threshold`.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::with("beta", ParamKind::Float, Default::Float(1.0)),
        Param::with("threshold", ParamKind::Float, Default::Float(20.0)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        let scaled = x[0].clone() * Expr::param(0);
        let soft = scaled.clone().exp().log1p() / Expr::param(0);
        Expr::select(scaled.gt(Expr::param(1)), x[0].clone(), soft)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("Softplus", 1, &[]),
    aliases: &[
        "megengine.functional.nn.softplus",
        "oneflow.softplus",
        "oneflow.nn.functional.softplus",
        "torch.nn.functional.softplus",
    ],
    examples: &[
        ("softplus(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.2014, 0.6931, 0.9741, 2.1269])"),
        ("softplus(tensor([0.0, inf, nan]))", "tensor([0.6931,    inf,    nan])"),
        ("softplus(tensor([-1.0, 30.0]), beta=2.0)", "tensor([ 0.0635, 30.0000])"),
    ],
};
