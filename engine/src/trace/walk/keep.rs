//! How a walk becomes an event, and when it cannot.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Begun, Event, Grad, Made, Passed, Read, Target};
use crate::Tensor;
use crate::interpreter::Root;
use crate::tape::{Edge, Node};
use crate::trace::call::{Mode, State};
use crate::trace::identity::{Key, Slot};
use crate::trace::tree::{ROOT, Ref, StepId};

/// Walks from one step that are looked at in order to become events.
const MOST_TRIES: usize = 8;

/// Walks of one call that are: all that the call did before is looked at for each. Later calls look at those behind them.
const MOST_OF_CALL: usize = 64;

impl State {
    /// Before a walk that is not known: where the call stands, if what the walk does may become an event.
    pub(in crate::trace) fn walk_begins(&mut self) -> Option<Begun> {
        let events = &mut self.tree.step_mut(self.cursor).events;
        if self.beside.as_ref().is_some_and(|it| it.foreseen.is_some()) {
            let (n_results, settled) = (self.results.len(), self.settled);
            return Some(Begun { cursor: self.cursor, n_results, settled });
        }
        let is_enough = events.tried >= MOST_TRIES || self.n_tried >= MOST_OF_CALL;
        if self.mode != Mode::Replay || is_enough {
            return None;
        }
        events.tried += 1;
        self.n_tried += 1;
        Some(Begun { cursor: self.cursor, n_results: self.results.len(), settled: self.settled })
    }

    /// After it: keeps the event. `passed` are the nodes that it went through in order, `found` the gradients by leaf.
    pub(in crate::trace) fn walk_ends(
        &mut self,
        begun: &Begun,
        roots: &[Root],
        retain: bool,
        passed: &[Arc<Node>],
        found: &[(u64, Tensor)],
    ) {
        let is_whole = self.settled == begun.settled;
        if let Some(foreseen) = self.beside.as_mut().and_then(|it| it.foreseen.take()) {
            if is_whole && !self.is_as_foreseen(begun, &foreseen, found) {
                self.walk_differs();
            }
            return;
        }
        let replayed = self.mode == Mode::Replay && is_whole;
        if replayed && let Some(event) = self.event(begun, roots, retain, passed, found) {
            self.tree.step_mut(begun.cursor).events.kept.push(event);
        }
    }

    /// The walk as an event; `None` when a later call might do something else on the same piece of tape.
    fn event(
        &self,
        begun: &Begun,
        roots: &[Root],
        retain: bool,
        passed: &[Arc<Node>],
        found: &[(u64, Tensor)],
    ) -> Option<Event> {
        let places = passed.iter().enumerate().map(|(at, it)| (it.id, at as u32));
        let piece = Piece { nodes: places.collect(), found };
        let seen = roots.iter().map(|(root, grad)| match grad {
            None => Some((piece.target(root.edge())?, root.meta())),
            Some(_) => None,
        });
        let nodes = passed.iter().map(|it| {
            let step = it.mark.step_of(self.call)?;
            let edges = it.op()?.edges.iter().map(|it| piece.target(it.as_ref()));
            let steady = !self.tree.step(step).inputs.iter().any(|it| matches!(it, Ref::Fed(_)));
            steady.then_some(Passed { step, edges: edges.collect::<Option<_>>()? })
        });
        let roots = seen.collect::<Option<_>>()?;
        let nodes = nodes.collect::<Option<Vec<_>>>()?;
        let path = self.tree.path(begun.cursor, self.cursor);
        let before = self.made(&self.tree.path(ROOT, begun.cursor));
        let made = self.made(&path);
        let reads = self.reads(&path, begun.n_results, &nodes, &before)?;
        let grads = found.iter().map(|it| self.grad(&it.1, &made, begun.n_results));
        let grads = grads.collect::<Option<_>>()?;
        let device = |step: &StepId| self.tree.step(*step).device;
        if self.has_chance(&before) || path.iter().any(|it| device(it) != device(&begun.cursor)) {
            return None;
        }
        Some(Event {
            retain,
            roots,
            nodes,
            n_leaves: found.len(),
            end: *path.last()?,
            n_steps: path.len(),
            n_results: self.results.len() - begun.n_results,
            grads,
            views: self.views(&made, begun.n_results),
            reads,
        })
    }

    /// The results of these steps.
    fn made(&self, path: &[StepId]) -> Vec<Made> {
        let all = path.iter().flat_map(|&step| {
            (0..self.tree.step(step).outputs.len() as u32).map(move |output| (step, output))
        });
        (0..).zip(all).map(|(result, (step, output))| Made { result, step, output }).collect()
    }

    /// What a view among the results looks at; `None` for other results.
    fn base(&self, made: &Made) -> Option<Ref> {
        let step = self.tree.step(made.step);
        step.outputs[made.output as usize].alias.then(|| step.inputs[0])
    }

    /// How a gradient is made; `None` unless the walk itself computed it.
    fn grad(&self, grad: &Tensor, made: &[Made], first: usize) -> Option<Grad> {
        let at = self.results[first..].iter().position(|it| it.is(grad))?;
        let mut route = Grad::from_slice(&[made[at]]);
        while let Some(base) = self.base(route.last()?) {
            let Ref::Result(base) = base else { return None };
            route.push(*made.get((base as usize).checked_sub(first)?)?);
        }
        route.reverse();
        Some(route)
    }

    /// The results of a walk that are views of values from before it.
    fn views(&self, made: &[Made], first: usize) -> Vec<Made> {
        let mut looks_back = vec![false; made.len()];
        for (at, it) in made.iter().enumerate() {
            looks_back[at] = match self.base(it) {
                Some(Ref::Result(base)) if base as usize >= first => {
                    looks_back[base as usize - first]
                }
                base => base.is_some(),
            };
        }
        made.iter().zip(looks_back).filter(|it| it.1).map(|it| *it.0).collect()
    }

    /// What these steps read from before; `None` where a call may feed them something that the tape does not show.
    fn reads(
        &self,
        path: &[StepId],
        first: usize,
        nodes: &[Passed],
        before: &[Made],
    ) -> Option<Vec<Read>> {
        let mut reads: Vec<Read> = Vec::new();
        for &id in path {
            let step = self.tree.step(id);
            if !step.captures.is_empty() {
                return None;
            }
            for &value in &step.inputs {
                let own = matches!(value, Ref::Result(at) if at as usize >= first);
                if matches!(value, Ref::Fed(_)) {
                    return None;
                }
                if !own && !reads.iter().any(|it| it.value.same(value)) {
                    reads.push(Read { value, saved: self.saved_at(value, nodes, before) });
                }
            }
        }
        Some(reads)
    }

    /// Which node saved a value, and where among its inputs and outputs.
    fn saved_at(&self, value: Ref, nodes: &[Passed], before: &[Made]) -> Option<(u32, u32)> {
        let made = match value {
            Ref::Result(at) => before.get(at as usize),
            _ => None,
        };
        nodes.iter().enumerate().find_map(|(node, passed)| {
            let inputs = &self.tree.step(passed.step).inputs;
            let input = inputs.iter().position(|it| it.same(value));
            let output = || {
                let made = made.filter(|it| it.step == passed.step)?;
                Some(inputs.len() + made.output as usize)
            };
            Some((node as u32, input.or_else(output)? as u32))
        })
    }

    /// Whether two values of the call are one although nothing in the recording makes them so: a tensor that was passed twice,
    /// say. In another call they may be two.
    fn has_chance(&self, before: &[Made]) -> bool {
        let mut seen: FxHashMap<Key, Ref> = FxHashMap::default();
        let args = (0..self.args.len()).map(|at| Ref::Arg(at as u32));
        let captures = (0..self.captures.len()).map(|at| Ref::Capture(at as u32));
        let results = (0..before.len()).map(|at| Ref::Result(at as u32));
        args.chain(captures).chain(results).any(|it| {
            let Some(key) = self.slot(it).and_then(Slot::key) else { return false };
            let other = *seen.entry(key).or_insert(it);
            !self.is_one(other, it, before)
        })
    }

    /// Whether two values with the same place in memory are one by what was recorded: the same views of the same value.
    fn is_one(&self, a: Ref, b: Ref, before: &[Made]) -> bool {
        if a.same(b) {
            return true;
        }
        let view = |it: Ref| {
            let Ref::Result(at) = it else { return None };
            let made = &before[at as usize];
            Some((made, self.base(made)?))
        };
        let same_key = |a: Ref, b: Ref| {
            let key = |it: Ref| self.slot(it).and_then(Slot::key);
            key(a).is_some() && key(a) == key(b)
        };
        match (view(a), view(b)) {
            // A view of all elements as they are.
            (_, Some((_, base))) if same_key(base, b) => self.is_one(a, base, before),
            (Some((_, base)), _) if same_key(base, a) => self.is_one(base, b, before),
            (Some((a, base_a)), Some((b, base_b))) => {
                let (step_a, step_b) = (self.tree.step(a.step), self.tree.step(b.step));
                let alike = step_a.op == step_b.op && step_a.attrs == step_b.attrs;
                alike && a.output == b.output && self.is_one(base_a, base_b, before)
            }
            _ => false,
        }
    }
}

/// A piece of tape while it becomes an event.
struct Piece<'a> {
    /// Place of each node that was passed, by its id.
    nodes: FxHashMap<u64, u32>,
    /// The leaves, ascending.
    found: &'a [(u64, Tensor)],
}

impl Piece<'_> {
    /// `None` where a walk stops for user code.
    fn target(&self, edge: Option<&Edge>) -> Option<Target> {
        let Some(edge) = edge else { return Some(Target::Nowhere) };
        if edge.stops_walks() {
            return None;
        }
        if let Some(&at) = self.nodes.get(&edge.id()) {
            return Some(Target::Node { at, output: edge.output });
        }
        let leaf = self.found.binary_search_by_key(&edge.id(), |it| it.0);
        Some(leaf.map_or(Target::Unused, |at| Target::Leaf(at as u32)))
    }
}
