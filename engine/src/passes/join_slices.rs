//! `join-slices`: the sum of gradients of slices that make up the whole is these gradients side by side.
//!
//! Each of them is zero outside of its slice, so each sum has one term that counts, and zeros. What is left of those is that -0 becomes 0.

use smallvec::{SmallVec, smallvec};

use crate::graph::parse::find_op;
use crate::graph::{Graph, NodeId, Value};
use crate::ops::shape::span_of;
use crate::rewrite::{Pass, Replacement, Rule};
use crate::{Attr, Attrs, Number, OpDef, attr};

pub static PASS: Pass = Pass {
    name: "join-slices",
    doc: "Puts the gradients of slices that make up a whole side by side, where they were padded and added.",
    level: 2,
    rules: &[Rule::code("side-by-side", side_by_side)],
};

/// The gradient of a slice.
struct Part {
    dim: usize,
    start: usize,
    len: usize,
    value: Value,
}

fn side_by_side(graph: &Graph, node: NodeId) -> Option<Replacement> {
    let add = graph.node(node).op().filter(|it| it.name == "add")?;
    let meta = &graph.node(node).metas[0];
    let is_real = meta.dtype.is_arithmetic() && !meta.dtype.is_complex();
    let mut parts = if is_real { gather(graph, node)? } else { return None };
    let dim = parts.first()?.dim;
    parts.sort_by_key(|it| it.start);
    let mut end = 0;
    for part in &parts {
        if part.dim != dim || part.start != end || graph.meta(part.value).dtype != meta.dtype {
            return None;
        }
        end += part.len;
    }
    (end == meta.shape[dim]).then_some(())?;
    let inputs = parts.iter().map(|it| Replacement::Value(it.value)).collect();
    let attrs = smallvec![Attr::Int(dim as i64)];
    let joined = Replacement::Apply { op: find_op("cat")?, attrs, inputs };
    Some(if meta.dtype.is_float() { plus_zero(add, joined) } else { joined })
}

/// The gradients of slices that a sum is of; `None` if it is another one, or has more terms than there can be parts.
fn gather(graph: &Graph, sum: NodeId) -> Option<SmallVec<[Part; 4]>> {
    let most = graph.node(sum).metas[0].shape.iter().copied().max()?;
    let (mut parts, mut waiting) = (SmallVec::new(), vec![sum]);
    while let Some(id) = waiting.pop() {
        let node = graph.node(id);
        match (node.op()?.name, node.inputs()) {
            // What was added last comes first: in a long sum of other things that ends the search.
            ("add", &[a, b]) => waiting.extend([a.node, b.node]),
            ("slice_backward", _) => parts.push(part(graph, id)?),
            _ => return None,
        }
        (parts.len() <= most).then_some(())?;
    }
    Some(parts)
}

/// The gradient of a slice of elements side by side.
fn part(graph: &Graph, id: NodeId) -> Option<Part> {
    let node = graph.node(id);
    let (op, attrs, shape) = (node.op()?, node.attrs()?, &node.metas[0].shape);
    let dim = usize::try_from(attr::int(attrs, 0).rem_euclid(shape.rank() as i64)).ok()?;
    let span = span_of(op.name, shape[dim], &attrs[1], &attrs[2], attr::int(attrs, 3)).ok()?;
    let part = Part { dim, start: span.start, len: span.len, value: node.inputs()[0] };
    (span.step == 1 && span.len > 0).then_some(part)
}

fn plus_zero(add: &'static OpDef, of: Replacement) -> Replacement {
    let zero = Replacement::Number(Number::Float(0.0));
    Replacement::Apply { op: add, attrs: Attrs::new(), inputs: vec![of, zero] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::tests::check;

    const LEFT: &str =
        "(slice_backward (slice %0 dim=1 start=0 stop=1) dim=1 start=0 stop=1 step=1 shape=[2, 3])";
    const RIGHT: &str =
        "(slice_backward (slice %2 dim=1 start=1 stop=3) dim=1 start=1 stop=3 step=1 shape=[2, 3])";

    #[test]
    fn joins_what_makes_up_the_whole() {
        let joined =
            "(add (cat (slice %0 dim=1 start=0 stop=1) (slice %2 dim=1 start=1 stop=3) dim=1) 0.0)";
        check(&PASS, &format!("(add {LEFT} {RIGHT})"), joined);
        check(&PASS, &format!("(add {RIGHT} {LEFT})"), joined);
    }

    #[test]
    fn keeps_what_overlaps_or_leaves_gaps() {
        for sum in [format!("(add {LEFT} {LEFT})"), format!("(add {RIGHT} %0)")] {
            check(&PASS, &sum, &sum);
        }
    }
}
