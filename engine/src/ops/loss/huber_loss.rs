//! `huber_loss`: half the squared difference where that is below `delta`, `delta` times the absolute difference less `delta / 2` elsewhere.

use super::{reduced, reduction};
use crate::functional::to;
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Is, Onnx, Param, ParamKind,
    Surface, When, shapes,
};
use crate::{Attr, DType, Error, OpDef, Outputs, Result, apply_one, rules};

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
    dtypes: DTypeRule::OfParts(&DTypeRule::FloatFirst),
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "HuberLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("huber_loss", When::Arg("weight", Is::Given))),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
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

/// The result has the dtype of the input; halves are computed as float32.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, target, delta) = (cx.input(0)?, cx.input(1)?, cx.float(1));
    let dtype = match input.dtype().promote(target.dtype()) {
        half if half.is_half() => DType::F32,
        dtype => dtype,
    };
    if delta <= 0.0 {
        return Err(Error::Attr {
            op: cx.op.name,
            name: "delta",
            problem: "must be positive".into(),
        });
    }
    let attrs = [delta, 0.5, delta].map(Attr::Float).into_iter().collect();
    let losses = apply_one(&super::_huber::OP, &[to(input, dtype)?, to(target, dtype)?], &attrs)?;
    let results = reduced(&losses, reduction(cx.op.name, cx.attrs, 0)?)?;
    results.iter().map(|it| to(it, input.dtype())).collect()
}
