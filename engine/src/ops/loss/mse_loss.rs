//! `mse_loss`: the squared difference of input and target.

use super::{difference, reduced, reduction};
use crate::functional::mul;
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "mse_loss",
    doc: "The squared difference of input and target.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "MseLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("mse_loss", super::FLAGS_OR_WEIGHT)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.loss.square_loss", "oneflow.nn.functional.mse_loss"],
    examples: &[
        ("mse_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]))", "tensor(2.5000)"),
        (
            "mse_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]), reduction=\"none\")",
            "tensor([1., 4.])",
        ),
        ("mse_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]), reduction=\"sum\")", "tensor(5.)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let distance = difference(cx)?;
    reduced(&mul(&distance, &distance)?, reduction(cx.op.name, cx.attrs, 0)?)
}
