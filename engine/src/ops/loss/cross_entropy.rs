//! `cross_entropy`: the cross entropy of scores and targets: classes, or probabilities when the target is a float tensor of the shape of the input.

use smallvec::smallvec;

use super::class_rows::{Rows, refuse_narrow};
use super::{Reduction, reduced, reduction};
use crate::functional::{add, mul, neg, num, reshape, sum};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Form, Grad, Onnx, Param, ParamKind, Surface,
    shapes,
};
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, apply, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "cross_entropy",
    doc: "The cross entropy of scores and targets: classes, or probabilities when the target is a float tensor of the shape of the input. Classes lie in dimension 1 (0 for a vector).",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::tensor("target"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("ignore_index", ParamKind::Int, Default::Int(-100)),
        Param::with("reduction", ParamKind::Str, Default::Str("mean")),
        Param::with("label_smoothing", ParamKind::Float, Default::Float(0.0)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "NllLossBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Float32,
        form: Some(Form::new("cross_entropy", super::FLAGS)),
        refuses_in_torch: Some(refuse_narrow),
        shapes: shapes::CLASSES,
        takes_no_numbers: true,
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.loss.cross_entropy", "oneflow.nn.functional.cross_entropy"],
    examples: &[
        (
            "cross_entropy(tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]]), tensor([1, 2]))",
            "tensor(0.7815)",
        ),
        ("cross_entropy(tensor([[1.0, 2.0]]), tensor([[0.5, 0.5]]))", "tensor(0.8133)"),
        (
            "cross_entropy(tensor([[1.0, 2.0], [3.0, 0.0]]), tensor([0, -100]), label_smoothing=0.1)",
            "tensor(1.2633)",
        ),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (scores, target) = (cx.input(0)?, cx.input(1)?);
    let how = reduction(cx.op.name, cx.attrs, 1)?;
    if target.dtype().is_float() {
        check_probabilities(scores, target)?;
        if cx.int(0) >= 0 {
            let problem = "is not supported for floating point target".into();
            return Err(Error::Attr { op: OP.name, name: "ignore_index", problem });
        }
        return probabilities(cx, how);
    }
    let (ignored, smoothing) = (cx.int(0), smoothing(cx)?);
    let rows = Rows::new(cx.op.name, scores, target)?;
    if cx.opt_input(2).is_none() && smoothing == 0.0 {
        let words = ["none", "mean", "sum"];
        let attrs = smallvec![Attr::Int(ignored), Attr::Str(words[how as usize])];
        let inputs = [rows.scores.clone(), rows.target.clone()];
        let losses = apply(&super::softmax_cross_entropy::OP, &inputs, &attrs)?;
        let shape = if how == Reduction::None { target.shape().clone() } else { Shape::default() };
        return Ok(smallvec![reshape(&losses[0], &shape)?]);
    }
    let log_p = log_softmax(&rows.scores)?;
    let picked = neg(&rows.picked(&log_p, ignored)?)?;
    let hard = rows.finish(picked, cx.opt_input(2), ignored, how, target)?;
    if smoothing == 0.0 {
        return Ok(hard);
    }
    let weighted =
        cx.opt_input(2).map_or_else(|| Ok(log_p.clone()), |weight| mul(&log_p, weight))?;
    let spread = neg(&sum(&weighted, &[1], false)?)?;
    let n_classes = rows.scores.shape()[1] as f64;
    let soft = rows.finish_smooth(spread, cx.opt_input(2), ignored, how, target)?;
    Ok(smallvec![add(
        &mul(&hard[0], &num(1.0 - smoothing))?,
        &mul(&soft, &num(smoothing / n_classes))?
    )?])
}

/// A target of floats must be probabilities; most often class numbers were meant.
fn check_probabilities(scores: &Tensor, target: &Tensor) -> Result<()> {
    if scores.shape() == target.shape() {
        return Ok(());
    }
    let rule = "a float target holds a probability for each score; class numbers are whole numbers, one for each row: \
                target.long()";
    let shapes = vec![scores.shape().clone(), target.shape().clone()];
    Err(Error::Shapes { op: OP.name, shapes, rule: rule.into() })
}

fn smoothing(cx: &ComposedCx<'_>) -> Result<f64> {
    let smoothing = cx.float(2);
    if (0.0..=1.0).contains(&smoothing) {
        return Ok(smoothing);
    }
    Err(Error::Attr {
        op: cx.op.name,
        name: "label_smoothing",
        problem: "must lie between 0 and 1".into(),
    })
}

fn log_softmax(scores: &Tensor) -> Result<Tensor> {
    apply_one(
        &crate::ops::norm::log_softmax::OP,
        std::slice::from_ref(scores),
        &smallvec![Attr::Int(1), Attr::None],
    )
}

/// `-sum(target * log_softmax(x))` over the classes; a mean is over everything else.
fn probabilities(cx: &ComposedCx<'_>, how: Reduction) -> Result<Outputs> {
    let (scores, target) = super::same_shapes(cx)?;
    let dim = i64::from(scores.rank() > 1);
    let n_classes = scores.shape().get(dim as usize).copied().unwrap_or(1);
    let smoothing = smoothing(cx)?;
    let target = match smoothing {
        0.0 => target.clone(),
        _ => add(&mul(target, &num(1.0 - smoothing))?, &num(smoothing / n_classes as f64))?,
    };
    let attrs = smallvec![Attr::Int(dim), Attr::None];
    let mut log_p =
        apply_one(&crate::ops::norm::log_softmax::OP, std::slice::from_ref(scores), &attrs)?;
    if let Some(weight) = cx.opt_input(2) {
        let shape: Shape = (dim as usize..scores.rank())
            .map(|it| if it == dim as usize { n_classes } else { 1 })
            .collect();
        log_p = mul(&log_p, &reshape(weight, &shape)?)?;
    }
    let losses = neg(&sum(&mul(&log_p, &target)?, &[dim], false)?)?;
    reduced(&losses, how)
}
