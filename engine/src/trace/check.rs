//! Calls that are compared with eager execution ([`Options::check`](super::Options)): beside each op that is answered from the
//! recording its kernel runs on eager values, and what a compiled stretch delivers must have the same bits. The first op for which
//! it has not is named.
//!
//! Random numbers are drawn once beside and once by the stretch, from the same state. Reverse walks are not taken as one event but
//! walked, and the event must then be what was walked.

use smallvec::SmallVec;

use super::call::State;
use super::segment::{Stretch, build, inputs, lower, outcome};
use super::traced::Options;
use super::tree::{ROOT, Ref, Step, StepId};
use super::walk::Foreseen;
use crate::apply;
use crate::graph::{Graph, Value, op_by_op};
use crate::random::Everywhere;
use crate::tensor::Outputs;
use crate::{DType, Error, Result, Tensor};

const GIVES: &str = "eager gives";

/// Results that are looked at one by one for the first that differs.
const MOST_LOOKED_AT: usize = 1000;

/// What eager execution gives beside a call.
#[derive(Default)]
pub(super) struct Beside {
    /// Results of the current segment.
    values: Vec<Tensor>,
    /// Where the random numbers stood before the first op of the segment that draws some.
    drawn: Option<Everywhere>,
    /// What is known of the walk that is under way.
    pub(super) foreseen: Option<Foreseen>,
    /// What else was found to differ.
    pub(super) found: Option<Error>,
}

/// A result that differs.
struct Difference {
    /// Its number along the path.
    at: u32,
    given: Tensor,
}

impl State {
    /// Runs the op of a step that matches, on eager values.
    pub(super) fn compute_beside(&mut self, id: StepId, operands: &[Tensor]) -> Result<()> {
        let Some(beside) = &mut self.beside else { return Ok(()) };
        let step = self.tree.step(id);
        let Some(op) = step.op else { return Ok(()) };
        let eager = |(it, tensor): (&Ref, &Tensor)| {
            let value = match *it {
                Ref::Result(at) => (at as usize)
                    .checked_sub(self.settled)
                    .and_then(|at| beside.values.get(at).cloned()),
                Ref::Arg(at) => self.args[at as usize].held.clone(),
                Ref::Capture(_) | Ref::Number(_) | Ref::Fed(_) => None,
            };
            value.unwrap_or_else(|| tensor.detach())
        };
        let operands: SmallVec<[Tensor; 3]> = step.inputs.iter().zip(operands).map(eager).collect();
        if !op.is_pure(&step.attrs) && beside.drawn.is_none() {
            beside.drawn = Some(Everywhere::now());
        }
        let outputs: Outputs = apply::run_on(step.device, op, &operands, &step.attrs)?;
        beside.values.extend(outputs);
        Ok(())
    }

    /// Whether something differs that no result shows.
    pub(super) fn is_found_to_differ(&self) -> bool {
        self.beside.as_ref().is_some_and(|it| it.found.is_some())
    }

    /// Notes that a reverse walk was not what was known of it.
    pub(super) fn walk_differs(&mut self) {
        let problem = "the traced call differs from eager: a reverse walk went another way than the one that was recorded for the same tape; \
                       run it eagerly, and report this";
        if let Some(beside) = &mut self.beside {
            beside.found.get_or_insert(Error::Trace { problem: problem.into() });
        }
    }
}

impl Beside {
    /// The segment ended.
    pub(super) fn settled(&mut self) {
        self.values.clear();
        self.drawn = None;
    }

    /// The eager value of result `at`, where the segment's first is `first`.
    fn value(&self, at: u32, first: usize) -> Option<&Tensor> {
        self.values.get((at as usize).checked_sub(first)?)
    }
}

/// Runs the current segment to the results `wanted` and compares them; the results and their values. Where they differ the eager ones
/// are delivered, and the error says what differs first.
pub(super) fn run(
    state: &mut State,
    beside: &mut Beside,
    wanted: Vec<u32>,
    compiled: bool,
) -> Result<(Vec<u32>, Vec<Tensor>)> {
    if let Some(error) = beside.found.take() {
        deliver_eager(state, beside)?;
        return Err(error);
    }
    let left = beside.drawn.clone().map(Everywhere::resume);
    let ran = outcome(state, wanted, compiled);
    let drawn = left.clone().map(Everywhere::resume);
    let (outputs, tensors) = match ran {
        Ok(ran) => ran,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => {
            deliver_eager(state, beside)?;
            return Err(fails(error));
        }
    };
    let is_eager = |(at, tensor): (&u32, &Tensor)| {
        beside.value(*at, state.settled).is_none_or(|it| is_alike(it, tensor))
    };
    let differing = outputs.iter().zip(&tensors).find(|it| !is_eager(*it));
    if let Some((at, tensor)) = differing {
        let last = Difference { at: *at, given: tensor.clone() };
        let first = first_difference(state, beside, compiled).unwrap_or(last);
        deliver_eager(state, beside)?;
        return Err(differs(state, beside, &first, compiled));
    }
    if drawn != left {
        deliver_eager(state, beside)?;
        return Err(Error::Trace { problem: RANDOM.into() });
    }
    Ok((outputs, tensors))
}

const RANDOM: &str = "the traced call differs from eager: it leaves the random numbers at another place; \
                      run it eagerly, and report this";

fn fails(error: Error) -> Error {
    let (error, site) = error.apart();
    let problem = format!(
        "the traced call differs from eager, which computes what the compiled stretch cannot: {error}"
    );
    Error::Trace { problem }.at(site.unwrap_or_default())
}

/// What can still be read gets its eager value.
fn deliver_eager(state: &mut State, beside: &Beside) -> Result<()> {
    for (at, pending) in state.live() {
        if let Some(value) = beside.value(at, state.settled) {
            state.deliver(at, &pending, value)?;
        }
    }
    Ok(())
}

/// The first result of the segment, in the order of the program, that is not the eager one: when all of them are asked for, or else
/// when each is asked for alone, which fuses other ops.
fn first_difference(state: &State, beside: &Beside, compiled: bool) -> Option<Difference> {
    let first = state.settled as u32;
    let all: Vec<u32> = (0..beside.values.len() as u32).map(|at| first + at).collect();
    let level = compiled.then_some(state.opt_level());
    let differing = |asked: &[u32]| {
        let tensors = again(state, beside, asked, level).ok()?;
        let is_other = |(at, tensor): &(&u32, Tensor)| {
            beside.value(**at, state.settled).is_some_and(|it| !is_alike(it, tensor))
        };
        let (at, given) = asked.iter().zip(tensors).find(is_other)?;
        Some(Difference { at: *at, given })
    };
    differing(&all).or_else(|| {
        all.iter().take(MOST_LOOKED_AT).find_map(|at| differing(std::slice::from_ref(at)))
    })
}

/// Results of the segment once more, at a level or op by op; the random numbers stay where they are.
fn again(state: &State, beside: &Beside, wanted: &[u32], level: Option<u8>) -> Result<Vec<Tensor>> {
    let Stretch { sources, graph, .. } =
        build(&state.tree, state.start, state.cursor, wanted.to_vec())?;
    let inputs = inputs(state, &sources)?;
    let left = beside.drawn.clone().map(Everywhere::resume);
    let ran = match level {
        Some(opt_level) => lower(graph, &Options { opt_level, ..state.options.clone() })
            .and_then(|it| it.run(&inputs)),
        None => op_by_op::run(&graph, &inputs),
    };
    if let Some(left) = left {
        left.resume();
    }
    ran
}

/// The error that names an op, with what helps.
fn differs(state: &State, beside: &Beside, first: &Difference, compiled: bool) -> Error {
    let (step, output) = step_of(state, first.at);
    let name = step.op.map_or("", |op| op.name);
    let which = if step.outputs.len() > 1 { format!(" (output {output})") } else { String::new() };
    let expected = beside.value(first.at, state.settled);
    let values = expected.map_or_else(String::new, |it| in_words(&first.given, it, GIVES));
    let level = state.opt_level();
    let is_right = |level: &u8| {
        let again = again(state, beside, &[first.at], Some(*level));
        again.is_ok_and(|it| expected.is_some_and(|eager| is_alike(eager, &it[0])))
    };
    let way_out = match (0..level).rev().filter(|_| compiled).find(is_right) {
        Some(lower) => format!("with opt_level={lower} it is as eager: use that, and report this"),
        None => "run it eagerly, and report this".to_owned(),
    };
    let problem =
        format!("the traced call differs from eager: `{name}`{which} gives {values}; {way_out}");
    Error::Trace { problem }.at(step.origin.site)
}

/// The first op of a graph whose value is another one compiled than by itself, as an error.
pub(super) fn first_in_graph(graph: &Graph, inputs: &[Tensor], options: &Options) -> Option<Error> {
    let node = |id: usize| &graph.nodes()[id];
    let drawn = Everywhere::now();
    let ops = (0..graph.nodes().len()).filter(|id| node(*id).op().is_some() && graph.needed()[*id]);
    let found = ops.take(MOST_LOOKED_AT).find_map(|id| {
        let mut part = graph.clone();
        let outputs = 0..node(id).metas.len() as u32;
        part.outputs = outputs.map(|output| Value { node: id as u32, output }).collect();
        part.stores.clear();
        drawn.clone().resume();
        let eager = op_by_op::run(&part, inputs).ok()?;
        drawn.clone().resume();
        let given = lower(part, options).and_then(|it| it.run(inputs)).ok()?;
        let (eager, given) = eager.iter().zip(&given).find(|(a, b)| !is_alike(a, b))?;
        let name = node(id).op().map_or("", |op| op.name);
        let problem = format!("`{name}` gives {}", in_words(given, eager, GIVES));
        Some(Error::Trace { problem }.at(node(id).origin.site))
    });
    drawn.resume();
    found
}

/// The step that makes a result of the path, and which of its outputs that is.
fn step_of(state: &State, at: u32) -> (&Step, usize) {
    let mut before = 0;
    for id in state.tree.path(ROOT, state.cursor) {
        let step = state.tree.step(id);
        if (at as usize) < before + step.outputs.len() {
            return (step, at as usize - before);
        }
        before += step.outputs.len();
    }
    (state.tree.step(state.cursor), 0)
}

/// Whether a value has the bits of the eager one; a NaN is a NaN.
pub fn is_alike(eager: &Tensor, given: &Tensor) -> bool {
    eager.has_bits_of(given)
        || eager.meta() == given.meta() && parts(eager).is_some_and(|it| Some(it) == parts(given))
}

/// All elements as bits, NaN as one of them; `None` if they cannot be read.
fn parts(tensor: &Tensor) -> Option<Vec<u64>> {
    let bits = |it: f64| if it.is_nan() { f64::NAN.to_bits() } else { it.to_bits() };
    let tensor = tensor.fetched().ok()?;
    if !tensor.dtype().is_float() && !tensor.dtype().is_complex() {
        return None;
    }
    Some(tensor.to_parts().ok()?.into_iter().flatten().map(bits).collect())
}

/// With "eager gives": `1.25 where eager gives 1.5, at [0, 3] (4 of 12 elements differ)`.
pub fn in_words(given: &Tensor, eager: &Tensor, gives: &str) -> String {
    if given.meta() != eager.meta() {
        return format!("{} where {gives} {}", given.meta(), eager.meta());
    }
    let pairs = |it: &Tensor| it.fetched().and_then(|it| it.to_parts());
    let (Ok([re, im]), Ok([eager_re, eager_im])) = (pairs(given), pairs(eager)) else {
        return "other values".to_owned();
    };
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
    let is_other = |at: &usize| !same(re[*at], eager_re[*at]) || !same(im[*at], eager_im[*at]);
    let others: Vec<usize> = (0..re.len()).filter(is_other).collect();
    let Some(&at) = others.first() else { return "other values".to_owned() };
    let number = |re: f64, im: f64| match given.dtype().is_complex() {
        true => format!("{re}{im:+}j"),
        false if given.dtype() == DType::F64 => re.to_string(),
        false if given.dtype().is_float() => (re as f32).to_string(),
        false => re.to_string(),
    };
    let place = match given.rank() {
        0 => String::new(),
        _ => format!(", at {:?}", index_of(at, given)),
    };
    format!(
        "{} where {gives} {}{place} ({} of {} elements differ)",
        number(re[at], im[at]),
        number(eager_re[at], eager_im[at]),
        others.len(),
        re.len(),
    )
}

/// The indices of an element in row-major order.
fn index_of(at: usize, tensor: &Tensor) -> Vec<usize> {
    let mut rest = at;
    let mut index: Vec<usize> = tensor
        .shape()
        .iter()
        .rev()
        .map(|size| {
            let here = rest % size;
            rest /= size;
            here
        })
        .collect();
    index.reverse();
    index
}
