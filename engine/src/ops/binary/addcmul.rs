//! `addcmul`: `input + value * tensor1 * tensor2`.

use crate::dtype::Number;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, InferCx, Onnx, OpDef, Param, ParamKind, Surface};
use crate::{Result, rules};

pub static OP: OpDef = OpDef {
    name: "addcmul",
    doc: "`input + value * tensor1 * tensor2`.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::tensor("tensor1"),
        Param::tensor("tensor2"),
        Param::with("value", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| x[0].clone() + Expr::param(0) * x[1].clone() * x[2].clone()),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { refuses: Some(value_beside_whole), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.addcmul"],
    examples: &[
        (
            "addcmul(tensor([1.0, 2.0]), tensor([3.0, 4.0]), tensor([5.0, 6.0]), value=0.5)",
            "tensor([ 8.5000, 14.0000])",
        ),
        ("addcmul(tensor(1.0), tensor([2.0, nan]), tensor(3.0))", "tensor([7., nan])"),
        (
            "addcmul(tensor([1.0]), tensor([[2.0], [3.0]]), tensor([1.0]))",
            "tensor([[3.],\n        [4.]])",
        ),
    ],
};

/// The dtype of whole numbers must hold what they are multiplied by.
fn value_beside_whole(cx: &InferCx<'_>) -> Result<()> {
    let Some(dtype) = rules::whole_dtype(cx)? else { return Ok(()) };
    let value = cx.float(0);
    let number =
        if value.fract() == 0.0 { Number::Int(value as i64) } else { Number::Float(value) };
    rules::check_fits(cx.op.name, "value", number, dtype)
}
