//! What others than the engine have on the tape: steps that are no ops, and places whose gradients they watch.
//!
//! A reverse walk stops at both and goes on with what it is given there; see [`crate::autograd::Stop`].

use std::any::Any;
use std::sync::{Arc, PoisonError};

use smallvec::SmallVec;

use super::{Edge, Mark, Node, Origin};
use crate::Tensor;
use crate::sync::Mutex;

/// What the engine keeps for others, who know what it is: it lives as long as the node where it is kept.
pub type Kept = Arc<dyn Any + Send + Sync>;

/// A step that is no op: the gradients of its inputs come from who put it on the tape.
pub(crate) struct Foreign {
    /// Shapes, dtypes and places of the inputs.
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) n_outputs: u32,
    kept: Kept,
}

/// Who watches the gradients of the outputs of a node.
#[derive(Default)]
pub(crate) struct Watchers(Mutex<SmallVec<[(u32, Kept); 1]>>);

impl Edge {
    /// The first output of a new step that leads back to `inputs`; it is no op, and what is kept says whose it is. Others are
    /// [`Edge::output_at`].
    pub fn of_foreign(inputs: &[Tensor], n_outputs: usize, kept: Kept) -> Self {
        let shape_of =
            |it: &Tensor| Tensor::abstract_on(it.device(), it.meta()).at_edge(it.edge().cloned());
        let inputs = inputs.iter().map(shape_of).collect();
        let step = Foreign { inputs, n_outputs: n_outputs as u32, kept };
        let node = Node::new(Origin::Foreign(Box::new(step)), Mark::NONE, None);
        Self { node: Arc::new(node), output: 0 }
    }

    /// Another output of the same step.
    pub fn output_at(&self, output: usize) -> Self {
        debug_assert!(output < self.node.n_outputs(), "an output of the step");
        Self { node: self.node.clone(), output: output as u32 }
    }

    /// What is kept at a step that is no op; `None` for others.
    pub fn kept(&self) -> Option<&Kept> {
        match &self.node.origin {
            Origin::Foreign(step) => Some(&step.kept),
            Origin::Leaf | Origin::Op(_) => None,
        }
    }

    /// Shapes, dtypes and places of the inputs of a step that is no op; nothing for others.
    pub fn foreign_inputs(&self) -> &[Tensor] {
        match &self.node.origin {
            Origin::Foreign(step) => &step.inputs,
            Origin::Leaf | Origin::Op(_) => &[],
        }
    }

    /// What is kept by who watches the gradients of this value.
    pub fn watcher(&self) -> Option<Kept> {
        self.node.watchers.get()?.of(self.output)
    }

    /// Has reverse walks stop at this value from now on, with its gradient and what is kept here.
    pub fn watch(&self, kept: Kept) {
        let watchers = self.node.watchers.get_or_init(Box::default);
        let mut all = watchers.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.0 != self.output);
        all.push((self.output, kept));
    }

    /// Whether a reverse walk stops at this step.
    pub(crate) fn stops_walks(&self) -> bool {
        self.kept().is_some() || self.node.watchers.get().is_some()
    }
}

impl Watchers {
    /// Who watches an output.
    pub(crate) fn of(&self, output: u32) -> Option<Kept> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|it| it.0 == output).map(|it| it.1.clone())
    }
}
