//! Which nodes share a kernel: elementwise nodes that feed each other over one shape become one lane program.
//!
//! Nodes get a stage. An elementwise node shares the stage of elementwise producers of its own shape; every other edge
//! leads to a later stage. So two groups never wait for each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Graph, NodeId};
use crate::op::Body;

/// Most nodes in one group.
const MOST: usize = 48;

/// Nodes that run as one launch, in graph order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub nodes: Vec<NodeId>,
}

/// The launches of a graph in an order in which every operand is ready. Views and inputs are in no group.
pub fn group(graph: &Graph, fuse: bool) -> Vec<Group> {
    let mut grouping = Grouping::new(graph);
    let needed = graph.needed();
    for (id, &needed) in needed.iter().enumerate() {
        if needed {
            grouping.place(id as NodeId, fuse);
        }
    }
    order(graph, grouping.groups())
}

struct Grouping<'a> {
    graph: &'a Graph,
    stage: Vec<u32>,
    /// Union-find over nodes; `usize::MAX` for nodes that launch nothing.
    leader: Vec<usize>,
    size: Vec<usize>,
    /// The last node of effect; effects keep their order.
    last_effect: Option<NodeId>,
}

const NONE: usize = usize::MAX;

impl<'a> Grouping<'a> {
    fn new(graph: &'a Graph) -> Self {
        let n = graph.nodes().len();
        Self {
            graph,
            stage: vec![0; n],
            leader: vec![NONE; n],
            size: vec![1; n],
            last_effect: None,
        }
    }

    fn place(&mut self, id: NodeId, fuse: bool) {
        let node = self.graph.node(id);
        let Some(op) = node.op() else { return };
        let inputs = node.inputs().iter().map(|it| it.node);
        if matches!(op.body, Body::View(_)) {
            self.stage[id as usize] = inputs.map(|it| self.stage[it as usize]).max().unwrap_or(0);
            return;
        }
        self.leader[id as usize] = id as usize;
        let after = |it: NodeId| if fuse && self.fuses(it, id) { 0 } else { 1 };
        let mut stage =
            node.inputs().iter().map(|it| self.stage[it.node as usize] + after(it.node)).max();
        if node.is_effect() {
            stage = stage.max(self.last_effect.map(|it| self.stage[it as usize] + 1));
            self.last_effect = Some(id);
        }
        self.stage[id as usize] = stage.unwrap_or(0);
        if fuse && op.body.is_elementwise() {
            self.join(id);
        }
    }

    /// Whether a producer may run in the same program as its user.
    fn fuses(&self, producer: NodeId, user: NodeId) -> bool {
        let (from, to) = (self.graph.node(producer), self.graph.node(user));
        let elementwise = |op: Option<&crate::OpDef>| op.is_some_and(|op| op.body.is_elementwise());
        elementwise(from.op())
            && elementwise(to.op())
            && from.metas[0].shape == to.metas[0].shape
            && !from.is_effect()
            && !to.is_effect()
    }

    fn join(&mut self, id: NodeId) {
        let stage = self.stage[id as usize];
        let mut leaders: Vec<usize> = Vec::new();
        for input in self.graph.node(id).inputs() {
            if self.fuses(input.node, id) && self.stage[input.node as usize] == stage {
                leaders.push(self.find(input.node as usize));
            }
        }
        leaders.sort_unstable();
        leaders.dedup();
        let total = leaders.iter().map(|&it| self.size[it]).sum::<usize>() + 1;
        if total > MOST {
            self.stage[id as usize] = stage + 1;
            return;
        }
        for leader in leaders {
            self.leader[leader] = id as usize;
        }
        self.size[id as usize] = total;
    }

    fn find(&mut self, mut id: usize) -> usize {
        while self.leader[id] != id {
            self.leader[id] = self.leader[self.leader[id]];
            id = self.leader[id];
        }
        id
    }

    fn groups(mut self) -> Vec<Group> {
        let mut by_leader: Vec<Vec<NodeId>> = vec![Vec::new(); self.leader.len()];
        for id in 0..self.leader.len() {
            if self.leader[id] != NONE {
                let leader = self.find(id);
                by_leader[leader].push(id as NodeId);
            }
        }
        by_leader.into_iter().filter(|it| !it.is_empty()).map(|nodes| Group { nodes }).collect()
    }
}

/// Groups in dependency order; among ready ones the one that ends first in the graph.
fn order(graph: &Graph, groups: Vec<Group>) -> Vec<Group> {
    let mut group_of: Vec<usize> = vec![NONE; graph.nodes().len()];
    for (idx, group) in groups.iter().enumerate() {
        group.nodes.iter().for_each(|&it| group_of[it as usize] = idx);
    }
    let mut waits = vec![0_usize; groups.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    let mut last_effect = None;
    for (idx, group) in groups.iter().enumerate() {
        let mut before: Vec<usize> = group
            .nodes
            .iter()
            .flat_map(|&it| graph.node(it).inputs())
            .filter_map(|it| launch_below(graph, &group_of, it.node))
            .filter(|&it| it != idx)
            .collect();
        if group.nodes.iter().any(|&it| graph.node(it).is_effect()) {
            before.extend(last_effect.replace(idx));
        }
        before.sort_unstable();
        before.dedup();
        waits[idx] = before.len();
        before.into_iter().for_each(|it| users[it].push(idx));
    }
    let key = |idx: usize| Reverse((groups[idx].nodes.last().copied(), idx));
    let mut ready: BinaryHeap<_> =
        (0..groups.len()).filter(|&it| waits[it] == 0).map(key).collect();
    let mut sorted = Vec::with_capacity(groups.len());
    while let Some(Reverse((_, idx))) = ready.pop() {
        sorted.push(idx);
        for &user in &users[idx] {
            waits[user] -= 1;
            if waits[user] == 0 {
                ready.push(key(user));
            }
        }
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    sorted.into_iter().filter_map(|idx| groups[idx].take()).collect()
}

/// The group that computes a value, below any views.
fn launch_below(graph: &Graph, group_of: &[usize], mut id: NodeId) -> Option<usize> {
    loop {
        if group_of[id as usize] != NONE {
            return Some(group_of[id as usize]);
        }
        id = graph.node(id).inputs().first()?.node;
    }
}
