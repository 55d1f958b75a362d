//! Losses of classes.

use super::super::args::Cx;
use super::super::calls::{call, full, reshape};
use super::super::value::Value;
use super::{Operator, many, one, values};
use crate::functional::{
    div, eq, gather, logical_not, mean, mul, neg, select_where, squeeze, sum, to, unsqueeze,
};
use crate::{Attr, DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("NegativeLogLikelihoodLoss", |cx| likelihood(cx, cx.input(0)?)),
    many("SoftmaxCrossEntropyLoss", cross_entropy),
];

fn cross_entropy(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let logits = cx.input(0)?;
    if logits.rank() < 2 {
        return Err(cx.bad(format!("{} has no dimension of classes", logits.shape())));
    }
    let logs = call("log_softmax", &[logits], &[Attr::Int(1)])?;
    Ok(values([likelihood(cx, &logs)?, logs]))
}

/// Minus the logarithms at the target classes, which stand along dimension 1, weighted; targets of `ignore_index` do not count.
fn likelihood(cx: &Cx<'_>, logs: &Tensor) -> Result<Tensor> {
    let target = to(cx.input(1)?, DType::I64)?;
    let mut expected = logs.shape().to_vec();
    if expected.len() < 2 {
        return Err(cx.bad(format!("{} has no dimension of classes", logs.shape())));
    }
    let n_classes = expected.remove(1);
    if target.shape()[..] != expected[..] {
        return Err(cx.bad(format!("its targets are {}, not {expected:?}", target.shape())));
    }
    let ignored = match cx.opt_int("ignore_index") {
        Some(it) => Some(eq(&target, &full(&[], it as f64, DType::I64)?)?),
        None => None,
    };
    let place = match &ignored {
        Some(it) => select_where(it, &full(&[], 0.0, DType::I64)?, &target)?,
        None => target,
    };
    let zero = full(&[], 0.0, logs.dtype())?;
    let counted = |x: &Tensor| {
        ignored.as_ref().map_or_else(|| Ok(x.clone()), |it| select_where(it, &zero, x))
    };
    let picked = squeeze(&gather(logs, 1, &unsqueeze(&place, 1)?)?, 1)?;
    let mut loss = counted(&neg(&picked)?)?;
    let weights = match (cx.opt_input(2), &ignored) {
        (Some(it), _) if it.shape()[..] != [n_classes] => {
            return Err(cx.bad(format!("its weights are {}, not [{n_classes}]", it.shape())));
        }
        (Some(it), _) => {
            let flat = reshape(&place, &[place.numel()])?;
            Some(counted(&reshape(&gather(it, 0, &flat)?, &expected)?)?)
        }
        (None, Some(it)) => Some(to(&logical_not(it)?, logs.dtype())?),
        (None, None) => None,
    };
    if let Some(it) = &weights {
        loss = mul(&loss, it)?;
    }
    match cx.text("reduction", "mean") {
        "none" => Ok(loss),
        "sum" => sum(&loss, &[], false),
        "mean" => match &weights {
            Some(it) => div(&sum(&loss, &[], false)?, &sum(it, &[], false)?),
            None => mean(&loss, &[], false),
        },
        other => Err(cx.bad(format!("its reduction '{other}' is not known"))),
    }
}
