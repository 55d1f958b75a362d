//! `fold-batch-norm`: what a batch norm in evaluation multiplies and adds behind a convolution goes into that one's weights and bias.
//!
//! It is taken where all of these come of constants, so that the pass behind it computes them once. Weights are rounded after the product,
//! so bits differ.

use smallvec::smallvec;

use super::RELAXED;
use crate::graph::parse::find_op;
use crate::graph::{Graph, Kind, NodeId, Value};
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Attr, Attrs, Shape, attr};

pub static PASS: Pass = Pass {
    name: "fold-batch-norm",
    doc: "Puts what batch norm in evaluation multiplies and adds into the constant weights of the convolution before it.",
    level: RELAXED,
    rules: &[Rule::whole("into-weights", into_weights)],
};

fn into_weights(graph: &Graph) -> Vec<(Value, Replacement)> {
    let users = graph.users();
    let is_free = |it: Value| {
        users[it.node as usize].len() == 1 && graph.results().all(|result| result.node != it.node)
    };
    let folded = |id: NodeId| {
        let affine = Affine::at(graph, id).filter(|it| is_free(it.convolved))?;
        Some((Value::of(id), affine.folded(graph)?))
    };
    (0..graph.nodes().len() as NodeId).filter_map(folded).collect()
}

/// `shift + convolved * scale`, by channels.
struct Affine {
    convolved: Value,
    shift: Value,
    scale: Value,
}

impl Affine {
    fn at(graph: &Graph, id: NodeId) -> Option<Self> {
        let node = graph.node(id);
        let (op, attrs) = (node.op()?, node.attrs()?);
        let &[shift, convolved, scale] = node.inputs() else { return None };
        let is_it = op.name == "addcmul" && attr::float(attrs, 0) == 1.0;
        let whole = &graph.meta(convolved).shape;
        let (channels, behind) = (*whole.get(1)?, whole.rank() - 1);
        let is_by_channel = |it| {
            let shape = &graph.meta(it).shape;
            let place = shape.rank().checked_sub(behind);
            is_constant(graph, it)
                && shape.numel() == channels
                && place.is_some_and(|at| shape[at] == channels)
        };
        (is_it && is_by_channel(shift) && is_by_channel(scale)).then_some(Self {
            convolved,
            shift,
            scale,
        })
    }

    /// The convolution that does both.
    fn folded(&self, graph: &Graph) -> Option<Replacement> {
        let Kind::Op { op, attrs, inputs } = &graph.node(self.convolved.node).kind else {
            return None;
        };
        let parts = inputs.get(1..)?;
        if op.name != "convolution" || !parts.iter().all(|it| is_constant(graph, *it)) {
            return None;
        }
        let (channels, mut by_filter) =
            (graph.meta(self.scale).shape.numel(), graph.meta(parts[0]).shape.clone());
        by_filter.dims_mut()[1..].fill(1);
        let in_row = Shape::from([channels]);
        let scale = |shape: &Shape| reshaped(self.scale, shape);
        let weight = applied("mul", vec![Replacement::Value(parts[0]), scale(&by_filter)?])?;
        let mut bias = reshaped(self.shift, &in_row)?;
        if let Some(own) = parts.get(1) {
            let scaled = applied("mul", vec![Replacement::Value(*own), scale(&in_row)?])?;
            bias = applied("add", vec![bias, scaled])?;
        }
        let inputs = vec![Replacement::Value(inputs[0]), weight, bias];
        Some(Replacement::Apply { op, attrs: attrs.clone(), inputs })
    }
}

/// Whether a value is a constant, or made of some in a few steps.
fn is_constant(graph: &Graph, value: Value) -> bool {
    is_constant_within(graph, value, 8)
}

fn is_constant_within(graph: &Graph, value: Value, most: usize) -> bool {
    match &graph.node(value.node).kind {
        Kind::Const(_) | Kind::Number(_) => true,
        Kind::Op { op, attrs, inputs } => {
            let is_made = |it: &Value| is_constant_within(graph, *it, most - 1);
            most > 0 && op.is_pure(attrs) && !inputs.is_empty() && inputs.iter().all(is_made)
        }
        Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed => false,
    }
}

fn applied(name: &str, inputs: Vec<Replacement>) -> Option<Replacement> {
    Some(Replacement::Apply { op: find_op(name)?, attrs: Attrs::new(), inputs })
}

fn reshaped(value: Value, shape: &Shape) -> Option<Replacement> {
    let (op, inputs) = (find_op("reshape")?, vec![Replacement::Value(value)]);
    Some(Replacement::Apply { op, attrs: smallvec![Attr::sizes(shape)], inputs })
}
