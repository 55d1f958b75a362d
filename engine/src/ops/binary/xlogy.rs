//! `xlogy`: `input * log(other)`, 0 where the input is 0.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;

pub static OP: OpDef = OpDef {
    name: "xlogy",
    doc: "`input * log(other)`, 0 where the input is 0 and the other is not NaN.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteToFloat,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| {
        let no_log = y.clone().le(0.0).or(y.clone().isinf());
        Expr::select(x.clone().eq(0.0).and(no_log), 0.0, x * y.log())
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["torch.special.xlogy"],
    examples: &[
        (
            "xlogy(tensor([0.0, 1.0, 2.0]), tensor([0.0, 1.0, 4.0]))",
            "tensor([0.0000, 0.0000, 2.7726])",
        ),
        ("xlogy(tensor([0.0, 2.0]), tensor([nan, -1.0]))", "tensor([nan, nan])"),
        ("xlogy(tensor(2), tensor(4))", "tensor(2.7726)"),
    ],
};
