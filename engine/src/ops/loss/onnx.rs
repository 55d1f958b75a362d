//! How losses are written in ONNX.

use crate::attr::Attr;
use crate::op::{NodeCx, attr};
use crate::{DType, Result};

fn ignoring(cx: &NodeCx<'_>, reduction: &str) -> Vec<crate::onnx::proto::AttributeProto> {
    vec![attr::int("ignore_index", cx.int(0)), attr::text("reduction", reduction)]
}

/// The loss, and what a mean divides by.
pub(super) fn cross_entropy(cx: &mut NodeCx<'_>) -> Result<()> {
    let reduction = match cx.attrs.get(1) {
        Some(Attr::Str(it)) => it,
        _ => "mean",
    };
    let (scores, target) = (cx.input(0), cx.input_as(1, DType::I64));
    let attrs = ignoring(cx, reduction);
    let wire = cx.node("SoftmaxCrossEntropyLoss", &[&scores, &target], attrs);
    cx.give(wire)?;
    if !cx.is_used(1) {
        return Ok(());
    }
    let dtype = cx.dtype(0);
    if reduction != "mean" {
        let one = cx.number(1.0, dtype)?;
        return cx.give(one);
    }
    let ignored = cx.index(cx.int(0))?;
    let left_out = cx.node("Equal", &[&target, &ignored], Vec::new());
    let counted = cx.node("Not", &[&left_out], Vec::new());
    let counted = cx.cast(&counted, DType::Bool, dtype);
    let attrs = vec![attr::int("keepdims", 0)];
    let count = cx.node("ReduceSum", &[&counted], attrs);
    cx.give(count)
}

pub(super) fn pick_class(cx: &mut NodeCx<'_>) -> Result<()> {
    let (scores, target) = (cx.input(0), cx.input_as(1, DType::I64));
    let attrs = ignoring(cx, "none");
    let loss = cx.node("NegativeLogLikelihoodLoss", &[&scores, &target], attrs);
    let wire = cx.node("Neg", &[&loss], Vec::new());
    cx.give(wire)
}

/// ONNX does not look whether they lie between 0 and 1.
pub(super) fn probabilities(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = cx.input(0);
    cx.give(wire)
}
