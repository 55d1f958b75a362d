//! `huber_loss`: half the squared difference where that is below `delta`, `delta` times the absolute difference less `delta / 2` elsewhere.

use super::{difference, reduced, reduction};
use crate::functional::{abs, lt, mul, num, select_where, sub, to};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "huber_loss",
    doc: "Half the squared difference where that is below `delta`, `delta` times the absolute difference less `delta / 2` elsewhere.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
        Param::with("delta", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "HuberLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { autocast: Autocast::Float32, shapes: shapes::LOSS, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("huber_loss(tensor([1.0, 2.0]), tensor([0.5, 5.0]))", "tensor(1.3125)"),
        (
            "huber_loss(tensor([1.0, 2.0]), tensor([0.5, 5.0]), reduction=\"none\", delta=2.0)",
            "tensor([0.1250, 4.0000])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (distance, delta) = (abs(&difference(cx)?)?, cx.float(1));
    if delta <= 0.0 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "delta",
            problem: "must be positive".into(),
        });
    }
    let near = mul(&mul(&distance, &distance)?, &num(0.5))?;
    let far = mul(&sub(&distance, &num(0.5 * delta))?, &num(delta))?;
    let losses = select_where(&lt(&distance, &num(delta))?, &near, &far)?;
    let losses = to(&losses, cx.input(0)?.dtype())?;
    reduced(&losses, reduction(cx.op.name, cx.attrs, 0)?)
}
