//! `threshold`: x where it is larger than `threshold`, else `value`.

use crate::dtype::Number;
use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, InferCx, Onnx, OpDef, Param, ParamKind, Surface};
use crate::{Result, rules};

/// The row of `threshold`.
pub static OP: OpDef = OpDef {
    name: "threshold",
    doc: "x where it is larger than `threshold`, else `value`.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::required("threshold", ParamKind::Float),
        Param::required("value", ParamKind::Float),
    ],
    dtypes: DTypeRule::Promote,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| {
        Expr::select(x[0].clone().le(Expr::param(0)), Expr::param(1), x[0].clone())
    }),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { refuses: Some(limits_beside_whole), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.threshold", "torch.nn.functional.threshold"],
    examples: &[
        ("threshold(tensor([-1.5, 0.5, 2.0]), 0.5, 9.0)", "tensor([9., 9., 2.])"),
        ("threshold(tensor([0.0, inf, nan]), 0.1, -1.0)", "tensor([-1., inf, nan])"),
        ("threshold(tensor([1, 5]), 3, 0)", "tensor([0, 5])"),
    ],
};

/// The dtype of whole numbers must hold both.
fn limits_beside_whole(cx: &InferCx<'_>) -> Result<()> {
    let dtype = cx.dtype(0);
    if dtype.is_float() || dtype.is_complex() {
        return Ok(());
    }
    for (at, name) in ["threshold", "value"].into_iter().enumerate() {
        rules::check_fits(cx.op.name, name, Number::Float(cx.float(at)), dtype)?;
    }
    Ok(())
}
