//! `hardtanh`: x limited to `min_val..max_val`, without gradient at the bounds.

use crate::expr::Expr;
use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Default, Grad, InferCx, Onnx, OpDef, Param, ParamKind, Surface};
use crate::{Error, Result, rules};

/// The row of `hardtanh`.
pub static OP: OpDef = OpDef {
    name: "hardtanh",
    doc: "x limited to `min_val..max_val`, without gradient at the bounds.",
    meaning: Meaning::Expression,
    params: &[
        Param::tensor("input"),
        Param::with("min_val", ParamKind::Float, Default::Float(-1.0)),
        Param::with("max_val", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::PromoteNumbers,
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| Expr::param(1).min(Expr::param(0).max(x[0].clone()))),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { refuses: Some(refuse_order), ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.hardtanh", "torch.nn.functional.hardtanh"],
    examples: &[
        (
            "hardtanh(tensor([-1.5, -0.0, 0.5, 2.0]))",
            "tensor([-1.0000, -0.0000,  0.5000,  1.0000])",
        ),
        ("hardtanh(tensor([0.0, inf, nan]))", "tensor([0., 1., nan])"),
        ("hardtanh(tensor([-3.0, 3.0]), -2.0, 2.5)", "tensor([-2.0000,  2.5000])"),
    ],
};

fn refuse_order(cx: &InferCx<'_>) -> Result<()> {
    if cx.float(0) > cx.float(1) {
        let problem =
            format!("is {}: it cannot be greater than max_val, {}", cx.float(0), cx.float(1));
        return Err(Error::Attr { op: cx.op.name, name: "min_val", problem });
    }
    Ok(())
}
