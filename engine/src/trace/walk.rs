//! A reverse walk as one event: what a call has seen before it takes at once, without applying the walk's ops one by one.
//!
//! Which ops a walk applies follows from the piece of tape that it goes over. An event keeps that piece, each node by the
//! step that made it. When the tape of the running call is the same piece, the cursor passes all ops of the walk, and
//! the gradients of the leaves are the only values that come to be.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Mark;
use super::call::{Mode, State};
use super::identity::Slot;
use super::matching::deliver_later;
use super::tree::{Ref, StepId};
use crate::autograd::{Edge, Node, Root};
use crate::{Meta, Result, Tensor};

/// Events that one step keeps.
const MOST_EVENTS: usize = 4;

/// A walk that begins at the step which keeps the event.
pub(super) struct Walk {
    retain: bool,
    roots: SmallVec<[(Target, Meta); 1]>,
    /// In the order of the walk: a node's edges lead to later ones.
    nodes: Vec<Passed>,
    n_leaves: usize,
    /// The last op of the walk.
    end: StepId,
    n_steps: usize,
    n_results: usize,
    /// One per leaf.
    grads: Vec<Grad>,
    reads: Reads,
}

/// A node that the walk went through.
struct Passed {
    step: StepId,
    edges: SmallVec<[Target; 3]>,
}

/// Where an edge of the tape leads.
#[derive(Clone, Copy)]
enum Target {
    /// There is no edge: no gradient is needed.
    Nowhere,
    /// No gradient went along it.
    Unused,
    Node {
        at: u32,
        output: u32,
    },
    Leaf(u32),
}

/// How the gradient of a leaf is made: a result of the walk, and views from it on.
type Grad = SmallVec<[Made; 1]>;

/// One result of the walk.
#[derive(Clone, Copy)]
struct Made {
    /// Counted from the walk's first.
    result: u32,
    step: StepId,
    output: u32,
}

/// What the ops of the walk read that is not their own.
struct Reads {
    captures: Vec<u32>,
    /// The earliest result.
    first: u32,
}

/// Where a call stood when a walk began.
pub(crate) struct Begun {
    cursor: StepId,
    n_results: usize,
    settled: usize,
}

impl State {
    /// Before a walk that is not known: where the call stands, if what the walk does can be kept.
    pub(super) fn walk_begins(&self) -> Option<Begun> {
        let room = self.tree.step(self.cursor).walks.len() < MOST_EVENTS;
        let begun =
            Begun { cursor: self.cursor, n_results: self.results.len(), settled: self.settled };
        (self.mode == Mode::Replay && room).then_some(begun)
    }

    /// After it: keeps the event. `passed` are the nodes that it went through in order, `found` the gradients by leaf.
    pub(super) fn walk_ends(
        &mut self,
        begun: &Begun,
        roots: &[Root],
        retain: bool,
        passed: &[Arc<Node>],
        found: &[(u64, Tensor)],
    ) {
        let replayed = self.mode == Mode::Replay && self.settled == begun.settled;
        if replayed && let Some(walk) = self.event(begun, roots, retain, passed, found) {
            self.tree.step_mut(begun.cursor).walks.push(walk);
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
    ) -> Option<Walk> {
        let places = passed.iter().enumerate().map(|(at, it)| (it.id, at as u32));
        let piece = Piece { nodes: places.collect(), found };
        let seen = roots.iter().map(|(root, grad)| match grad {
            None => Some((piece.target(root.edge())?, root.meta())),
            Some(_) => None,
        });
        let nodes = passed.iter().map(|it| {
            let step = it.mark.step_of(self.call)?;
            let edges = it.op.as_ref()?.edges.iter().map(|it| piece.target(it.as_ref()));
            let steady = !self.tree.step(step).inputs.iter().any(|it| matches!(it, Ref::Fed(_)));
            steady.then_some(Passed { step, edges: edges.collect::<Option<_>>()? })
        });
        let path = self.tree.path(begun.cursor, self.cursor);
        let made = self.made(&path);
        let n_results = self.results.len() - begun.n_results;
        let grads = found.iter().map(|it| self.grad(&it.1, &made, begun.n_results));
        Some(Walk {
            retain,
            roots: seen.collect::<Option<_>>()?,
            nodes: nodes.collect::<Option<_>>()?,
            n_leaves: found.len(),
            end: *path.last()?,
            n_steps: path.len(),
            n_results,
            grads: grads.collect::<Option<_>>()?,
            reads: self.reads(&path, begun.n_results as u32)?,
        })
    }

    /// The results of these steps.
    fn made(&self, path: &[StepId]) -> Vec<Made> {
        let all = path.iter().flat_map(|&step| {
            (0..self.tree.step(step).outputs.len() as u32).map(move |output| (step, output))
        });
        (0..).zip(all).map(|(result, (step, output))| Made { result, step, output }).collect()
    }

    /// How a gradient is made; `None` unless the walk itself computed it.
    fn grad(&self, grad: &Tensor, made: &[Made], first: usize) -> Option<Grad> {
        let at = self.results[first..].iter().position(|it| it.is(grad))?;
        let mut route = Grad::from_slice(&[made[at]]);
        loop {
            let step = self.tree.step(route.last()?.step);
            if !step.outputs[route.last()?.output as usize].alias {
                break;
            }
            let Ref::Result(base) = step.inputs[0] else { return None };
            route.push(*made.get((base as usize).checked_sub(first)?)?);
        }
        route.reverse();
        Some(route)
    }

    /// What these steps read from before; `None` where a call may feed them something that the tape does not show.
    fn reads(&self, path: &[StepId], n_results: u32) -> Option<Reads> {
        let mut reads = Reads { captures: Vec::new(), first: n_results };
        for &id in path {
            let step = self.tree.step(id);
            if !step.captures.is_empty() {
                return None;
            }
            for it in &step.inputs {
                match *it {
                    Ref::Fed(_) => return None,
                    Ref::Capture(at) => reads.captures.push(at),
                    Ref::Result(at) => reads.first = reads.first.min(at),
                    Ref::Arg(_) | Ref::Number(_) => {}
                }
            }
        }
        reads.captures.sort_unstable();
        reads.captures.dedup();
        Some(reads)
    }

    /// Takes a walk that an earlier call did on the same piece of tape: the gradients by id of the leaf.
    pub(super) fn walk_again(
        &mut self,
        roots: &[Root],
        retain: bool,
    ) -> Result<Option<Vec<(u64, Tensor)>>> {
        if self.mode != Mode::Replay {
            return Ok(None);
        }
        let begin = self.cursor as usize;
        let known = self.tree.steps[begin].walks.iter().enumerate();
        let found = known.filter(|it| it.1.retain == retain).find_map(|(at, walk)| {
            let fits = self.has_read(&walk.reads);
            Some((at, walk.leaves(roots, self.call).filter(|_| fits)?))
        });
        let Some((at, leaves)) = found else { return Ok(None) };
        let made = self.pass_over(begin, at)?;
        let mut found: Vec<_> = leaves.into_iter().zip(made).collect();
        found.sort_by_key(|it| it.0);
        Ok(Some(found))
    }

    /// Whether the current segment holds what the walk reads.
    fn has_read(&self, reads: &Reads) -> bool {
        let held = |at: &u32| self.captures.get(*at as usize).is_some_and(|it| it.held.is_some());
        reads.first as usize >= self.settled && reads.captures.iter().all(held)
    }

    /// Moves the cursor behind a walk; gives the gradients of its leaves, which are to come.
    fn pass_over(&mut self, begin: usize, at: usize) -> Result<Vec<Tensor>> {
        let walk = &self.tree.steps[begin].walks[at];
        let first = self.results.len();
        self.results.resize_with(first + walk.n_results, Slot::gone);
        let mut values: SmallVec<[Option<Tensor>; 32]> = SmallVec::new();
        values.resize(walk.n_results, None);
        let mut grads = Vec::with_capacity(walk.grads.len());
        for route in &walk.grads {
            let mut before: Option<Tensor> = None;
            for made in route {
                let place = &mut values[made.result as usize];
                if place.is_none() {
                    let step = &self.tree.steps[made.step as usize];
                    let out = &step.outputs[made.output as usize];
                    let tensor = deliver_later(step, out, before.as_slice())?;
                    let slot = &mut self.results[first + made.result as usize];
                    *slot = Slot::of_result(&tensor, out.alias);
                    *place = Some(tensor);
                }
                before.clone_from(place);
            }
            grads.extend(before);
        }
        self.stats.replayed += walk.n_steps;
        self.stats.walks += 1;
        self.cursor = walk.end;
        Ok(grads)
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
    /// `None` where user code watches the edge.
    fn target(&self, edge: Option<&Edge>) -> Option<Target> {
        let Some(edge) = edge else { return Some(Target::Nowhere) };
        if edge.kept().is_some() {
            return None;
        }
        if let Some(&at) = self.nodes.get(&edge.id()) {
            return Some(Target::Node { at, output: edge.output });
        }
        let leaf = self.found.binary_search_by_key(&edge.id(), |it| it.0);
        Some(leaf.map_or(Target::Unused, |at| Target::Leaf(at as u32)))
    }
}

impl Walk {
    /// The leaves of the tape behind `roots`, when it is the piece of this event; then what its nodes saved is gone unless
    /// the walk retains it.
    fn leaves(&self, roots: &[Root], call: u64) -> Option<SmallVec<[u64; 8]>> {
        if roots.len() != self.roots.len() {
            return None;
        }
        let mut found = Found {
            walk: self,
            call,
            nodes: SmallVec::from_elem(None, self.nodes.len()),
            leaves: SmallVec::from_elem(0, self.n_leaves),
        };
        for ((root, grad), (target, meta)) in roots.iter().zip(&self.roots) {
            let alike = root.shape() == &meta.shape && root.dtype() == meta.dtype;
            let fits = grad.is_none() && alike && found.meets(*target, root.edge());
            fits.then_some(())?;
        }
        for (at, passed) in self.nodes.iter().enumerate() {
            let op = found.nodes[at]?.op.as_ref()?;
            let mut edges = op.edges.iter().zip(&passed.edges);
            let fits = op.edges.len() == passed.edges.len() && op.has_saved();
            (fits && edges.all(|it| found.meets(*it.1, it.0.as_ref()))).then_some(())?;
        }
        let mut sorted = found.leaves.clone();
        sorted.sort_unstable();
        let apart = sorted.first() != Some(&0) && sorted.windows(2).all(|it| it[0] != it[1]);
        apart.then_some(())?;
        if !self.retain {
            found.nodes.iter().flatten().filter_map(|it| it.op.as_ref()).for_each(|it| {
                it.saved(false);
            });
        }
        Some(found.leaves)
    }
}

/// The nodes and leaves that stand where those of an event stood.
struct Found<'a, 'b> {
    walk: &'a Walk,
    call: u64,
    nodes: SmallVec<[Option<&'b Node>; 16]>,
    /// Ids; 0 where none is found yet.
    leaves: SmallVec<[u64; 8]>,
}

impl<'b> Found<'_, 'b> {
    /// Whether `edge` leads where `target` says.
    fn meets(&mut self, target: Target, edge: Option<&'b Edge>) -> bool {
        match (target, edge) {
            (Target::Nowhere, None) => true,
            (Target::Nowhere, Some(_)) | (_, None) => false,
            (_, Some(edge)) if edge.kept().is_some() => false,
            (Target::Unused, Some(_)) => true,
            (Target::Node { at, output }, Some(edge)) => {
                let mark = Mark::new(self.call, self.walk.nodes[at as usize].step);
                self.nodes[at as usize] = Some(&edge.node);
                edge.node.mark == mark && edge.output == output
            }
            (Target::Leaf(at), Some(edge)) => {
                let leaf = &mut self.leaves[at as usize];
                let same = *leaf == 0 || *leaf == edge.id();
                *leaf = edge.id();
                same && edge.is_leaf()
            }
        }
    }
}
