//! The tape: which op made a value, from what. The reverse walk over gradient rules is in `backward`.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use crate::cpu::alloc::Held;
use crate::op::{Grad, OpDef, Saves};
use crate::trace::Mark;
use crate::{Attrs, Result, Tensor, lane};

mod backward;
mod retained;
mod step_name;
#[cfg(test)]
mod tests;

pub use backward::{Root, backward, grad, reaches_kept, unbroadcast};
pub use retained::{retain, retain_only};
pub use step_name::StepCx;
pub(crate) use step_name::note_composed;

/// Where on the tape a value came from.
#[derive(Clone)]
pub struct Edge {
    pub(crate) node: Arc<Node>,
    pub(crate) output: u32,
}

impl Edge {
    /// Whether the value is a leaf: made by the user, not by an op, nor by who keeps something at it.
    pub fn is_leaf(&self) -> bool {
        self.node.op.is_none() && self.node.kept.is_none()
    }

    /// The op that made the value; `None` for a leaf.
    pub fn op_name(&self) -> Option<&'static str> {
        self.node.op.as_ref().map(|it| it.op.name)
    }

    /// A number that names the node; later nodes have larger numbers.
    pub fn id(&self) -> u64 {
        self.node.id
    }

    /// What a leaf was told to keep; see [`Tensor::leaf_keeping`].
    pub fn kept(&self) -> Option<&Kept> {
        self.node.kept.as_ref()
    }
}

/// Something that lives as long as a leaf is on the tape.
pub type Kept = Arc<dyn std::any::Any + Send + Sync>;

/// One step of the tape. Nodes are made in program order, so a larger `id` never feeds a smaller one.
pub(crate) struct Node {
    pub(crate) id: u64,
    /// `None` for a leaf.
    pub(crate) op: Option<OpStep>,
    /// Only of leaves.
    pub(crate) kept: Option<Kept>,
    /// The step of a traced call that the application was.
    pub(crate) mark: Mark,
    /// What it counts for in the budget of the memory; nothing for a leaf.
    _held: Option<Held>,
}

/// Bytes of a node, and of the handle that it keeps or makes for each operand.
const NODE_BYTES: usize = size_of::<Node>() + 2 * size_of::<usize>();

/// An op application on the tape.
pub(crate) struct OpStep {
    pub(crate) op: &'static OpDef,
    pub(crate) attrs: Attrs,
    /// One per input; `None` where no gradient is needed.
    pub(crate) edges: SmallVec<[Option<Edge>; 3]>,
    pub(crate) n_outputs: usize,
    /// The composed op that it was the last step of.
    pub(crate) composed: Mutex<Option<&'static OpDef>>,
    /// Taken away once the backward walk has passed, unless the graph is retained.
    pub(crate) saved: Mutex<Option<Saved>>,
}

/// Tensors that a gradient rule may look at. Where a rule needs only shapes they are abstract.
#[derive(Clone)]
pub(crate) struct Saved {
    pub(crate) inputs: SmallVec<[Tensor; 3]>,
    /// Without edges, since an output that held its own node would never be freed.
    pub(crate) outputs: SmallVec<[Tensor; 1]>,
}

/// Long chains are freed step by step: a recursive drop would exhaust the stack.
impl Drop for Node {
    fn drop(&mut self) {
        let mut rest: Vec<Edge> = Vec::new();
        release(self.op.take(), &mut rest);
        while let Some(edge) = rest.pop() {
            if let Some(mut node) = Arc::into_inner(edge.node) {
                release(node.op.take(), &mut rest);
            }
        }
    }
}

/// Moves the edges of a step to `rest` before anything that holds them is dropped.
fn release(step: Option<OpStep>, rest: &mut Vec<Edge>) {
    let Some(step) = step else { return };
    rest.extend(step.edges.into_iter().flatten());
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

/// A fresh leaf.
pub(crate) fn new_leaf(kept: Option<Kept>) -> Edge {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let node = Node { id, op: None, kept, mark: Mark::NONE, _held: None };
    Edge { node: Arc::new(node), output: 0 }
}

/// Puts an application on the tape when an input needs gradients; returns the outputs with their edges. Fails when the tape has
/// grown beyond the budget of the memory.
pub(crate) fn record(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: SmallVec<[Tensor; 1]>,
    mark: Mark,
) -> Result<SmallVec<[Tensor; 1]>> {
    if !enabled() || matches!(op.grad, Grad::Stops(_)) || !inputs.iter().any(Tensor::requires_grad)
    {
        return Ok(outputs);
    }
    let held = Held::new(NODE_BYTES + (inputs.len() + outputs.len()) * Tensor::HANDLE_BYTES)?;
    let saved = save(op, inputs, attrs, &outputs);
    let step = OpStep {
        op,
        attrs: attrs.clone(),
        edges: inputs.iter().map(|it| it.edge().cloned()).collect(),
        n_outputs: outputs.len(),
        composed: Mutex::default(),
        saved: Mutex::new(Some(saved)),
    };
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let node = Arc::new(Node { id, op: Some(step), kept: None, mark, _held: Some(held) });
    let attach = |(idx, tensor): (usize, Tensor)| {
        let differentiable = tensor.dtype().is_float();
        let edge = Edge { node: node.clone(), output: idx as u32 };
        if differentiable { tensor.into_edge(Some(edge)) } else { tensor }
    };
    Ok(outputs.into_iter().enumerate().map(attach).collect())
}

fn save(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, outputs: &[Tensor]) -> Saved {
    let shape_only = |it: &Tensor| Tensor::abstract_of(it.meta()).into_edge(it.edge().cloned());
    let saved = |which: u64| {
        move |(idx, it): (usize, &Tensor)| {
            if which >> idx.min(63) & 1 == 1 { it.clone() } else { shape_only(it) }
        }
    };
    let (of_inputs, of_outputs) = match op.saves() {
        Saves::Inputs if op.body.is_elementwise() => {
            let wanted = inputs.iter().map(Tensor::requires_grad);
            (lane::grad::inputs_to_save(op, attrs, wanted), 0)
        }
        Saves::Shapes => (0, 0),
        Saves::Inputs => (u64::MAX, 0),
        Saves::Outputs => (0, u64::MAX),
        Saves::Both => (u64::MAX, u64::MAX),
    };
    Saved {
        inputs: inputs.iter().enumerate().map(saved(of_inputs)).collect(),
        outputs: outputs.iter().enumerate().map(saved(of_outputs)).collect(),
    }
}

impl OpStep {
    /// Whether no walk took the saved tensors yet.
    pub(crate) fn has_saved(&self) -> bool {
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The saved tensors, or `None` when an earlier backward walk took them.
    pub(crate) fn saved(&self, keep: bool) -> Option<Saved> {
        let mut slot = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        if keep { slot.clone() } else { slot.take() }
    }
}
