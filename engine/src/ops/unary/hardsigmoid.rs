//! `hardsigmoid`: `relu6(x + 3) / 6`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `hardsigmoid`.
pub static OP: OpDef = OpDef {
    name: "hardsigmoid",
    doc: "`relu6(x + 3) / 6`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| {
        let right = Expr::select(x.clone().ge(3.0), 1.0, (x.clone() + 3.0) / 6.0);
        Expr::select(x.le(-3.0), 0.0, right)
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &[
        "megengine.functional.hsigmoid",
        "megengine.functional.nn.hsigmoid",
        "oneflow.hardsigmoid",
        "oneflow.nn.functional.hardsigmoid",
        "torch.nn.functional.hardsigmoid",
    ],
    examples: &[
        ("hardsigmoid(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([0.2500, 0.5000, 0.5833, 0.8333])"),
        ("hardsigmoid(tensor([0.0, inf, nan]))", "tensor([0.5000, 1.0000,    nan])"),
        ("hardsigmoid(tensor([-3.0, 3.0, -4.0]))", "tensor([0., 1., 0.])"),
    ],
};
