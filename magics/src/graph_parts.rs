//! How far the modules and composed ops of a graph are opened in a drawing, and what those are called that stay closed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use engine::Scope;
use engine::graph::{Graph, NodeId, Phase};

use crate::graph_groups::Group;

/// Boxes that one can still look at; a drawing of more keeps modules closed.
const BOXES: usize = 60;

/// The groups with parts closed that are at this depth; without one, parts are opened as far as the drawing stays readable. Gives the
/// depth, if parts are closed.
pub(crate) fn close(
    graph: &Graph,
    groups: Vec<Group>,
    depth: Option<usize>,
) -> (Vec<Group>, Option<usize>) {
    let deepest = graph.nodes().iter().map(|it| it.origin.scope.depth()).max().unwrap_or(0);
    let depth = depth.or_else(|| readable(graph, &groups, deepest));
    match depth.filter(|it| (1..=deepest).contains(it)) {
        Some(depth) => (closed_at(graph, groups, depth), Some(depth)),
        None => (groups, None),
    }
}

/// The greatest depth that leaves few enough boxes; none where all parts can be open.
fn readable(graph: &Graph, groups: &[Group], deepest: usize) -> Option<usize> {
    let is_box = |it: &&Group| it.phase != Phase::Update;
    let n_boxes = |depth: usize| {
        let keys = groups.iter().filter(is_box).map(|it| key(graph, it, depth));
        keys.collect::<HashSet<Key>>().len()
    };
    if groups.iter().filter(is_box).count() <= BOXES {
        return None;
    }
    (1..=deepest).rev().find(|it| n_boxes(*it) <= BOXES).or((deepest > 0).then_some(1))
}

/// What groups that are drawn as one have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Part(Phase, Scope),
    Alone(NodeId),
}

fn key(graph: &Graph, group: &Group, depth: usize) -> Key {
    let scope = &graph.node(group.last()).origin.scope;
    if group.phase == Phase::Update || scope.depth() < depth {
        return Key::Alone(group.last());
    }
    Key::Part(group.phase, scope.up_to(depth))
}

fn closed_at(graph: &Graph, groups: Vec<Group>, depth: usize) -> Vec<Group> {
    let mut parts: HashMap<Key, Group> = HashMap::new();
    for group in groups {
        match parts.entry(key(graph, &group, depth)) {
            Entry::Occupied(mut part) => part.get_mut().nodes.extend(&group.nodes),
            Entry::Vacant(place) => {
                place.insert(group);
            }
        }
    }
    let closed = parts.into_iter().map(|(key, mut group)| {
        group.nodes.sort_unstable();
        if let Key::Part(_, scope) = key {
            group.part = Some(scope);
        }
        (group.last(), group)
    });
    // What comes last stands below.
    closed.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// `layer1.0: BasicBlock`, `gelu`: the names from the outside in, and what the innermost part is.
pub(crate) fn label(scope: &Scope) -> String {
    let (path, kind) = (scope.path(), scope.part().map_or("", |it| it.kind));
    if scope.part().is_none_or(|it| it.name.is_empty()) {
        kind.into()
    } else {
        format!("{path}: {kind}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_called_by_their_way_from_the_outside() {
        let net = Scope::NONE.inside("", "Net");
        let block = net.clone().inside("layer1.0", "Block");
        let conv = block.clone().inside("conv", "Conv2d");
        let gelu = conv.clone().inside("", "gelu");
        let labels = [&net, &block, &conv, &gelu].map(label);
        assert_eq!(labels, ["Net", "layer1.0: Block", "layer1.0.conv: Conv2d", "gelu"]);
        assert_eq!(gelu.path(), "layer1.0.conv");
        assert_eq!(Scope::NONE.path(), "");
    }
}
