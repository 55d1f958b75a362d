//! Branches and loops, whose graphs see the values around them.

use super::super::args::Cx;
use super::super::calls::{full, scalar};
use super::super::value::Value;
use super::{Operator, many};
use crate::functional::{cat, flip, select, unsqueeze};
use crate::{DType, Result, Tensor};

pub(super) static ALL: &[Operator] = &[
    many("If", branch),
    many("Loop", repeated),
    many("Scan", scan),
    many("SequenceMap", sequence_map),
];

/// Whether a condition of one element holds.
fn holds(cx: &Cx<'_>, condition: &Tensor) -> Result<bool> {
    match condition.numel() {
        1 => Ok(!condition.item()?.is_zero()),
        n => Err(cx.bad(format!("a condition has one element, this one {n}"))),
    }
}

fn branch(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let taken = if holds(cx, cx.input(0)?)? { "then_branch" } else { "else_branch" };
    cx.run(cx.graph(taken)?, Vec::new())
}

fn repeated(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let body = cx.graph("body")?;
    let most = cx.int_at(0)?.unwrap_or(i64::MAX);
    let mut goes_on = cx.opt_input(1).map_or(Ok(true), |it| holds(cx, it))?;
    let mut state: Vec<Value> =
        (2..cx.n_inputs()).map(|it| cx.value(it).cloned().unwrap_or(Value::Nothing)).collect();
    let n_state = state.len();
    let n_scans = body.outputs.len().checked_sub(1 + n_state);
    let n_scans =
        n_scans.ok_or_else(|| cx.bad("its body gives less than the state of the loop"))?;
    let mut scans: Vec<Vec<Tensor>> = vec![Vec::new(); n_scans];
    let mut turn = 0;
    while goes_on && turn < most {
        let condition = full(&[], 1.0, DType::Bool)?;
        let mut inputs = vec![Value::Tensor(scalar(turn)?), Value::Tensor(condition)];
        inputs.append(&mut state);
        let mut given = cx.run(body, inputs)?;
        let rest = given.split_off(1 + n_state);
        collect(cx, &mut scans, rest)?;
        state = given.split_off(1);
        goes_on = match &given[..] {
            [Value::Tensor(it)] => holds(cx, it)?,
            _ => return Err(cx.bad("its condition is no tensor")),
        };
        turn += 1;
    }
    for scan in scans {
        state.push(Value::Tensor(joined(&scan, 0)?));
    }
    Ok(state)
}

fn collect(cx: &Cx<'_>, scans: &mut [Vec<Tensor>], given: Vec<Value>) -> Result<()> {
    for (scan, value) in scans.iter_mut().zip(given) {
        match value {
            Value::Tensor(it) => scan.push(it),
            other => return Err(cx.bad(format!("{} cannot be joined to a tensor", other.words()))),
        }
    }
    Ok(())
}

/// Tensors side by side in a new dimension.
fn joined(all: &[Tensor], axis: i64) -> Result<Tensor> {
    if all.is_empty() {
        return full(&[0], 0.0, DType::F32);
    }
    let all: Vec<Tensor> = all.iter().map(|it| unsqueeze(it, axis)).collect::<Result<_>>()?;
    cat(&all, axis)
}

fn scan(cx: &Cx<'_>) -> Result<Vec<Value>> {
    if cx.opset() < 9 {
        return old_scan(cx);
    }
    let all: Vec<Value> = (0..cx.n_inputs())
        .map(|it| cx.input(it).cloned().map(Value::Tensor))
        .collect::<Result<_>>()?;
    scanned(cx, all)
}

/// Before opset 9 each sequence of a batch was gone through alone.
fn old_scan(cx: &Cx<'_>) -> Result<Vec<Value>> {
    if cx.value(0).is_some() {
        return Err(cx.bad("lengths of sequences are not supported in Scan of opset 8"));
    }
    let n = cx.input(1)?.shape().first().copied().unwrap_or(0);
    let mut batches: Vec<Vec<Tensor>> = Vec::new();
    for at in 0..n {
        let part = |it| select(cx.input(it)?, 0, at as i64).map(Value::Tensor);
        let all = (1..cx.n_inputs()).map(part).collect::<Result<_>>()?;
        let given = scanned(cx, all)?;
        batches.resize(given.len(), Vec::new());
        collect(cx, &mut batches, given)?;
    }
    batches.iter().map(|it| joined(it, 0).map(Value::Tensor)).collect()
}

fn scanned(cx: &Cx<'_>, mut state: Vec<Value>) -> Result<Vec<Value>> {
    let body = cx.graph("body")?;
    let n_scans = usize::try_from(cx.int("num_scan_inputs", 0)).unwrap_or(usize::MAX);
    let n_state = state.len().checked_sub(n_scans).filter(|_| n_scans > 0);
    let n_state = n_state.ok_or_else(|| cx.bad("its num_scan_inputs does not fit its inputs"))?;
    let of = |name: &str, at: usize| cx.ints(name).and_then(|it| it.get(at)).copied().unwrap_or(0);
    let mut sources = Vec::new();
    for (at, value) in state.split_off(n_state).into_iter().enumerate() {
        let Value::Tensor(x) = value else { return Err(cx.bad("it goes over tensors only")) };
        let axis = cx.dim(of("scan_input_axes", at), x.rank())? as i64;
        let name = if cx.opset() < 9 { "directions" } else { "scan_input_directions" };
        let x = if of(name, at) == 1 { flip(&x, &[axis])? } else { x };
        sources.push((x, axis));
    }
    let turns = sources[0].0.shape()[sources[0].1 as usize];
    if sources.iter().any(|(x, axis)| x.shape()[*axis as usize] != turns) {
        return Err(cx.bad("the sequences that it goes over differ in length"));
    }
    let n_outputs = body.outputs.len().checked_sub(n_state);
    let n_outputs = n_outputs.ok_or_else(|| cx.bad("its body gives less than the state"))?;
    let mut scans: Vec<Vec<Tensor>> = vec![Vec::new(); n_outputs];
    for turn in 0..turns as i64 {
        let parts = sources.iter().map(|(x, axis)| select(x, *axis, turn).map(Value::Tensor));
        state.extend(parts.collect::<Result<Vec<_>>>()?);
        let mut given = cx.run(body, std::mem::take(&mut state))?;
        let rest = given.split_off(n_state);
        collect(cx, &mut scans, rest)?;
        state = given;
    }
    for (at, scan) in scans.iter().enumerate() {
        let rank = scan.first().map_or(0, Tensor::rank) + 1;
        let axis = cx.dim(of("scan_output_axes", at), rank)? as i64;
        let y = joined(scan, axis)?;
        let y = if of("scan_output_directions", at) == 1 { flip(&y, &[axis])? } else { y };
        state.push(Value::Tensor(y));
    }
    Ok(state)
}

/// The body for each element of a sequence; other inputs are sequences as well, or the same for all.
fn sequence_map(cx: &Cx<'_>) -> Result<Vec<Value>> {
    let body = cx.graph("body")?;
    let n = cx.sequence(0)?.len();
    let mut outputs: Vec<Vec<Value>> = vec![Vec::new(); body.outputs.len()];
    for at in 0..n {
        let part = |idx| match cx.value(idx) {
            Some(Value::Sequence(all)) => {
                all.get(at).cloned().ok_or_else(|| cx.bad("its sequences differ in length"))
            }
            Some(other) => Ok(other.clone()),
            None => Ok(Value::Nothing),
        };
        let inputs = (0..cx.n_inputs()).map(part).collect::<Result<_>>()?;
        outputs.iter_mut().zip(cx.run(body, inputs)?).for_each(|(all, it)| all.push(it));
    }
    Ok(outputs.into_iter().map(Value::Sequence).collect())
}
