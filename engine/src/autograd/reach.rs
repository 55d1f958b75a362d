//! What a walk back from a value would come to.

use rustc_hash::FxHashSet;

use crate::Tensor;
use crate::tape::Edge;

/// Whether a walk from `values` would come to a leaf or a step that is one of those asked for.
pub fn reaches<'a>(
    values: impl IntoIterator<Item = &'a Tensor>,
    is_it: impl Fn(&Edge) -> bool,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut rest: Vec<&Edge> = values.into_iter().filter_map(Tensor::edge).collect();
    while let Some(edge) = rest.pop() {
        if seen.insert(edge.id()) {
            if is_it(edge) {
                return true;
            }
            rest.extend(edge.node.edges().flatten());
        }
    }
    false
}
