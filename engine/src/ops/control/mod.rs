//! Branches and loops: ops that run graphs, which are their attributes (regions).
//!
//! What a region needs from outside are operands of the op, so a region holds no tensors, and gradients flow as through any op.

pub mod cond;
mod onnx;
pub mod stop_gradient;
pub mod while_loop;
pub mod while_loop_backward;

use crate::meaning::Array;
use crate::op::Block;
use crate::{Error, Meta, Number, OpDef, Result, Tensor};

/// The rows, by name.
pub static ALL: &[&OpDef] =
    &[&cond::OP, &stop_gradient::OP, &while_loop::OP, &while_loop_backward::OP];

/// Refuses operands that are not what a graph takes; `what` names the graph.
fn check_operands(
    op: &'static OpDef,
    what: &'static str,
    block: &dyn Block,
    operands: &[Tensor],
) -> Result<()> {
    let wanted = block.inputs();
    if wanted.len() != operands.len() {
        let problem = format!("takes {} tensors, {} are given", wanted.len(), operands.len());
        return Err(Error::Attr { op: op.name, name: what, problem });
    }
    let differs = wanted.iter().zip(operands).position(|(meta, it)| *meta != it.meta());
    match differs {
        None => Ok(()),
        Some(at) => {
            let got = operands[at].meta();
            let problem = format!("takes {} as its input {at}, {got} is given", wanted[at]);
            Err(Error::Attr { op: op.name, name: what, problem })
        }
    }
}

/// Refuses a condition that is not a single element.
fn check_condition(op: &'static OpDef, meta: &Meta) -> Result<()> {
    if meta.shape.numel() == 1 {
        return Ok(());
    }
    let rule = "a condition is a single element; reduce it with .any() or .all()".into();
    Err(Error::Shapes { op: op.name, shapes: vec![meta.shape.clone()], rule })
}

/// Whether a condition holds.
fn holds(condition: &Tensor) -> Result<bool> {
    Ok(match condition.item()? {
        Number::Bool(it) => it,
        Number::Int(it) => it != 0,
        Number::Float(it) => it != 0.0,
        Number::Complex(real, imag) => real != 0.0 || imag != 0.0,
    })
}

/// As [`holds`], of its meaning.
fn means_true(condition: Option<&Array>) -> bool {
    condition.is_some_and(|it| it.truths().iter().any(|it| *it))
}

/// Whether gradients flow through values of this kind.
fn is_differentiable(meta: &Meta) -> bool {
    meta.dtype.is_differentiable()
}

/// What stands in the way of running a region a second time for its gradient.
fn needs_no_draws(op: &'static OpDef, attrs: &crate::Attrs) -> Result<()> {
    let reason = "its graphs draw random numbers, and would draw others when they run again for the gradient; draw them \
                  before the branch or the loop and use them in it (for dropout: multiply by `F.dropout(torch.ones_like(x), p)` \
                  made before), or trace without symbolic=True";
    if op.is_pure(attrs) { Ok(()) } else { Err(Error::NoGradient { op: op.name, reason }) }
}
