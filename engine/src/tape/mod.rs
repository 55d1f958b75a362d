//! The tape: which op made a value, from what. `apply` writes it, `autograd` walks it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::cpu::local::Held;
use crate::sync::{Mutex, OnceLock};
use crate::{Attrs, OpDef, Scope, Site, Tensor};

mod again;
mod foreign;
mod step_name;

pub use again::Again;
pub use foreign::Kept;
pub(crate) use foreign::{Foreign, Watchers};
pub use step_name::StepCx;
pub(crate) use step_name::note_composed;

/// Where on the tape a value came from.
#[derive(Clone)]
pub struct Edge {
    pub(crate) node: Arc<Node>,
    pub(crate) output: u32,
}

impl Edge {
    /// Whether the value is a leaf: made by the user, not by a step.
    pub fn is_leaf(&self) -> bool {
        matches!(self.node.origin, Origin::Leaf)
    }

    /// The op that made the value; `None` for a leaf, and for a step that is no op.
    pub fn op_name(&self) -> Option<&'static str> {
        self.node.op().map(|it| it.op.name)
    }

    /// A number that names the node; later nodes have larger numbers.
    pub fn id(&self) -> u64 {
        self.node.id
    }

    /// Node and output.
    pub fn place(&self) -> (u64, u32) {
        (self.id(), self.output)
    }

    /// Whether a reverse walk from here comes to a step whose saved elements an earlier one took away: this step, or one before it, where those
    /// between saved none.
    pub fn is_passed(&self) -> bool {
        let (mut seen, mut rest) = (FxHashSet::default(), vec![self]);
        while let Some(edge) = rest.pop() {
            let Some(step) = edge.node.op() else { continue };
            let is_light = match &*step.saved.lock().unwrap_or_else(PoisonError::into_inner) {
                None => return true,
                Some(saved) => saved.is_light(),
            };
            if is_light && seen.insert(edge.id()) {
                rest.extend(step.edges.iter().flatten());
            }
        }
        false
    }

    /// Whether a walk has taken away what the step itself saved.
    fn is_taken(&self) -> bool {
        let is_none = |it: &OpStep| it.saved.lock().is_ok_and(|it| it.is_none());
        self.node.op().is_some_and(is_none)
    }

    /// Says of a leaf that the function is done whose derivatives it was made for: nobody asks for its gradient any more.
    pub fn end(&self) {
        self.node.is_over.store(true, Ordering::Relaxed);
    }

    /// Whether that was said.
    pub fn is_over(&self) -> bool {
        self.node.is_over.load(Ordering::Relaxed)
    }
}

/// One step of the tape. Nodes are made in program order, so a larger `id` never feeds a smaller one.
pub(crate) struct Node {
    pub(crate) id: u64,
    pub(crate) origin: Origin,
    /// Who watches the gradients of its outputs.
    pub(crate) watchers: OnceLock<Box<Watchers>>,
    /// The step of a traced call that the application was.
    pub(crate) mark: Mark,
    /// Only of leaves: whether nobody asks for the gradient any more.
    is_over: AtomicBool,
    /// What it counts for in the budget of the memory; nothing for a leaf.
    _held: Option<Held>,
}

/// What made the values of a node.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all nodes are ops: a second block for each would be slower"
)]
pub(crate) enum Origin {
    /// The user.
    Leaf,
    Op(OpStep),
    Foreign(Box<Foreign>),
}

impl Node {
    /// An application of an op, which takes the next number.
    pub(crate) fn of_step(step: OpStep, mark: Mark, held: Held) -> Self {
        Self::new(Origin::Op(step), mark, Some(held))
    }

    fn new(origin: Origin, mark: Mark, held: Option<Held>) -> Self {
        let (is_over, watchers) = (AtomicBool::new(false), OnceLock::new());
        Self { id: fresh_id(), origin, watchers, mark, is_over, _held: held }
    }

    /// The application of an op that it is, if it is one.
    pub(crate) fn op(&self) -> Option<&OpStep> {
        match &self.origin {
            Origin::Op(step) => Some(step),
            Origin::Leaf | Origin::Foreign(_) => None,
        }
    }

    /// Where its inputs came from; `None` where no gradient is needed.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Option<&Edge>> {
        let (op, foreign): (&[Option<Edge>], &[Tensor]) = match &self.origin {
            Origin::Leaf => (&[], &[]),
            Origin::Op(step) => (&step.edges, &[]),
            Origin::Foreign(step) => (&[], &step.inputs),
        };
        op.iter().map(Option::as_ref).chain(foreign.iter().map(Tensor::edge))
    }

    /// How many values it made.
    pub(crate) fn n_outputs(&self) -> usize {
        match &self.origin {
            Origin::Leaf => 1,
            Origin::Op(step) => step.n_outputs as usize,
            Origin::Foreign(step) => step.n_outputs as usize,
        }
    }
}

/// Names the step of a running call that an application was.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    call: u64,
    step: u32,
}

impl Mark {
    /// Of what no call answered from its recording.
    pub(crate) const NONE: Self = Self { call: 0, step: 0 };

    pub(crate) fn new(call: u64, step: u32) -> Self {
        Self { call, step }
    }

    /// The step, if it was one of this call.
    pub(crate) fn step_of(self, call: u64) -> Option<u32> {
        (self.call == call).then_some(self.step)
    }
}

/// Bytes of a node, and of the handle that it keeps or makes for each operand.
pub(crate) const NODE_BYTES: usize = size_of::<Node>() + 2 * size_of::<usize>();

/// An op application on the tape.
pub(crate) struct OpStep {
    pub(crate) op: &'static OpDef,
    pub(crate) attrs: Attrs,
    /// One per input; `None` where no gradient is needed.
    pub(crate) edges: SmallVec<[Option<Edge>; 3]>,
    pub(crate) n_outputs: u32,
    /// Where the program applied it, and in which part, if somebody listened.
    pub(crate) site: Site,
    pub(crate) scope: Scope,
    /// The composed op that it was the last step of.
    pub(crate) composed: Mutex<Option<&'static OpDef>>,
    /// Taken away once the backward walk has passed, unless the graph is retained or there are no elements in it.
    pub(crate) saved: Mutex<Option<Saved>>,
}

/// Tensors that a gradient rule may look at. Where a rule needs only shapes they are abstract.
#[derive(Clone)]
pub(crate) struct Saved {
    pub(crate) inputs: SmallVec<[Tensor; 3]>,
    /// Without edges, since an output that held its own node would never be freed.
    pub(crate) outputs: SmallVec<[Tensor; 1]>,
}

impl Saved {
    /// Whether it holds no elements, so that nothing is won by taking it away.
    fn is_light(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).all(Tensor::is_shape)
    }
}

/// Long chains are freed step by step: a recursive drop would exhaust the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut rest: Vec<Edge> = Vec::new();
        self.release(&mut rest);
        while let Some(edge) = rest.pop() {
            if let Some(mut node) = Arc::into_inner(edge.node) {
                node.release(&mut rest);
            }
        }
    }
}

impl Node {
    /// Moves its edges to `rest` before anything that holds them is dropped.
    fn release(&mut self, rest: &mut Vec<Edge>) {
        match std::mem::replace(&mut self.origin, Origin::Leaf) {
            Origin::Leaf => {}
            Origin::Op(step) => rest.extend(step.edges.into_iter().flatten()),
            Origin::Foreign(step) => {
                rest.extend(step.inputs.iter().filter_map(|it| it.edge().cloned()))
            }
        }
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static ENABLED: Cell<bool> = const { Cell::new(true) };
}

/// The number that the next node gets.
pub(crate) fn next_id() -> u64 {
    NEXT_ID.load(Ordering::Relaxed)
}

/// Whether ops are put on the tape on this thread.
pub fn enabled() -> bool {
    ENABLED.get()
}

/// Switches taping on this thread; returns the former state.
pub fn set_enabled(on: bool) -> bool {
    ENABLED.replace(on)
}

/// Runs `body` without taping.
pub fn no_grad<R>(body: impl FnOnce() -> R) -> R {
    let before = set_enabled(false);
    let res = body();
    set_enabled(before);
    res
}

/// A number for a node, larger than all before.
pub(crate) fn fresh_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// A fresh leaf.
pub(crate) fn new_leaf() -> Edge {
    Edge { node: Arc::new(Node::new(Origin::Leaf, Mark::NONE, None)), output: 0 }
}

impl OpStep {
    /// Whether no walk took the saved tensors yet.
    pub(crate) fn has_saved(&self) -> bool {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The saved tensors, or `None` when an earlier backward walk took them.
    pub(crate) fn saved(&self, keep: bool) -> Option<Saved> {
        let mut slot = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        if keep || slot.as_ref().is_some_and(Saved::is_light) { slot.clone() } else { slot.take() }
    }
}
