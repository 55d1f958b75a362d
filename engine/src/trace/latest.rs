//! What one looks at afterwards: the recorded path as one graph, from what came in to what outlived the call, and where these
//! values are now. Nothing here keeps elements alive.

use super::call::{State, next_call};
use super::identity::{Slot, leaf_of};
use super::segment::{Source, path_graph};
use super::traced::Traced;
use super::tree::{End, ROOT, Ref, StepId, Stored, Tree};
use crate::graph::Graph;
use crate::{Error, Result, Tensor};

/// Where the latest call ended, and where its values were.
pub(super) struct Ended {
    /// Which tree it walked.
    pub(super) tree: usize,
    /// The number of the call.
    call: u64,
    step: StepId,
    args: Vec<Slot>,
    captures: Vec<Slot>,
    /// Results that outlive a call, as the end of the path lists them.
    left: Vec<Slot>,
}

impl Ended {
    /// Where the latest call ended, if it walked this tree.
    pub(super) fn end_in(&self, tree: usize) -> Option<StepId> {
        (self.tree == tree).then_some(self.step)
    }

    /// Notes that the function has run just now.
    pub(super) fn is_now(&mut self) {
        self.call = next_call();
    }

    /// Where a run without the body ended at a step of a tree; `place` says where a value is now.
    pub(super) fn alone(
        (tree, step): (usize, StepId),
        recorded: &Tree,
        place: impl Fn(Ref) -> Option<Place>,
    ) -> Self {
        let slot = |it: Ref| place(it).map_or_else(Slot::gone, |it| it.0);
        let path = recorded.path(ROOT, step);
        let n_captures: usize = path.iter().map(|it| recorded.step(*it).captures.len()).sum();
        let captures = (0..n_captures as u32).map(|at| slot(Ref::Capture(at))).collect();
        let left = recorded.step(step).end.as_ref().map_or(&[][..], |it| &it.left);
        let left = left.iter().map(|at| slot(Ref::Result(*at))).collect();
        Self { tree, call: next_call(), step, args: Vec::new(), captures, left }
    }

    /// Takes what is to be kept out of a call that has ended.
    pub(super) fn of(tree: usize, state: &mut State) -> Self {
        let (mut args, mut captures) =
            (std::mem::take(&mut state.args), std::mem::take(&mut state.captures));
        args.iter_mut().chain(&mut captures).for_each(|it| it.held = None);
        let end = state.tree.step_mut(state.cursor).end.as_mut();
        let left = end.map(|end| {
            end.n_calls += 1;
            let take = |&at: &u32| match state.results.get_mut(at as usize) {
                Some(slot) => std::mem::replace(slot, Slot::gone()),
                None => Slot::gone(),
            };
            end.left.iter().map(take).collect()
        });
        let left = left.unwrap_or_default();
        Self { tree, call: state.call, step: state.cursor, args, captures, left }
    }
}

/// A value that came into a call or outlived it, without its elements.
#[derive(Clone, Debug)]
pub struct Place(pub(super) Slot);

impl Place {
    /// This value.
    pub fn of(tensor: &Tensor) -> Self {
        Self(Slot::of(tensor))
    }

    /// Whether `tensor` is this value, or the same leaf of the tape with other elements.
    pub fn is(&self, tensor: &Tensor) -> bool {
        self.0.is(tensor) || (self.0.leaf != 0 && self.0.leaf == leaf_of(tensor))
    }
}

/// What an input of the graph is.
#[derive(Clone, Debug)]
pub enum Given {
    /// An argument, by its number.
    Arg(usize, Place),
    /// A tensor from outside, by its number.
    Capture(usize, Place),
    /// A number that differs from call to call.
    Number,
}

/// What an output of the graph is.
#[derive(Clone, Debug)]
pub struct Left {
    /// Where it was after the latest call.
    pub place: Place,
    /// Whether the function returns it.
    pub returned: bool,
}

/// A recorded path as one graph.
pub struct Latest {
    /// As recorded; its outputs are all values that outlived the call.
    pub graph: Graph,
    /// What its inputs are, in order.
    pub inputs: Vec<Given>,
    /// What its outputs are, in order.
    pub outputs: Vec<Left>,
    /// Calls that took this path.
    pub n_calls: usize,
    /// Its compiled stretches.
    pub compiled: Compiled,
}

/// What a path came to when it was compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compiled {
    /// Stretches that were compiled.
    pub segments: usize,
    /// Launches of all of them.
    pub launches: usize,
    /// Bytes of the largest arena.
    pub arena_bytes: usize,
}

impl Traced {
    /// The number of the latest call that was recorded or replayed; later calls, of any function, have greater ones.
    pub fn latest_call(&self) -> Option<u64> {
        self.0.borrow().ended.as_ref().map(|it| it.call)
    }

    /// The path that most calls took, if the latest call applied the same ops, though perhaps to other shapes; else the latest.
    pub fn latest(&self) -> Result<Latest> {
        let recorded = self.0.borrow();
        let ended = recorded.ended.as_ref().ok_or_else(|| Error::Trace {
            problem: "nothing is recorded yet; call the function once".into(),
        })?;
        let (tree, step) = usual_path(&recorded.trees, ended);
        let none = End::default();
        let end = tree.step(step).end.as_ref().unwrap_or(&none);
        let (graph, sources) = path_graph(tree, step, &end.left)?;
        let inputs = sources.iter().map(|it| ended.given(*it, tree.stores(step))).collect();
        let returned = |at: u32| end.results.iter().flatten().any(|it| it.same(Ref::Result(at)));
        let left = end.left.iter().zip(&ended.left);
        let outputs = left
            .map(|(at, slot)| Left { place: Place(slot.clone()), returned: returned(*at) })
            .collect();
        let compiled = compiled(tree, step);
        Ok(Latest { graph, inputs, outputs, n_calls: end.n_calls, compiled })
    }
}

impl Ended {
    fn given(&self, source: Source, stores: &[Stored]) -> Given {
        let place = |slots: &[Slot], at: u32| {
            Place(slots.get(at as usize).cloned().unwrap_or_else(Slot::gone))
        };
        match source {
            Source::Arg(at) => Given::Arg(at as usize, place(&self.args, at)),
            Source::Capture(at) => Given::Capture(at as usize, place(&self.captures, at)),
            Source::Variable(at) => match stores[at as usize].before {
                Some(Ref::Capture(at)) => Given::Capture(at as usize, place(&self.captures, at)),
                _ => Given::Number,
            },
            Source::Result(_) | Source::Fed(_) => Given::Number,
        }
    }
}

fn usual_path<'a>(trees: &'a [Tree], ended: &Ended) -> (&'a Tree, StepId) {
    let latest = (&trees[ended.tree], ended.step);
    let n_calls = |it: &(&Tree, StepId)| it.0.step(it.1).end.as_ref().map_or(0, |end| end.n_calls);
    let paths = trees.iter().flat_map(|tree| tree.ends().map(move |step| (tree, step)));
    let alike =
        paths.filter(|it| it.0.signature.len() == latest.0.signature.len() && alike(*it, latest));
    alike.max_by_key(n_calls).unwrap_or(latest)
}

/// Whether two paths apply the same ops to values from the same places, and leave the same values.
fn alike(a: (&Tree, StepId), b: (&Tree, StepId)) -> bool {
    let (steps_a, steps_b) = (a.0.path(ROOT, a.1), b.0.path(ROOT, b.1));
    let left = |it: (&Tree, StepId)| it.0.step(it.1).end.as_ref().map(|end| end.left.clone());
    steps_a.len() == steps_b.len()
        && left(a) == left(b)
        && steps_a.iter().zip(&steps_b).all(|(step_a, step_b)| {
            let (step_a, step_b) = (a.0.step(*step_a), b.0.step(*step_b));
            let captures = step_a.captures.len() == step_b.captures.len();
            captures && step_a.op == step_b.op && step_a.outputs.len() == step_b.outputs.len()
        })
}

fn compiled(tree: &Tree, end: StepId) -> Compiled {
    let mut res = Compiled::default();
    for &step in &tree.path(ROOT, end) {
        for (_, segment) in &tree.step(step).segments {
            res.segments += 1;
            res.launches += segment.plan.n_launches();
            res.arena_bytes = res.arena_bytes.max(segment.plan.memory().peak);
        }
    }
    res
}
