//! Which nodes of a graph are drawn as one, and in which part of a training step.

use std::collections::BTreeMap;

use engine::Scope;
use engine::graph::{Graph, NodeId, Phase};
use engine::lower::group::group;

use crate::traced::Named;

/// Nodes that are drawn as one.
pub(crate) struct Group {
    /// In the order of the graph.
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) phase: Phase,
    /// The closed module or composed op that they are, if so.
    pub(crate) part: Option<Scope>,
}

impl Group {
    fn of(phases: &[Phase], nodes: Vec<NodeId>) -> Self {
        let phase = nodes.iter().map(|it| phases[*it as usize]).max().unwrap_or_default();
        Self { nodes, phase, part: None }
    }

    /// The node that stands for the group.
    pub(crate) fn last(&self) -> NodeId {
        self.nodes[self.nodes.len() - 1]
    }
}

/// The phase of each node. What the forward pass computes for the next value of a variable alone, such as a running mean, is an
/// update.
pub(crate) fn phases(graph: &Graph, named: &Named) -> Vec<Phase> {
    let mut phases: Vec<Phase> = graph.nodes().iter().map(|it| it.origin.phase).collect();
    let mut updates = vec![false; phases.len()];
    let mut else_used = vec![false; phases.len()];
    for (value, name) in graph.outputs.iter().zip(&named.outputs) {
        let Some(name) = name else { continue };
        let used = if named.parameters.contains(name) { &mut updates } else { &mut else_used };
        used[value.node as usize] = true;
    }
    for (id, node) in graph.nodes().iter().enumerate().rev() {
        if node.origin.phase != Phase::Forward {
            else_used[id] = true;
        }
        for input in node.inputs() {
            updates[input.node as usize] |= updates[id];
            else_used[input.node as usize] |= else_used[id];
        }
        if node.op().is_some() && updates[id] && !else_used[id] {
            phases[id] = Phase::Update;
        }
    }
    phases
}

/// What runs as one kernel, in order; views run nothing.
pub(crate) fn launches(graph: &Graph, phases: &[Phase]) -> Vec<Group> {
    group(graph, true, &[]).into_iter().map(|it| Group::of(phases, it.nodes)).collect()
}

/// Every op on its own, but for updates: what is connected there is one. Ops that are `hidden` are in no group.
pub(crate) fn ops(graph: &Graph, phases: &[Phase], hidden: impl Fn(NodeId) -> bool) -> Vec<Group> {
    let is_update =
        |id: NodeId| graph.node(id).op().is_some() && phases[id as usize] == Phase::Update;
    let mut leader: Vec<NodeId> = (0..graph.nodes().len() as NodeId).collect();
    for (id, node) in (0..).zip(graph.nodes()) {
        for input in node.inputs().iter().filter(|it| is_update(id) && is_update(it.node)) {
            let (a, b) = (find(&leader, input.node), find(&leader, id));
            leader[a as usize] = a.max(b);
            leader[b as usize] = a.max(b);
        }
    }
    let mut groups: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in (0..).zip(graph.nodes()) {
        if node.op().is_some() && !hidden(id) {
            groups.entry(find(&leader, id)).or_default().push(id);
        }
    }
    groups.into_values().map(|it| Group::of(phases, it)).collect()
}

fn find(leader: &[NodeId], mut id: NodeId) -> NodeId {
    while leader[id as usize] != id {
        id = leader[id as usize];
    }
    id
}
