//! Sequences and optionals.

use super::super::args::Cx;
use super::super::calls::{full, scalar, whole_numbers};
use super::super::value::Value;
use super::slice::parts;
use super::{Operator, many, one};
use crate::functional::{cat, squeeze, unsqueeze};
use crate::{DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    one("ConcatFromSequence", concat_from_sequence),
    many("Optional", |cx| Ok(vec![cx.value(0).cloned().unwrap_or(Value::Nothing)])),
    many("OptionalGetElement", |cx| match cx.value(0) {
        Some(Value::Nothing) | None => Err(cx.bad("the optional has no value")),
        Some(it) => Ok(vec![it.clone()]),
    }),
    many("OptionalHasElement", |cx| {
        let has = !matches!(cx.value(0), Some(Value::Nothing) | None);
        Ok(vec![full(&[], f64::from(u8::from(has)), DType::Bool)?.into()])
    }),
    many("SequenceAt", |cx| {
        let all = cx.sequence(0)?;
        Ok(vec![all[place(cx, 1, all.len(), false)?].clone()])
    }),
    many("SequenceConstruct", |cx| {
        let all = cx.all_inputs()?;
        Ok(vec![Value::Sequence(all.into_iter().map(Value::Tensor).collect())])
    }),
    many("SequenceEmpty", |_| Ok(vec![Value::Sequence(Vec::new())])),
    many("SequenceErase", |cx| {
        let mut all = cx.sequence(0)?.to_vec();
        all.remove(place(cx, 1, all.len(), false)?);
        Ok(vec![Value::Sequence(all)])
    }),
    many("SequenceInsert", |cx| {
        let mut all = cx.sequence(0)?.to_vec();
        let at = place(cx, 2, all.len(), true)?;
        all.insert(at, cx.value(1).cloned().ok_or_else(|| cx.bad("its element is missing"))?);
        Ok(vec![Value::Sequence(all)])
    }),
    one("SequenceLength", |cx| scalar(cx.sequence(0)?.len() as i64)),
    many("SplitToSequence", split_to_sequence),
];

/// A place in a sequence of `n`: that of input `idx`, else the last or, for a new element, the end.
fn place(cx: &Cx<'_>, idx: usize, n: usize, is_new: bool) -> Result<usize> {
    let most = if is_new { n as i64 } else { n as i64 - 1 };
    let at = cx.int_at(idx)?.unwrap_or(most);
    let from_front = if at < 0 { at.saturating_add(n as i64) } else { at };
    match (0..=most).contains(&from_front) {
        true => Ok(from_front as usize),
        false => Err(cx.bad(format!("position {at} is out of range for a sequence of {n}"))),
    }
}

fn concat_from_sequence(cx: &Cx<'_>) -> Result<Tensor> {
    let tensors: Vec<Tensor> = cx
        .sequence(0)?
        .iter()
        .map(|it| match it {
            Value::Tensor(it) => Ok(it.clone()),
            other => Err(cx.bad(format!("the sequence holds {}", other.words()))),
        })
        .collect::<Result<_>>()?;
    let rank = tensors.first().map_or(0, Tensor::rank);
    if cx.flag("new_axis") {
        let axis = cx.axis("axis", 0, rank + 1)? as i64;
        let tensors: Vec<Tensor> =
            tensors.iter().map(|it| unsqueeze(it, axis)).collect::<Result<_>>()?;
        return cat(&tensors, axis);
    }
    cat(&tensors, cx.axis("axis", 0, rank)? as i64)
}

fn split_to_sequence(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let x = cx.input(0)?;
    let axis = cx.axis("axis", 0, x.rank())?;
    let n = x.shape()[axis] as i64;
    let lens = match cx.opt_input(1) {
        None => vec![1; n as usize],
        Some(it) if it.rank() == 0 => match whole_numbers(it)?[..] {
            [each] if each > 0 => {
                (0..n).step_by(each as usize).map(|at| each.min(n - at)).collect()
            }
            _ => return Err(cx.bad("its parts must have elements")),
        },
        Some(it) => whole_numbers(it)?,
    };
    let drops = cx.opt_input(1).is_none() && cx.int("keepdims", 1) == 0;
    let part = |it: Tensor| if drops { squeeze(&it, axis as i64) } else { Ok(it) };
    let all: Vec<Tensor> =
        parts(cx, x, axis, &lens)?.into_iter().map(part).collect::<Result<_>>()?;
    Ok(vec![Value::Sequence(all.into_iter().map(Value::Tensor).collect())])
}
