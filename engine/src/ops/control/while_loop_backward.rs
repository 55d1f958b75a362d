//! `while_loop_backward`: the gradient of a loop, turn by turn from the last to the first.

use smallvec::smallvec;

use super::while_loop::{check_loop, n_state, operands_of_turn, turns};
use super::{check_operands, is_differentiable, means_true};
use crate::cpu::interrupt;
use crate::meaning::{Array, Meaning, MeaningCx, RunRegion};
use crate::op::{
    Body, ControlCx, DTypeRule, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Saves, Surface,
    block,
};
use crate::ops::create::full;
use crate::tensor::Metas;
use crate::{Attr, Attrs, Error, Meta, Number, OpDef, Outputs, Result, Tensor, apply};

/// The row of `while_loop_backward`.
pub static OP: OpDef = OpDef {
    name: "while_loop_backward",
    doc: "The gradients of the operands of `while_loop`, from those of its results: the loop runs again, then `gradient` for each turn, from the last to the first.",
    meaning: Meaning::control(meaning),
    params: &[
        Param { name: "operands", kind: ParamKind::Tensors, default: None },
        Param::required("condition", ParamKind::Region),
        Param::required("body", ParamKind::Region),
        Param::required("gradient", ParamKind::Region),
        Param::required("n_state", ParamKind::Int),
        Param::required("n_operands", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Control(run),
    grad: Grad::Rule(refuse, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "what the loop takes, and gradients of its state -> gradients of what it takes",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "while_loop_backward([tensor([2.0]), tensor([1.0])], 'graph(%0: f32[1]) { %1 = lt(%0, 100) : bool[1] return %1 }', 'graph(%0: f32[1]) { %1 = mul(%0, %0) : f32[1] return %1 }', 'graph(%0: f32[1], %1: f32[1]) { %2 = mul(%1, %0) : f32[1] %3 = add(%2, %2) : f32[1] return %3 }', 1, 1)",
        "tensor([1024.])",
    )],
};

fn refuse(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let reason = "there are no second derivatives through a `while` on a tensor; write the loop as `for _ in range(n)`, or \
                  call the function without a trace";
    Err(Error::NoGradient { op: cx.op.name, reason })
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_state = n_state(cx, 3)?;
    let n = usize::try_from(cx.int(4)).ok().filter(|n| (n_state..=cx.inputs.len()).contains(n));
    let problem = || format!("must lie between {n_state} and {}", cx.inputs.len());
    let n =
        n.ok_or_else(|| Error::Attr { op: cx.op.name, name: "n_operands", problem: problem() })?;
    let (operands, grads) = cx.inputs.split_at(n);
    let state = check_loop(cx, n_state, operands)?;
    let gradient = cx.block(2)?;
    let outputs = gradient.outputs();
    let n_grads = state.iter().filter(|it| is_differentiable(it)).count();
    let problem = "gives the gradients of the state, then those of other operands";
    let refused = || Error::Attr { op: cx.op.name, name: "gradient", problem: problem.into() };
    let sums = outputs.get(n_grads..).ok_or_else(refused)?;
    let sums = sums.iter().map(|it| Tensor::abstract_of(it.clone()));
    let given: Vec<Tensor> = cx.inputs.iter().cloned().chain(sums).collect();
    check_operands(cx.op, "gradient", gradient, &given)?;
    match outputs.iter().zip(grads).all(|(meta, it)| *meta == it.meta()) && grads.len() == n_grads {
        true => Ok(outputs.iter().cloned().collect()),
        false => Err(refused()),
    }
}

fn run(cx: &ControlCx<'_>) -> Result<Outputs> {
    let (operands, grads) = cx.inputs.split_at(cx.int(4) as usize);
    let (initial, others) = operands.split_at(cx.int(3) as usize);
    let mut before: Vec<Vec<Tensor>> = Vec::new();
    let keep = |operands: &[Tensor]| before.push(operands[..initial.len()].to_vec());
    turns(cx.device, (cx.block(0)?, cx.block(1)?), initial, others, keep)?;
    let gradient = cx.block(2)?;
    let mut flowing = grads.to_vec();
    for meta in &gradient.outputs()[grads.len()..] {
        let attrs: Attrs =
            smallvec![Attr::sizes(&meta.shape), Attr::Float(0.0), Attr::DType(meta.dtype)];
        flowing.extend(apply::run_on(cx.device, &full::OP, &[], &attrs)?);
    }
    while let Some(state) = before.pop() {
        let mut given = operands_of_turn(&state, others);
        given.extend(flowing);
        flowing = gradient.run(cx.device, &given)?;
        if interrupt::ends_here() {
            interrupt::take();
            return Err(Error::Interrupted);
        }
    }
    Ok(flowing.into_iter().collect())
}

fn meaning(cx: &MeaningCx<'_>, run: RunRegion<'_>) -> Result<Vec<Array>> {
    let (operands, grads) = cx.inputs.split_at(cx.int(4) as usize);
    let (initial, others) = operands.split_at(cx.int(3) as usize);
    let mut before = Vec::new();
    let mut state = initial.to_vec();
    loop {
        let operands = [&state[..], others].concat();
        if !means_true(run(0, &operands)?.first()) {
            break;
        }
        state = run(1, &operands)?;
        before.push(operands);
    }
    let mut flowing = grads.to_vec();
    let sums = &block(&OP, cx.attrs, 2)?.outputs()[grads.len()..];
    let zeros = |it: &Meta| Array::from_fn(&it.shape, it.dtype, |_| Number::Float(0.0));
    flowing.extend(sums.iter().map(zeros));
    while let Some(operands) = before.pop() {
        flowing = run(2, &[operands, flowing].concat())?;
    }
    Ok(flowing)
}
