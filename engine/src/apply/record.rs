//! Putting an application on the tape: the step, its edges, and what its gradient rule will look at.

use std::sync::Arc;

use crate::cpu::local::Held;
use crate::interpreter;
use crate::op::{Grad, Saves};
use crate::sync::Mutex;
use crate::tape::{self, Edge, Mark, Node, OpStep, Saved};
use crate::tensor::Outputs;
use crate::{Attrs, OpDef, Result, Scope, Site, Tensor, lane};

/// Puts an application on the tape when an input needs gradients; returns the outputs with their edges. Fails when the tape has
/// grown beyond the budget of the memory.
pub(super) fn record(
    op: &'static OpDef,
    inputs: &[Tensor],
    attrs: &Attrs,
    outputs: Outputs,
    mark: Mark,
) -> Result<Outputs> {
    if !tape::enabled()
        || matches!(op.grad, Grad::Stops(_))
        || !inputs.iter().any(Tensor::requires_grad)
    {
        return Ok(outputs);
    }
    let held = Held::new(tape::NODE_BYTES + (inputs.len() + outputs.len()) * Tensor::HANDLE_BYTES)?;
    let saved = save(op, inputs, attrs, &outputs);
    let step = OpStep {
        op,
        attrs: attrs.clone(),
        edges: inputs.iter().map(|it| it.edge().cloned()).collect(),
        n_outputs: outputs.len() as u32,
        site: Site::here(),
        scope: if interpreter::active() { Scope::here() } else { Scope::NONE },
        composed: Mutex::default(),
        saved: Mutex::new(Some(saved)),
    };
    let node = Arc::new(Node::of_step(step, mark, held));
    let attach = |(idx, tensor): (usize, Tensor)| {
        let differentiable = tensor.dtype().is_differentiable();
        let edge = Edge { node: node.clone(), output: idx as u32 };
        if differentiable { tensor.into_edge(Some(edge)) } else { tensor }
    };
    Ok(outputs.into_iter().enumerate().map(attach).collect())
}

fn save(op: &'static OpDef, inputs: &[Tensor], attrs: &Attrs, outputs: &[Tensor]) -> Saved {
    let shape_only = |it: &Tensor| match it.is_meta() {
        true => it.clone(),
        false => Tensor::abstract_on(it.device(), it.meta()).into_edge(it.edge().cloned()),
    };
    let saved = |which: u64| {
        move |(idx, it): (usize, &Tensor)| {
            if which >> idx.min(63) & 1 == 1 { it.clone() } else { shape_only(it) }
        }
    };
    let (of_inputs, of_outputs) = match op.saves() {
        Saves::Inputs if op.body.is_elementwise() => {
            let wanted = inputs.iter().map(Tensor::requires_grad);
            let bits = lane::grad::operands_to_save(op, attrs, wanted);
            (bits, bits >> inputs.len())
        }
        Saves::Shapes => (0, 0),
        Saves::Inputs => (u64::MAX, 0),
        Saves::Outputs => (0, u64::MAX),
        Saves::Both => (u64::MAX, u64::MAX),
        Saves::Some { inputs, outputs } => (inputs, outputs),
    };
    Saved {
        inputs: inputs.iter().enumerate().map(saved(of_inputs)).collect(),
        outputs: outputs.iter().enumerate().map(saved(of_outputs)).collect(),
    }
}
