//! `drop-views`: removes chains of views that put every element back where it was, and merges reshapes.
//!
//! Views that stay cost nothing where kernels take strides; the plan copies only where they do not.

use crate::graph::{Graph, Kind, NodeId, Value};
use crate::op::Body;
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Layout, Meta};

pub static PASS: Pass = Pass {
    name: "drop-views",
    doc: "Removes chains of views that change nothing, and merges reshapes.",
    level: 2,
    rules: &[Rule::code("undo", undo), Rule::code("merge-reshapes", merge_reshapes)],
};

/// The value below a chain of views that leaves all elements where they are.
fn undo(graph: &Graph, node: NodeId) -> Option<Replacement> {
    let mut chain = vec![node];
    let mut at = input_of_view(graph, node)?;
    loop {
        if same_place(graph, &chain, at) {
            return Some(Replacement::Value(at));
        }
        chain.push(at.node);
        at = input_of_view(graph, at.node)?;
    }
}

fn same_place(graph: &Graph, chain: &[NodeId], from: Value) -> bool {
    let meta: &Meta = graph.meta(from);
    let start = Layout::contiguous(meta.shape.clone());
    let mut layout = start.clone();
    for &id in chain.iter().rev() {
        let node = graph.node(id);
        let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return false };
        let Body::View(view) = op.body else { return false };
        let Some(next) = view(&layout, attrs, &node.metas[0].shape) else { return false };
        layout = next;
    }
    layout.shape == start.shape && layout.offset == 0 && layout.is_contiguous()
}

/// The operand of a view whose result keeps the dtype.
fn input_of_view(graph: &Graph, node: NodeId) -> Option<Value> {
    let Kind::Op { op, inputs, .. } = &graph.node(node).kind else { return None };
    let Body::View(_) = op.body else { return None };
    let keeps = |it: &Value| graph.meta(*it).dtype == graph.node(node).metas[0].dtype;
    // A number is weaker in promotion than a view of it.
    let is_weak = |it: &Value| matches!(graph.node(it.node).kind, Kind::Number(_) | Kind::Fed);
    inputs.first().copied().filter(|it| keeps(it) && !is_weak(it))
}

/// `(reshape (reshape ?x))` becomes the outer reshape of `?x`, for ops that only look at the order of elements.
fn merge_reshapes(graph: &Graph, node: NodeId) -> Option<Replacement> {
    let Kind::Op { op, attrs, inputs } = &graph.node(node).kind else { return None };
    let Kind::Op { op: below, inputs: operands, .. } = &graph.node(inputs.first()?.node).kind
    else {
        return None;
    };
    if !keeps_order(op.name) || !keeps_order(below.name) || inputs.len() != 1 {
        return None;
    }
    let inputs = vec![Replacement::Value(*operands.first()?)];
    Some(Replacement::Apply { op, attrs: attrs.clone(), inputs })
}

/// Ops whose attributes alone say the new shape, of the same elements in the same order.
fn keeps_order(name: &str) -> bool {
    matches!(name, "reshape" | "t_reshape")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::tests::check;

    #[test]
    fn removes_what_is_undone() {
        check(&PASS, "(t_t (t_t (t_neg %2)))", "(t_neg %2)");
        check(&PASS, "(t_reshape (t_reshape %2 shape=[6]) shape=[2, 3])", "%2");
        check(&PASS, "(t_t (t_t (t_t %2)))", "(t_t %2)");
    }

    #[test]
    fn merges_reshapes() {
        let (from, to) =
            ("(t_reshape (t_reshape %2 shape=[6]) shape=[3, 2])", "(t_reshape %2 shape=[3, 2])");
        check(&PASS, from, to);
    }

    #[test]
    fn keeps_what_moves_elements() {
        check(&PASS, "(t_t %2)", "(t_t %2)");
        check(&PASS, "(t_reshape (t_t %2) shape=[2, 3])", "(t_reshape (t_t %2) shape=[2, 3])");
    }
}
