//! How new tensors are written in ONNX.

use crate::attr::Attr;
use crate::op::{NodeCx, Wire};
use crate::{Attrs, DType, Number, Result, apply};

fn filled(cx: &mut NodeCx<'_>, number: Number) -> Result<()> {
    let (shape, dtype) = (cx.output(0).shape.clone(), cx.output(0).dtype);
    let element = cx.sink.number(number, dtype)?;
    let sizes = cx.constant(&NodeCx::sizes(&shape))?;
    let wire = cx.node("Expand", &[&element, &sizes], Vec::new());
    cx.give(wire)
}

pub(super) fn zeros(cx: &mut NodeCx<'_>) -> Result<()> {
    filled(cx, Number::Int(0))
}

pub(super) fn ones(cx: &mut NodeCx<'_>) -> Result<()> {
    filled(cx, Number::Int(1))
}

pub(super) fn full(cx: &mut NodeCx<'_>) -> Result<()> {
    let number = match cx.attrs.get(1) {
        Some(Attr::Bool(it)) => Number::Bool(*it),
        Some(Attr::Int(it)) => Number::Int(*it),
        Some(Attr::Complex(re, im)) => Number::Complex(*re, *im),
        _ => Number::Float(cx.float(1)),
    };
    filled(cx, number)
}

/// Numbers from here on, one step apart: of whole numbers a range, else the elements.
pub(super) fn arange(cx: &mut NodeCx<'_>) -> Result<()> {
    let is_whole = |idx: usize| matches!(cx.attrs.get(idx), Some(Attr::Int(_) | Attr::None));
    if cx.output(0).dtype != DType::I64 || !(0..3).all(is_whole) {
        return elements(cx);
    }
    let (start, end) = match cx.attrs.get(1) {
        Some(Attr::Int(end)) => (cx.int(0), *end),
        _ => (0, cx.int(0)),
    };
    let numbers = [start, end, cx.int(2)].map(|it| cx.index(it));
    let [start, end, step] = numbers;
    let (start, end, step): (Wire, Wire, Wire) = (start?, end?, step?);
    let wire = cx.node("Range", &[&start, &end, &step], Vec::new());
    cx.give(wire)
}

/// What the op gives, as part of the model.
pub(super) fn elements(cx: &mut NodeCx<'_>) -> Result<()> {
    let attrs: Attrs = cx.attrs.clone();
    let tensor = apply::apply_one(cx.op, &[], &attrs)?;
    let wire = cx.tensor(&tensor)?;
    cx.give(wire)
}
