//! `hardswish`: `x * relu6(x + 3) / 6`.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

/// The row of `hardswish`.
pub static OP: OpDef = OpDef {
    name: "hardswish",
    doc: "`x * relu6(x + 3) / 6`.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::FloatsToSame,
    infer: rules::broadcast,
    body: Body::Unary(|x| {
        let shifted = x.clone() + 3.0;
        let top = Expr::select(shifted.clone().ge(6.0), 6.0, shifted.clone());
        x * Expr::select(shifted.le(0.0), 0.0, top) / 6.0
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::named("HardSwish", 14, &[]),
    aliases: &[
        "megengine.functional.hswish",
        "megengine.functional.nn.hswish",
        "oneflow.hardswish",
        "oneflow.nn.functional.hardswish",
        "torch.nn.functional.hardswish",
    ],
    examples: &[
        (
            "hardswish(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-0.3750, -0.0000,  0.2917,  1.6667])",
        ),
        ("hardswish(tensor([0.0, inf]))", "tensor([0., inf])"),
        ("hardswish(tensor([-3.0, 3.0, -4.0]))", "tensor([-0., 3., -0.])"),
    ],
};
