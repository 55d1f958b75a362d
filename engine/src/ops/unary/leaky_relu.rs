//! `leaky_relu`: x where it is positive, else x times a small slope.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;

/// The row of `leaky_relu`.
pub static OP: OpDef = OpDef {
    name: "leaky_relu",
    doc: "x where it is positive, else x times a small slope.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::with("negative_slope", ParamKind::Float, Default::Float(0.01)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        Expr::select(x[0].clone().gt(0.0), x[0].clone(), x[0].clone() * Expr::param(0))
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("LeakyRelu", 16, &[("negative_slope", "alpha")]),
    aliases: &[
        "megengine.functional.leaky_relu",
        "megengine.functional.nn.leaky_relu",
        "oneflow.nn.functional.leaky_relu",
        "torch.nn.functional.leaky_relu",
    ],
    examples: &[
        (
            "leaky_relu(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-0.0150, -0.0000,  0.5000,  2.0000])",
        ),
        ("leaky_relu(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("leaky_relu(tensor([-10.0, 3.0]), 0.2)", "tensor([-2.,  3.])"),
    ],
};
