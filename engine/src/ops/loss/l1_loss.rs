//! `l1_loss`: the absolute difference of input and target.

use super::{reduced, reduction};
use crate::functional::{abs, sub};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "l1_loss",
    doc: "The absolute difference of input and target.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
    ],
    dtypes: DTypeRule::Promote,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("l1_loss", super::FLAGS_OR_WEIGHT)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.loss.l1_loss", "oneflow.nn.functional.l1_loss"],
    examples: &[
        ("l1_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]))", "tensor(1.5000)"),
        ("l1_loss(tensor([1.0, 2.0]), tensor([0.0, 4.0]), reduction=\"none\")", "tensor([1., 2.])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let distance = abs(&sub(cx.input(0)?, cx.input(1)?)?)?;
    reduced(&distance, reduction(cx.op.name, cx.attrs, 0)?)
}
