//! How random numbers are written in ONNX: other ones than here, from the same distributions.

use crate::op::{NodeCx, Wire, attr};
use crate::{DType, Result};

/// ONNX draws floats alone, and ONNX Runtime no halves: the others are converted.
fn drawn(cx: &mut NodeCx<'_>, op_type: &str, [first, second]: [(&str, f64); 2]) -> Result<Wire> {
    let sizes = NodeCx::sizes(&cx.output(0).shape);
    let attrs = vec![
        attr::ints("shape", &sizes),
        attr::int("dtype", i64::from(DType::F32.onnx())),
        attr::float(first.0, first.1),
        attr::float(second.0, second.1),
    ];
    Ok(cx.node(op_type, &[], attrs))
}

fn uniform_between(cx: &mut NodeCx<'_>, low: f64, high: f64) -> Result<Wire> {
    drawn(cx, "RandomUniform", [("low", low), ("high", high)])
}

pub(super) fn rand(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = uniform_between(cx, 0.0, 1.0)?;
    cx.give_as(&wire, DType::F32);
    Ok(())
}

pub(super) fn uniform(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = uniform_between(cx, cx.float(0), cx.float(1))?;
    cx.give_as(&wire, DType::F32);
    Ok(())
}

pub(super) fn randn(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = drawn(cx, "RandomNormal", [("mean", 0.0), ("scale", 1.0)])?;
    cx.give_as(&wire, DType::F32);
    Ok(())
}

pub(super) fn normal(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = drawn(cx, "RandomNormal", [("mean", cx.float(0)), ("scale", cx.float(1))])?;
    cx.give_as(&wire, DType::F32);
    Ok(())
}

pub(super) fn randint(cx: &mut NodeCx<'_>) -> Result<()> {
    let floats = uniform_between(cx, cx.int(0) as f64, cx.int(1) as f64)?;
    let wire = cx.node("Floor", &[&floats], Vec::new());
    cx.give_as(&wire, DType::F32);
    Ok(())
}

pub(super) fn bernoulli(cx: &mut NodeCx<'_>) -> Result<()> {
    let wire = cx.node("Bernoulli", &[&cx.input(0)], Vec::new());
    cx.give(wire)
}

pub(super) fn multinomial(cx: &mut NodeCx<'_>) -> Result<()> {
    if !cx.flag(1) && cx.int(0) > 1 {
        return cx.refuse("without replacement it has no operator there");
    }
    if cx.rank(0) != 2 {
        return cx.refuse("its operator takes rows of weights");
    }
    let weights = cx.input_as(0, DType::F32);
    let logits = cx.node("Log", &[&weights], Vec::new());
    let attrs =
        vec![attr::int("sample_size", cx.int(0)), attr::int("dtype", i64::from(DType::I64.onnx()))];
    let wire = cx.node("Multinomial", &[&logits], attrs);
    cx.give(wire)
}

pub(super) fn dropout_mask(cx: &mut NodeCx<'_>) -> Result<()> {
    let (p, zero) = (cx.float(0), cx.number(0.0, DType::F32)?);
    let draws = uniform_between(cx, 0.0, 1.0)?;
    let (limit, scale) = (cx.number(p, DType::F32)?, cx.number(1.0 / (1.0 - p), DType::F32)?);
    let dropped = cx.node("Less", &[&draws, &limit], Vec::new());
    let wire = cx.node("Where", &[&dropped, &zero, &scale], Vec::new());
    cx.give_as(&wire, DType::F32);
    Ok(())
}
