//! Compiled stretches of a path: from the recorded steps to a graph, a plan, and delivered values.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::call::State;
use super::check;
use super::deferred;
use super::traced::Options;
use super::tree::{Captured, Out, ROOT, Ref, Step, StepId, Stored, Tree};
use crate::graph::{Graph, Store, Value, op_by_op, verify};
use crate::lower::{self, Plan};
use crate::op::Body;
use crate::passes::EXACT;
use crate::passes::recipes::Recipes;
use crate::pending::Pending;
use crate::rewrite::run::Log;
use crate::{Device, Error, Layout, Meta, Result, Tensor};

/// A stretch of a path, compiled.
pub(super) struct Segment {
    /// What to feed, in the graph's input order.
    sources: Vec<Source>,
    /// Which results it delivers, ascending.
    outputs: Vec<u32>,
    opt_level: u8,
    pub(super) plan: Plan,
}

/// A stretch of a path as a graph.
pub(super) struct Stretch {
    pub(super) sources: Vec<Source>,
    pub(super) outputs: Vec<u32>,
    pub(super) graph: Graph,
}

/// Where a graph input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    Arg(u32),
    Capture(u32),
    /// A variable of the caller, by its place among those that the path reads or stores to.
    Variable(u32),
    /// A result of an earlier segment.
    Result(u32),
    /// The n-th fed number of the segment.
    Fed(u32),
}

/// Ends the current segment: runs what leads to live values, delivers them, lets go of the rest.
pub(super) fn settle(state: &mut State, compiled: bool) -> Result<()> {
    let live = state.live();
    let nothing = live.is_empty()
        && !has_effects(&state.tree, state.start, state.cursor)
        && !state.is_found_to_differ();
    let res = if nothing { Ok(()) } else { run(state, &live, compiled) };
    if res.is_err() {
        defer(state, &live);
    }
    state.settled();
    res
}

fn run(state: &mut State, live: &[(u32, Arc<Pending>)], compiled: bool) -> Result<()> {
    let wanted: Vec<u32> = live.iter().map(|it| it.0).collect();
    let (outputs, tensors) = match state.beside.take() {
        None => outcome(state, wanted, compiled)?,
        Some(mut beside) => {
            let ran = check::run(state, &mut beside, wanted, compiled);
            state.beside = Some(beside);
            ran?
        }
    };
    let mut live = live.iter().peekable();
    for (at, tensor) in outputs.iter().zip(&tensors) {
        if let Some((_, pending)) = live.next_if(|it| it.0 == *at) {
            state.deliver(*at, pending, tensor)?;
        }
    }
    Ok(())
}

/// The results of the current segment that are `wanted`, or more of them, and their values.
pub(super) fn outcome(
    state: &mut State,
    wanted: Vec<u32>,
    compiled: bool,
) -> Result<(Vec<u32>, Vec<Tensor>)> {
    if compiled {
        let segment = compiled_segment(state, wanted)?;
        state.stats.segments += 1;
        let tensors = segment.plan.run(&inputs(state, &segment.sources)?)?;
        return Ok((segment.outputs.clone(), tensors));
    }
    let stretch = build(&state.tree, state.start, state.cursor, wanted)?;
    let tensors = op_by_op::run(&stretch.graph, &inputs(state, &stretch.sources)?)?;
    Ok((stretch.outputs, tensors))
}

/// Keeps what is needed to compute the live values of a segment that failed.
fn defer(state: &State, live: &[(u32, Arc<Pending>)]) {
    let owed = || live.iter().filter(|it| it.1.delivered().is_none());
    let stretch = build(&state.tree, state.start, state.cursor, owed().map(|it| it.0).collect());
    let Ok(Stretch { sources, graph, .. }) = stretch else { return };
    if let Ok(inputs) = inputs(state, &sources) {
        deferred::defer(graph, inputs, &owed().map(|it| &it.1).collect::<Vec<_>>());
    }
}

pub(super) fn inputs(state: &State, sources: &[Source]) -> Result<Vec<Tensor>> {
    sources.iter().map(|it| fed(state, *it)).collect()
}

/// Runs the passes and lowers.
pub(super) fn lower(graph: Graph, options: &Options) -> Result<Plan> {
    let level = options.level();
    lower_noting(graph, level, &mut Recipes::default(), &mut Vec::new())
}

/// The same at this level, from what is known of graphs like it; `relaxed` gets the names of the passes that round in another way than
/// eager execution and did something.
pub(super) fn lower_noting(
    graph: Graph,
    opt_level: u8,
    recipes: &mut Recipes,
    relaxed: &mut Vec<&'static str>,
) -> Result<Plan> {
    let (graph, fuse) = optimized(graph, opt_level, recipes, relaxed)?;
    lower::compile(&graph, fuse)
}

/// The graph as the passes of this level leave it, and whether its plan fuses.
pub(super) fn optimized(
    graph: Graph,
    opt_level: u8,
    recipes: &mut Recipes,
    relaxed: &mut Vec<&'static str>,
) -> Result<(Graph, bool)> {
    #[cfg(test)]
    let graph = super::check_tests::spoiled(graph, opt_level);
    let mut log = Log::default();
    // A branch or a loop decides by values of the graph.
    let decides =
        graph.nodes().iter().filter_map(|it| it.op()).any(|it| matches!(it.body, Body::Control(_)));
    let opt_level = if decides { opt_level.min(EXACT) } else { opt_level };
    let graph = recipes.optimize(graph, opt_level, &mut log)?;
    for (name, _) in log.applied.iter().filter(|it| it.1 > EXACT) {
        if !relaxed.contains(name) {
            relaxed.push(name);
        }
    }
    Ok((graph, opt_level >= 3))
}

/// The compiled stretch from the segment's start to the cursor that delivers at least `wanted`.
fn compiled_segment(state: &mut State, wanted: Vec<u32>) -> Result<Rc<Segment>> {
    let (start, end) = (state.start, state.cursor);
    let opt_level = state.opt_level();
    let known = state.tree.step(end).segments.iter().find(|it| it.0 == start);
    let mut outputs = wanted;
    if let Some((_, segment)) = known.filter(|it| it.1.opt_level <= opt_level) {
        if outputs.iter().all(|it| segment.outputs.binary_search(it).is_ok()) {
            return Ok(segment.clone());
        }
        outputs.extend_from_slice(&segment.outputs);
        outputs.sort_unstable();
        outputs.dedup();
    }
    let clock = Instant::now();
    let Stretch { sources, outputs, graph } = build(&state.tree, start, end, outputs)?;
    let recipes = &mut *state.recipes.borrow_mut();
    let plan = lower_noting(graph, opt_level, recipes, &mut state.stats.relaxed)?;
    let segment = Rc::new(Segment { sources, outputs, opt_level, plan });
    state.stats.compile_seconds += clock.elapsed().as_secs_f64();
    let segments = &mut state.tree.step_mut(end).segments;
    segments.retain(|it| it.0 != start);
    segments.push((start, segment.clone()));
    Ok(segment)
}

fn fed(state: &State, source: Source) -> Result<Tensor> {
    let tensor = match source {
        Source::Arg(at) => state.args[at as usize].held.clone(),
        Source::Capture(at) => state.captures[at as usize].held.clone(),
        Source::Result(at) => state.results[at as usize].held.clone(),
        Source::Fed(at) => state.fed.get(at as usize).cloned(),
        Source::Variable(_) => None,
    };
    tensor.ok_or_else(|| Error::Trace { problem: format!("{source:?} has no value") })
}

/// The graph of a stretch that gives these results.
pub(super) fn build(tree: &Tree, start: StepId, end: StepId, outputs: Vec<u32>) -> Result<Stretch> {
    let mut builder = Builder::new(tree, start, end);
    builder.steps(&tree.path(start, end))?;
    let values = outputs.iter().map(|it| builder.operand(Ref::Result(*it)));
    builder.graph.outputs = values.collect::<Result<_>>()?;
    Ok(Stretch { sources: builder.sources, outputs, graph: builder.graph })
}

/// The graph of a whole path, from the arguments to what the function returns and stores; captures that are not constants become
/// inputs after the arguments, or variables.
pub(super) fn whole_graph(tree: &Tree, end: StepId) -> Result<(Graph, Vec<Source>)> {
    graph_to(tree, end, tree.step(end).end.as_ref().map_or(&[], |it| &it.results), &[])
}

/// The graph of a path that runs without the body, with what that makes of numbers.
pub(super) fn graph_alone(tree: &Tree, end: StepId) -> Result<(Graph, Vec<Source>)> {
    match tree.step(end).end.as_ref().and_then(|it| it.followed.last()) {
        Some(followed) => graph_to(tree, end, &followed.results, &followed.constants),
        None => whole_graph(tree, end),
    }
}

fn graph_to(
    tree: &Tree,
    end: StepId,
    results: &[Option<Ref>],
    constants: &[(u32, Tensor)],
) -> Result<(Graph, Vec<Source>)> {
    let mut builder = Builder::whole(tree, end, constants)?;
    let missing =
        || Error::Trace { problem: "a returned value was not computed from tensors".into() };
    let outputs = results.iter().map(|it| builder.operand(it.ok_or_else(missing)?));
    let outputs: Result<Vec<Value>> = outputs.collect();
    builder.graph.outputs = outputs?;
    for at in 0..builder.stores.len() {
        builder.store(at)?;
    }
    Ok((builder.graph, builder.sources))
}

/// The same to these results of steps, with the stores to variables that ops read.
pub(super) fn path_graph(
    tree: &Tree,
    end: StepId,
    results: &[u32],
) -> Result<(Graph, Vec<Source>)> {
    let mut builder = Builder::whole(tree, end, &[])?;
    let outputs = results.iter().map(|it| builder.operand(Ref::Result(*it)));
    let outputs: Result<Vec<Value>> = outputs.collect();
    builder.graph.outputs = outputs?;
    for at in 0..builder.stores.len() {
        if builder.stores[at].before.is_some() {
            // What it cannot say as a store is an output all the same.
            let _ = builder.store(at);
        }
    }
    Ok((builder.graph, builder.sources))
}

/// Turns recorded steps into graph nodes.
struct Builder<'a> {
    tree: &'a Tree,
    graph: Graph,
    sources: Vec<Source>,
    inputs: FxHashMap<Source, Value>,
    /// Results along the whole path, and those of this stretch as graph values.
    results: Vec<&'a Out>,
    values: FxHashMap<u32, Value>,
    captures: Vec<&'a Captured>,
    /// What a whole path leaves in variables.
    stores: &'a [Stored],
    /// Captures that are part of its graph.
    constants: &'a [(u32, Tensor)],
    next_result: u32,
    n_fed: u32,
}

impl<'a> Builder<'a> {
    fn new(tree: &'a Tree, start: StepId, end: StepId) -> Self {
        let path = tree.path(ROOT, end);
        let steps = || path.iter().map(|&id| tree.step(id));
        let before = tree.path(ROOT, start);
        let n_before: usize = before.iter().map(|&id| tree.step(id).outputs.len()).sum();
        Self {
            tree,
            graph: Graph::new(),
            sources: Vec::new(),
            inputs: FxHashMap::default(),
            results: steps().flat_map(|it| &it.outputs).collect(),
            values: FxHashMap::default(),
            captures: steps().flat_map(|it| &it.captures).collect(),
            stores: &[],
            constants: &[],
            next_result: n_before as u32,
            n_fed: 0,
        }
    }

    /// All steps of a path, with the arguments as first inputs.
    fn whole(tree: &'a Tree, end: StepId, constants: &'a [(u32, Tensor)]) -> Result<Self> {
        let mut builder = Self::new(tree, ROOT, end);
        builder.stores = tree.stores(end);
        builder.constants = constants;
        for at in 0..tree.signature.len() {
            builder.operand(Ref::Arg(at as u32))?;
        }
        builder.steps(&tree.path(ROOT, end))?;
        Ok(builder)
    }

    fn steps(&mut self, path: &[StepId]) -> Result<()> {
        for &id in path {
            let step = self.tree.step(id);
            let Some(op) = step.op else { continue };
            self.on(step.device)?;
            self.graph.origin.clone_from(&step.origin);
            let operands = step.inputs.iter().map(|it| self.operand(*it));
            let operands = operands.collect::<Result<SmallVec<[Value; 3]>>>()?;
            let metas = step.outputs.iter().map(|it| Meta::new(it.layout.shape.clone(), it.dtype));
            let node = self.graph.apply_known(op, &operands, &step.attrs, metas.collect());
            for output in 0..step.outputs.len() as u32 {
                self.values.insert(self.next_result, Value { node, output });
                self.next_result += 1;
            }
        }
        Ok(())
    }

    fn operand(&mut self, it: Ref) -> Result<Value> {
        let tree = self.tree;
        Ok(match it {
            Ref::Number(number) => self.graph.number(number),
            Ref::Fed(dtype) => {
                let value = self.graph.fed(dtype);
                self.sources.push(Source::Fed(self.n_fed));
                self.n_fed += 1;
                value
            }
            Ref::Arg(at) => {
                let spec = &tree.signature[at as usize];
                self.input(Source::Arg(at), spec.dtype, &spec.layout)
            }
            Ref::Capture(at) => {
                let spec = self.captures[at as usize];
                let made = self.constants.iter().find(|it| it.0 == at).map(|it| &it.1);
                match (spec.constant.as_ref().or(made), self.stored_at(it)) {
                    (_, Some(at)) => self.input(Source::Variable(at), spec.dtype, &spec.layout),
                    (Some(tensor), None) => self.graph.constant(tensor),
                    (None, None) => self.input(Source::Capture(at), spec.dtype, &spec.layout),
                }
            }
            Ref::Result(at) => match self.values.get(&at) {
                Some(&value) => value,
                None => {
                    let out = *self.results.get(at as usize).ok_or_else(|| Error::Trace {
                        problem: format!("result {at} is not on this path"),
                    })?;
                    self.input(Source::Result(at), out.dtype, &out.layout)
                }
            },
        })
    }

    /// Has the graph run on the device of a step.
    fn on(&mut self, device: Device) -> Result<()> {
        if self.graph.device != device && self.graph.n_ops() > 0 {
            let problem = format!(
                "it computes on {} and on {device}, and a graph runs on one device; bring all to one before",
                self.graph.device
            );
            return Err(Error::Trace { problem });
        }
        self.graph.device = device;
        Ok(())
    }

    /// The place of a variable among those that the path reads or stores to.
    fn stored_at(&self, variable: Ref) -> Option<u32> {
        let is_it = |it: &Stored| it.before.is_some_and(|it| it.same(variable));
        self.stores.iter().position(is_it).map(|at| at as u32)
    }

    /// Adds store `at`; a variable that no op reads comes in only for that, and one that is only read is an input.
    fn store(&mut self, at: usize) -> Result<()> {
        let Stored { before, after, .. } = self.stores[at];
        if self.stores[at].is_only_read() {
            return Ok(());
        }
        let missing =
            || Error::Trace { problem: "a stored value was not computed from tensors".into() };
        let value = self.operand(after.ok_or_else(missing)?)?;
        let variable = match before {
            Some(it) => self.operand(it)?,
            None => {
                let Meta { shape, dtype } = self.graph.meta(value).clone();
                self.input(Source::Variable(at as u32), dtype, &Layout::contiguous(shape))
            }
        };
        let store = Store { variable: variable.node, value };
        match verify::store_problem(&self.graph, self.graph.stores.len(), store)? {
            None => self.graph.stores.push(store),
            Some(problem) => {
                return Err(Error::Trace { problem: format!("variable {at} {problem}") });
            }
        }
        Ok(())
    }

    fn input(&mut self, source: Source, dtype: crate::DType, layout: &crate::Layout) -> Value {
        if let Some(&value) = self.inputs.get(&source) {
            return value;
        }
        let stored_at = match source {
            Source::Variable(at) => Some(at),
            Source::Arg(at) => self.stored_at(Ref::Arg(at)),
            Source::Capture(_) | Source::Result(_) | Source::Fed(_) => None,
        };
        let is_stored = |at: u32| !self.stores[at as usize].is_only_read();
        let value = match stored_at.is_some_and(is_stored) {
            true => self.graph.variable(dtype, layout.clone()),
            false => self.graph.input(dtype, layout.clone()),
        };
        self.inputs.insert(source, value);
        self.sources.push(source);
        value
    }
}

fn has_effects(tree: &Tree, start: StepId, end: StepId) -> bool {
    let acts = |it: &Step| it.op.is_some_and(|op| !op.is_pure(&it.attrs) || op.only_checks());
    tree.path(start, end).iter().any(|&id| acts(tree.step(id)))
}
