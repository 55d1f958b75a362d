//! `join-slices`: the sum of gradients of slices that make up the whole is these gradients side by side.
//!
//! Each of them is zero outside of its slice, so each sum has one term that counts, and zeros. What is left of those is that -0 becomes 0 where
//! something is added: by `add` everywhere, by `slice_add` in its slice.

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
    /// Whether it is added to what is there, be it zero.
    is_added: bool,
}

fn side_by_side(graph: &Graph, node: NodeId) -> Option<Replacement> {
    graph.node(node).op().filter(|it| matches!(it.name, "add" | "slice_add"))?;
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
    let (add, is_float) = (find_op("add")?, meta.dtype.is_float());
    let are_all_added = parts.iter().all(|it| it.is_added);
    let side = |it: &Part| {
        let value = Replacement::Value(it.value);
        if is_float && it.is_added && !are_all_added { plus_zero(add, value) } else { value }
    };
    let inputs = parts.iter().map(side).collect();
    let attrs = smallvec![Attr::Int(dim as i64)];
    let joined = Replacement::Apply { op: find_op("cat")?, attrs, inputs };
    Some(if is_float && are_all_added { plus_zero(add, joined) } else { joined })
}

/// The gradients of slices that a sum is of; `None` if it is another one, or has more terms than there can be parts.
fn gather(graph: &Graph, sum: NodeId) -> Option<SmallVec<[Part; 4]>> {
    let most = graph.node(sum).metas[0].shape.iter().copied().max()?;
    let (mut parts, mut waiting) = (SmallVec::new(), vec![(sum, false)]);
    while let Some((id, is_added)) = waiting.pop() {
        let node = graph.node(id);
        match (node.op()?.name, node.inputs()) {
            // What was added last comes first: in a long sum of other things that ends the search.
            ("add", &[a, b]) => waiting.extend([(a.node, true), (b.node, true)]),
            ("slice_add", &[rest, value]) => {
                parts.push(part(graph, id, (value, true))?);
                waiting.push((rest.node, is_added));
            }
            ("slice_backward", &[value]) => parts.push(part(graph, id, (value, is_added))?),
            _ => return None,
        }
        (parts.len() <= most).then_some(())?;
    }
    Some(parts)
}

/// The gradient of a slice of elements side by side, which is a value that may be added to what is there.
fn part(graph: &Graph, id: NodeId, (value, is_added): (Value, bool)) -> Option<Part> {
    let node = graph.node(id);
    let (op, attrs, shape) = (node.op()?, node.attrs()?, &node.metas[0].shape);
    let dim = usize::try_from(attr::int(attrs, 0).rem_euclid(shape.rank() as i64)).ok()?;
    let span = span_of(op.name, shape[dim], &attrs[1], &attrs[2], attr::int(attrs, 3)).ok()?;
    let part = Part { dim, start: span.start, len: span.len, value, is_added };
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
    fn joins_what_is_added_slice_by_slice() {
        let added = format!(
            "(slice_add {LEFT} (slice %2 dim=1 start=1 stop=3) dim=1 start=1 stop=3 step=1)"
        );
        let joined =
            "(cat (slice %0 dim=1 start=0 stop=1) (add (slice %2 dim=1 start=1 stop=3) 0.0) dim=1)";
        check(&PASS, &added, joined);
        let twice = format!(
            "(slice_add {added} (slice %2 dim=1 start=1 stop=3) dim=1 start=1 stop=3 step=1)"
        );
        let once_more =
            format!("(slice_add {joined} (slice %2 dim=1 start=1 stop=3) dim=1 start=1 stop=3)");
        check(&PASS, &twice, &once_more);
    }

    #[test]
    fn keeps_what_overlaps_or_leaves_gaps() {
        for sum in [format!("(add {LEFT} {LEFT})"), format!("(add {RIGHT} %0)")] {
            check(&PASS, &sum, &sum);
        }
    }
}
