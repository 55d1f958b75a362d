//! `smooth_l1_loss`: half the squared difference over `beta` where that is below `beta`, the absolute difference less `beta / 2` elsewhere.

use super::{difference, promoted, reduced, reduction};
use crate::functional::abs;
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Attr, Error, OpDef, Outputs, Result, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "smooth_l1_loss",
    doc: "Half the squared difference over `beta` where that is below `beta`, the absolute difference less `beta / 2` elsewhere.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
        Param::with("beta", ParamKind::Float, Default::Float(1.0)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "SmoothL1LossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("smooth_l1_loss", super::FLAGS)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nn.functional.smooth_l1_loss"],
    examples: &[
        ("smooth_l1_loss(tensor([1.0, 2.0]), tensor([0.5, 5.0]))", "tensor(1.3125)"),
        (
            "smooth_l1_loss(tensor([1.0, 2.0]), tensor([0.5, 5.0]), reduction=\"none\", beta=2.0)",
            "tensor([0.0625, 2.0000])",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (operands, beta) = (promoted(cx)?, cx.float(1));
    if beta < 0.0 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "beta",
            problem: "must not be negative".into(),
        });
    }
    let how = reduction(cx.op.name, cx.attrs, 0)?;
    let losses = match beta {
        0.0 => abs(&difference(cx)?)?,
        _ => {
            let attrs = [beta, 0.5 / beta, 1.0].map(Attr::Float).into_iter().collect();
            apply_one(&super::_huber::OP, &operands, &attrs)?
        }
    };
    reduced(&losses, how)
}
