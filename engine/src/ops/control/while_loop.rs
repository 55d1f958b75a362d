//! `while_loop`: a graph again and again, as long as the condition that another graph gives is true.

use smallvec::SmallVec;

use super::{
    check_condition, check_operands, holds, is_differentiable, means_true, while_loop_backward,
};
use crate::cpu::interrupt;
use crate::functional::full;
use crate::meaning::{Array, Meaning, MeaningCx, RunRegion};
use crate::op::{
    Block, Body, ControlCx, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::tensor::Metas;
use crate::{Attr, Attrs, Device, Error, Meta, OpDef, Outputs, Result, Tensor, apply};

/// The row of `while_loop`.
pub static OP: OpDef = OpDef {
    name: "while_loop",
    doc: "The first `n_state` operands, replaced by what `body` gives as long as `condition` gives true; both graphs take all operands.",
    meaning: Meaning::control(meaning),
    params: &[
        Param { name: "operands", kind: ParamKind::Tensors, default: None },
        Param::required("condition", ParamKind::Region),
        Param::required("body", ParamKind::Region),
        Param::required("n_state", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Control(run),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "state and what the graphs read besides -> the state, which keeps its shapes and dtypes",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "while_loop([tensor(1), tensor(100)], 'graph(%0: i64[], %1: i64[]) { %2 = lt(%0, %1) : bool[] return %2 }', 'graph(%0: i64[], %1: i64[]) { %2 = mul(%0, 3) : i64[] return %2 }', 1)",
        "tensor(243)",
    )],
};

/// The number of operands that are state.
pub(super) fn n_state(cx: &InferCx<'_>, at: usize) -> Result<usize> {
    let n = usize::try_from(cx.int(at)).ok().filter(|n| (1..=cx.inputs.len()).contains(n));
    let problem = format!("must lie between 1 and the number of operands, {}", cx.inputs.len());
    n.ok_or(Error::Attr { op: cx.op.name, name: "n_state", problem })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_state = n_state(cx, 2)?;
    check_loop(cx, n_state, cx.inputs)
}

/// Refuses graphs that are no condition and body of a loop over these operands; gives the kinds of its state.
pub(super) fn check_loop(cx: &InferCx<'_>, n_state: usize, operands: &[Tensor]) -> Result<Metas> {
    let (condition, body) = (cx.block(0)?, cx.block(1)?);
    check_operands(cx.op, "condition", condition, operands)?;
    check_operands(cx.op, "body", body, operands)?;
    match condition.outputs() {
        [meta] => check_condition(cx.op, meta)?,
        outputs => {
            let problem = format!("gives one value, not {}", outputs.len());
            return Err(Error::Attr { op: cx.op.name, name: "condition", problem });
        }
    }
    let state: Metas = operands[..n_state].iter().map(Tensor::meta).collect();
    let after = body.outputs();
    if after.len() != n_state {
        let problem = format!("gives {} values for a state of {n_state}", after.len());
        return Err(Error::Attr { op: cx.op.name, name: "body", problem });
    }
    match state.iter().zip(after).position(|(a, b)| a != b) {
        None => Ok(state),
        Some(at) => {
            let problem = format!(
                "makes {} of state {at}, which is {}; state keeps its shape and dtype",
                after[at], state[at]
            );
            Err(Error::Attr { op: cx.op.name, name: "body", problem })
        }
    }
}

/// The operands of one turn: the state, and what the graphs read besides.
pub(super) fn operands_of_turn(state: &[Tensor], others: &[Tensor]) -> SmallVec<[Tensor; 8]> {
    state.iter().chain(others).cloned().collect()
}

/// Runs turns on a device while the condition holds; `each` sees the operands of a turn before it.
pub(super) fn turns(
    device: Device,
    (condition, body): (&dyn Block, &dyn Block),
    initial: &[Tensor],
    others: &[Tensor],
    mut each: impl FnMut(&[Tensor]),
) -> Result<Vec<Tensor>> {
    let mut state = initial.to_vec();
    loop {
        let operands = operands_of_turn(&state, others);
        let found = condition.run(device, &operands)?;
        if !found.first().map_or(Ok(false), holds)? {
            return Ok(state);
        }
        if interrupt::ends_here() {
            interrupt::take();
            return Err(Error::Interrupted);
        }
        each(&operands);
        state = body.run(device, &operands)?;
    }
}

fn run(cx: &ControlCx<'_>) -> Result<Outputs> {
    let (initial, others) = cx.inputs.split_at(cx.int(2) as usize);
    let state = turns(cx.device, (cx.block(0)?, cx.block(1)?), initial, others, |_| ())?;
    Ok(state.into_iter().collect())
}

fn meaning(cx: &MeaningCx<'_>, run: RunRegion<'_>) -> Result<Vec<Array>> {
    let (initial, others) = cx.inputs.split_at(cx.int(2) as usize);
    let mut state = initial.to_vec();
    loop {
        let operands = [&state[..], others].concat();
        if !means_true(run(0, &operands)?.first()) {
            return Ok(state);
        }
        state = run(1, &operands)?;
    }
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    super::needs_no_draws(cx.op, cx.attrs)?;
    let (n, n_state) = (cx.n_inputs(), cx.int(2) as usize);
    let metas: Vec<Meta> = (0..n).map(|idx| cx.input(idx).meta()).collect();
    // Gradients go back through all of the state, whoever wants them in the end.
    let wanted: Vec<bool> = (0..n)
        .map(|idx| is_differentiable(&metas[idx]) && (idx < n_state || cx.needs(idx)))
        .collect();
    let sum = |idx: usize| cx.sum(idx).filter(|_| wanted[idx]);
    let summed: Vec<bool> =
        (0..n).map(|idx| if idx < n_state { sum(idx).is_some() } else { wanted[idx] }).collect();
    let gradient = cx.block(1)?.gradient(&wanted, &wanted[..n_state], &summed)?;
    let mut operands: SmallVec<[Tensor; 8]> = (0..n).map(|idx| cx.input(idx).clone()).collect();
    for idx in (0..n_state).filter(|&it| wanted[it]) {
        operands.push(match cx.output_grad_of(idx)? {
            Some(grad) => grad,
            None => full(&metas[idx].shape, 0.0, metas[idx].dtype)?,
        });
    }
    let results = (0..n).filter(|&idx| wanted[idx]).enumerate();
    let seeds = results.filter_map(|(result, idx)| Some((result as i64, sum(idx)?.clone())));
    let (seeded, seeds): (Vec<i64>, Vec<Tensor>) = seeds.unzip();
    operands.extend(seeds);
    let attrs: Attrs = [
        cx.attrs[0].clone(),
        cx.attrs[1].clone(),
        Attr::Region(gradient),
        cx.attrs[2].clone(),
        Attr::Int(n as i64),
        Attr::ints(&seeded),
    ]
    .into_iter()
    .collect();
    let mut grads = apply::apply(&while_loop_backward::OP, &operands, &attrs)?.into_iter();
    let found: Vec<Option<Tensor>> =
        wanted.iter().map(|wanted| if *wanted { grads.next() } else { None }).collect();
    Ok(found.into_iter().enumerate().map(|(idx, it)| it.filter(|_| cx.needs(idx))).collect())
}
