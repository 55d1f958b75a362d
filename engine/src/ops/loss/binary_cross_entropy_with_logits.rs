//! `binary_cross_entropy_with_logits`: binary cross entropy of sigmoid(input), safe from overflow; `pos_weight` scales the loss of positive targets.

use super::{float_target, reduced, reduction, same_shapes};
use crate::functional::{add, log_sigmoid, mul, neg, num, sub, to};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "binary_cross_entropy_with_logits",
    doc: "Binary cross entropy of sigmoid(input), safe from overflow; `pos_weight` scales the loss of positive targets.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
        Param::with("pos_weight", ParamKind::OptTensor, Default::None),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "BinaryCrossEntropyWithLogitsBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("binary_cross_entropy_with_logits", super::FLAGS)),
        shapes: shapes::LOSS,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[
        "torch.binary_cross_entropy_with_logits",
        "megengine.functional.loss.binary_cross_entropy",
        "oneflow.nn.functional.binary_cross_entropy_with_logits",
    ],
    examples: &[
        (
            "binary_cross_entropy_with_logits(tensor([2.0, -1.0]), tensor([1.0, 0.0]))",
            "tensor(0.2201)",
        ),
        (
            "binary_cross_entropy_with_logits(tensor([1000.0, 0.0]), tensor([0.0, 1.0]), reduction=\"none\")",
            "tensor([1.0000e+03, 6.9315e-01])",
        ),
    ],
};

/// `(1 - t) x - (1 + (w - 1) t) log(sigmoid(x))`.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (x, target) = same_shapes(cx)?;
    float_target(cx)?;
    let mut tail = neg(&log_sigmoid(x)?)?;
    if let Some(weight) = cx.opt_input(3) {
        let scale = add(&mul(&sub(weight, &num(1.0))?, target)?, &num(1.0))?;
        tail = mul(&tail, &scale)?;
    }
    let mut losses = add(&mul(&sub(&num(1.0), target)?, x)?, &tail)?;
    if let Some(weight) = cx.opt_input(2) {
        losses = mul(&losses, weight)?;
    }
    let losses = to(&losses, target.dtype())?;
    reduced(&losses, reduction(cx.op.name, cx.attrs, 0)?)
}
