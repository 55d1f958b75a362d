//! What a walk back from a value would come to.

use rustc_hash::FxHashSet;

use crate::Tensor;
use crate::interpreter::Root;
use crate::tape::Edge;

/// Whether a walk from `roots` would come to a leaf that keeps something.
pub fn reaches_kept(roots: &[Root]) -> bool {
    reaches(roots.iter().map(|it| &it.0), |leaf, _| leaf.kept().is_some())
}

/// Whether a walk from `values` would come to a leaf that is one of those asked for. Who continues the walk beyond a leaf says where it goes on.
pub fn reaches<'a>(
    values: impl Iterator<Item = &'a Tensor>,
    mut is_it: impl FnMut(&Edge, &mut Vec<Edge>) -> bool,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut rest: Vec<Edge> = values.filter_map(|it| it.edge().cloned()).collect();
    while let Some(edge) = rest.pop() {
        if !seen.insert(edge.id()) {
            continue;
        }
        match &edge.node.op {
            Some(step) => rest.extend(step.edges.iter().flatten().cloned()),
            None if is_it(&edge, &mut rest) => return true,
            None => {}
        }
    }
    false
}
