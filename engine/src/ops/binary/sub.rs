//! `sub`: the difference.

use crate::meaning::Meaning;
use crate::op::{Alpha, Body, DTypeRule, Grad, InferCx, Onnx, OpDef, Param, Surface};
use crate::{DType, Error, Result, rules};

/// The row of `sub`.
pub static OP: OpDef = OpDef {
    name: "sub",
    doc: "The difference.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Binary(|x, y| x - y),
    grad: Grad::Derived,
    step: Some(|cx| if cx.is_number(0) { "RsubBackward1" } else { "SubBackward0" }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        alpha: Some(Alpha { op: &super::axpy::OP, negated: true }),
        refuses: Some(truth_values),
        ..Surface::PLAIN
    },
    onnx: Onnx::named("Sub", 14, &[]),
    aliases: &["megengine.functional.sub", "oneflow.sub", "torch.subtract"],
    examples: &[
        ("sub(tensor([-7.0, 7.0, 0.0]), tensor([2.0, -2.0, 0.0]))", "tensor([-9.,  9.,  0.])"),
        (
            "sub(tensor([1.0, inf]), tensor([[nan], [2.0]]))",
            "tensor([[nan, nan],\n        [-1., inf]])",
        ),
        ("sub(tensor([-7, 7]), tensor([2, -2]))", "tensor([-9,  9])"),
    ],
};

/// Truth values have no difference, also beside numbers.
fn truth_values(cx: &InferCx<'_>) -> Result<()> {
    match cx.inputs.iter().any(|it| it.dtype() == DType::Bool) {
        true => Err(Error::DType {
            op: cx.op.name,
            dtype: DType::Bool,
            allowed: "a number; invert a mask with ~mask or logical_not(), or convert it with .long()",
        }),
        false => Ok(()),
    }
}
