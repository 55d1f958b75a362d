//! `while_loop_backward`: the gradient of a loop, turn by turn from the last to the first.

use smallvec::smallvec;

use super::while_loop::{check_loop, n_state, turns};
use super::{check_operands, is_differentiable, means_true};
use crate::cpu::interrupt;
use crate::meaning::{Array, Meaning, MeaningCx, RunRegion, of_kind};
use crate::op::{
    Body, ControlCx, DTypeRule, Default, Grad, GradCx, InferCx, Onnx, Param, ParamKind, Saves,
    Surface, block,
};
use crate::ops::binary::add;
use crate::ops::create::full;
use crate::tensor::Metas;
use crate::{Attr, Attrs, Error, Meta, Number, OpDef, Outputs, Result, Tensor, apply, attr};

/// The row of `while_loop_backward`.
pub static OP: OpDef = OpDef {
    name: "while_loop_backward",
    doc: "The gradients of the operands of `while_loop`, from those of its results: the loop runs again, then `gradient` for each turn, from the last to the first. The `seeded` ones go on from sums, which are the last operands.",
    meaning: Meaning::control(meaning),
    params: &[
        Param { name: "operands", kind: ParamKind::Tensors, default: None },
        Param::required("condition", ParamKind::Region),
        Param::required("body", ParamKind::Region),
        Param::required("gradient", ParamKind::Region),
        Param::required("n_state", ParamKind::Int),
        Param::required("n_operands", ParamKind::Int),
        Param::with("seeded", ParamKind::Ints, Default::Ints(&[])),
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
        shapes: "what the loop takes, gradients of its state, and what the `seeded` results are added to -> gradients of what it takes",
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

/// What the operands are, and how many of which.
struct Given<'a, T> {
    /// The state before the first turn, and what the graphs read besides.
    initial: &'a [T],
    others: &'a [T],
    /// Gradients of the state after the last turn.
    grads: &'a [T],
    /// What each result goes on from: the gradients of the state first.
    seeds: Vec<Option<&'a T>>,
}

impl<'a, T: Clone> Given<'a, T> {
    fn of(inputs: &'a [T], attrs: &Attrs) -> Result<Self> {
        let refused =
            |name, problem: &str| Error::Attr { op: OP.name, name, problem: problem.into() };
        let gradient = block(&OP, attrs, 2)?;
        let [n_state, n] = [3, 4].map(|it| usize::try_from(attr::int(attrs, it)).ok());
        let n = n.filter(|n| n_state.is_some_and(|it| it <= *n) && *n <= inputs.len());
        let problem = "must lie between the number of states and that of operands";
        let n = n.ok_or_else(|| refused("n_operands", problem))?;
        let (initial, others) = inputs[..n].split_at(n_state.unwrap_or(n));
        let n_results = gradient.outputs().len();
        let state = gradient.inputs().iter().take(initial.len());
        let n_grads = state.filter(|it| is_differentiable(it)).count();
        let problem = "gives the gradients of the state, then those of other operands";
        if n_grads > n_results || n + n_grads > inputs.len() {
            return Err(refused("gradient", problem));
        }
        let (grads, rest) = inputs[n..].split_at(n_grads);
        let mut seeds = vec![None; n_results];
        let mut rest = rest.iter();
        let problem = "names results, each with an operand";
        for result in attr::ints(attrs, 5).unwrap_or_default() {
            let slot = usize::try_from(result).ok().and_then(|it| seeds.get_mut(it));
            *slot.ok_or_else(|| refused("seeded", problem))? =
                Some(rest.next().ok_or_else(|| refused("seeded", problem))?);
        }
        match rest.next() {
            None => Ok(Self { initial, others, grads, seeds }),
            Some(_) => Err(refused("seeded", problem)),
        }
    }

    /// What `gradient` takes besides the operands of a turn: the gradients of the state, what they go on from, where something is added to
    /// it, and the sums so far. `seed` gives what the gradients of this turn go on from.
    fn flowing(&self, results: &[T], seed: impl Fn(usize, &'a T) -> Result<T>) -> Result<Vec<T>> {
        let (grads, sums) = results.split_at(self.grads.len());
        let mut flowing = grads.to_vec();
        for (result, it) in self.seeds[..grads.len()].iter().enumerate() {
            flowing.extend(it.map(|it| seed(result, it)).transpose()?);
        }
        flowing.extend_from_slice(sums);
        Ok(flowing)
    }

    /// Goes back through the turns, of which `before` holds the operands: `gradient` runs the graph, `filled` makes a result of one number.
    fn back(
        &self,
        mut before: Vec<Vec<T>>,
        filled: impl Fn(usize, f64) -> Result<T>,
        add: impl Fn(&T, &T) -> Result<T>,
        mut gradient: impl FnMut(&[T]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        // -0 is what changes no number that is added to it.
        let start = if before.is_empty() { 0.0 } else { -0.0 };
        let n_grads = self.grads.len();
        let mut results = self.grads.to_vec();
        for (result, seed) in self.seeds.iter().enumerate().skip(n_grads) {
            results.push(seed.map_or_else(|| filled(result, start), |it| Ok(it.clone()))?);
        }
        if before.is_empty() {
            for (slot, seed) in results.iter_mut().zip(&self.seeds[..n_grads]) {
                *slot = seed.map_or_else(|| Ok(slot.clone()), |it| add(it, slot))?;
            }
        }
        while let Some(mut operands) = before.pop() {
            let is_first = before.is_empty();
            let seed =
                |result, it: &T| if is_first { Ok(it.clone()) } else { filled(result, -0.0) };
            operands.extend(self.flowing(&results, seed)?);
            results = gradient(&operands)?;
        }
        Ok(results)
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let n_state = n_state(cx, 3)?;
    let given = Given::of(cx.inputs, cx.attrs)?;
    let operands = &cx.inputs[..given.initial.len() + given.others.len()];
    check_loop(cx, n_state, operands)?;
    let gradient = cx.block(2)?;
    let outputs = gradient.outputs();
    let abstract_of = |result: usize| Tensor::abstract_of(outputs[result].clone());
    let sums = (given.grads.len()..outputs.len()).map(abstract_of);
    let results: Vec<Tensor> = given.grads.iter().cloned().chain(sums).collect();
    let flowing = given.flowing(&results, |_, it| Ok(it.clone()))?;
    let taken: Vec<Tensor> = operands.iter().cloned().chain(flowing).collect();
    check_operands(cx.op, "gradient", gradient, &taken)?;
    let mut kinds = results.iter().zip(&given.seeds).zip(outputs);
    let fits = |(result, seed): (&Tensor, &Option<&Tensor>), meta: &Meta| {
        result.meta() == *meta && seed.is_none_or(|it| it.meta() == *meta)
    };
    if kinds.all(|(given, meta)| fits(given, meta)) {
        return Ok(outputs.iter().cloned().collect());
    }
    let problem = "gives the gradients of the state, then those of other operands".into();
    Err(Error::Attr { op: cx.op.name, name: "gradient", problem })
}

fn run(cx: &ControlCx<'_>) -> Result<Outputs> {
    let given = Given::of(cx.inputs, cx.attrs)?;
    let mut before: Vec<Vec<Tensor>> = Vec::new();
    let keep = |operands: &[Tensor]| before.push(operands.to_vec());
    turns(cx.device, (cx.block(0)?, cx.block(1)?), given.initial, given.others, keep)?;
    let gradient = cx.block(2)?;
    let filled = |result: usize, value: f64| {
        let meta = &gradient.outputs()[result];
        let attrs: Attrs =
            smallvec![Attr::sizes(&meta.shape), Attr::Float(value), Attr::DType(meta.dtype)];
        Ok(apply::run_on(cx.device, &full::OP, &[], &attrs)?.remove(0))
    };
    let add = |a: &Tensor, b: &Tensor| {
        let operands = [a.clone(), b.clone()];
        Ok(apply::run_on(cx.device, &add::OP, &operands, &add::OP.default_attrs())?.remove(0))
    };
    let found = given.back(before, filled, add, |operands| {
        if interrupt::ends_here() {
            interrupt::take();
            return Err(Error::Interrupted);
        }
        gradient.run(cx.device, operands)
    })?;
    Ok(found.into_iter().collect())
}

fn meaning(cx: &MeaningCx<'_>, run: RunRegion<'_>) -> Result<Vec<Array>> {
    let given = Given::of(cx.inputs, cx.attrs)?;
    let mut before = Vec::new();
    let mut state = given.initial.to_vec();
    loop {
        let operands = [&state[..], given.others].concat();
        if !means_true(run(0, &operands)?.first()) {
            break;
        }
        state = run(1, &operands)?;
        before.push(operands);
    }
    let kinds = block(&OP, cx.attrs, 2)?.outputs();
    let filled = |result: usize, value: f64| {
        let kind = &kinds[result];
        Ok(Array::from_fn(&kind.shape, kind.dtype, |_| Number::Float(value)))
    };
    let add = |a: &Array, b: &Array| Ok(of_kind!(a, b, (x, y) => x + y));
    given.back(before, filled, add, |operands| run(2, operands))
}
