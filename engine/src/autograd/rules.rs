//! The gradients of the inputs of one step: by the rule of its row, or from its expression.

use std::sync::Arc;

use smallvec::SmallVec;

use super::elementwise::elementwise_grad;
use crate::apply::default_dtype;
use crate::functional::unbroadcast;
use crate::op::{Grad, GradCx};
use crate::tape::{Edge, Node, OpStep, Saved};
use crate::{Error, Result, Tensor};

/// One gradient per input of a step, from those of its outputs; `None` where none is needed or none flows.
pub(super) fn input_grads(
    step: &OpStep,
    saved: &Saved,
    (node, grads): (&Arc<Node>, &[Option<Tensor>]),
    (needs, sums): (&[bool], &mut [Option<Tensor>]),
) -> Result<Vec<Option<Tensor>>> {
    let outputs: SmallVec<[Tensor; 1]> = (0_u32..)
        .zip(&saved.outputs)
        .map(|(output, it)| it.with_edge(Some(Edge { node: node.clone(), output })))
        .collect();
    default_dtype::left_alone(|| match step.op.grad {
        Grad::Rule(rule, _) | Grad::Onto(rule, _) => rule(&mut GradCx {
            op: step.op,
            attrs: &step.attrs,
            inputs: &saved.inputs,
            outputs: &outputs,
            output_grads: grads,
            needs,
            sums,
        }),
        Grad::Derived => derived(step, (&saved.inputs, &outputs), grads, needs),
        Grad::Stops(reason) => Err(Error::NoGradient { op: step.op.name, reason }),
    })
}

/// Gradients of an elementwise op, from its expression.
fn derived(
    step: &OpStep,
    (inputs, outputs): (&[Tensor], &[Tensor]),
    grads: &[Option<Tensor>],
    needs: &[bool],
) -> Result<Vec<Option<Tensor>>> {
    let Some(Some(dy)) = grads.first() else { return Ok(vec![None; needs.len()]) };
    let of = |(idx, needed): (usize, &bool)| {
        if !needed {
            return Ok(None);
        }
        let dx = elementwise_grad(step.op, (inputs, &outputs[0]), &step.attrs, dy, idx)?;
        unbroadcast(&dx, inputs[idx].shape()).map(Some)
    };
    needs.iter().enumerate().map(of).collect()
}
