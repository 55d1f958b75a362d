//! Which nodes share a launch: elementwise nodes that feed each other over one shape become one lane program, which a kernel whose first
//! output has that shape runs on its parts, or from which a kernel whose first operand it makes takes that in pieces (a prologue).
//!
//! Nodes get a stage. An elementwise node shares the stage of producers of its own shape that are elementwise or run programs on their
//! parts, a kernel that of the elementwise nodes that make its first operand; every other edge leads to a later stage. So two groups never
//! wait for each other. A group has at most one kernel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::graph::{Graph, Node, NodeId, Value};
use crate::op::{Body, InferCx};
use crate::{Device, Meta};

/// Most nodes in one group.
const MOST: usize = 48;

/// Nodes that run as one launch, in graph order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub nodes: Vec<NodeId>,
}

/// The launches of a graph in an order in which every operand is ready. Views and inputs are in no group. Nodes that are `late` may run
/// behind all others, so nothing that cannot shares a launch with them.
pub fn group(graph: &Graph, fuse: bool, late: &[bool]) -> Vec<Group> {
    let mut grouping = Grouping::new(graph, late);
    let needed = graph.needed();
    for (id, &needed) in needed.iter().enumerate() {
        if needed {
            grouping.place(id as NodeId, fuse);
        }
    }
    order(graph, grouping.groups())
}

/// The kernel of a group, and the elementwise nodes that run before it and behind it; without a kernel all are behind.
pub(super) struct Around {
    pub(super) before: Vec<NodeId>,
    pub(super) kernel: Option<NodeId>,
    pub(super) behind: Vec<NodeId>,
}

impl Around {
    /// What depends on the kernel runs behind it, with what only that needs; what makes its operand runs before it, with the others.
    pub(super) fn of(graph: &Graph, nodes: &[NodeId]) -> Self {
        let inputs = |id: NodeId| graph.node(id).inputs();
        let is_elementwise =
            |id: NodeId| graph.node(id).op().is_some_and(|op| op.body.is_elementwise());
        let kernel = nodes.iter().copied().find(|&it| !is_elementwise(it));
        let elementwise = || nodes.iter().copied().filter(|&it| is_elementwise(it));
        let operand = kernel.and_then(|it| inputs(it).first()).map(|it| it.node);
        let Some(operand) = operand.filter(|&it| elementwise().any(|id| id == it)) else {
            return Self { before: Vec::new(), kernel, behind: elementwise().collect() };
        };
        let mut made = vec![operand];
        for &id in nodes.iter().rev().filter(|it| **it < operand) {
            if made.iter().any(|&it| inputs(it).iter().any(|it| it.node == id)) {
                made.push(id);
            }
        }
        let (mut before, mut behind, mut free) = (Vec::new(), Vec::new(), Vec::new());
        for id in elementwise() {
            let reads = |among: &[NodeId]| inputs(id).iter().any(|it| among.contains(&it.node));
            if !made.contains(&id) && (reads(kernel.as_slice()) || reads(&behind)) {
                behind.push(id);
            } else if made.contains(&id) || reads(&before) {
                before.push(id);
            } else {
                free.push(id);
            }
        }
        for &id in free.iter().rev() {
            let serves = behind.iter().any(|&it| inputs(it).iter().any(|it| it.node == id));
            if serves { behind.push(id) } else { before.push(id) }
        }
        before.sort_unstable();
        behind.sort_unstable();
        Self { before, kernel, behind }
    }

    /// The nodes of one launch, or of two where what runs behind the kernel reads what runs before it, which is there as a whole then.
    fn launches(self, graph: &Graph) -> SmallVec<[Vec<NodeId>; 2]> {
        let Self { before, kernel, mut behind } = self;
        let reads =
            |it: &NodeId| graph.node(*it).inputs().iter().any(|it| before.contains(&it.node));
        let apart = behind.iter().any(reads);
        behind.extend(kernel);
        if !apart {
            behind.extend(&before);
        }
        behind.sort_unstable();
        if apart { SmallVec::from_iter([before, behind]) } else { SmallVec::from_iter([behind]) }
    }
}

struct Grouping<'a> {
    graph: &'a Graph,
    users: Vec<SmallVec<[NodeId; 2]>>,
    stage: Vec<u32>,
    /// Union-find over nodes; `usize::MAX` for nodes that launch nothing.
    leader: Vec<usize>,
    /// The nodes of the group of this leader.
    members: Vec<SmallVec<[NodeId; 1]>>,
    /// Whether the group of this leader has a kernel.
    has_kernel: Vec<bool>,
    /// Nodes that may run behind all others; none is where it is empty.
    late: &'a [bool],
    is_result: FxHashSet<Value>,
    /// The last node of effect; effects keep their order.
    last_effect: Option<NodeId>,
}

const NONE: usize = usize::MAX;

impl<'a> Grouping<'a> {
    fn new(graph: &'a Graph, late: &'a [bool]) -> Self {
        let n = graph.nodes().len();
        Self {
            graph,
            users: graph.users(),
            stage: vec![0; n],
            leader: vec![NONE; n],
            members: (0..n).map(|it| SmallVec::from([it as NodeId])).collect(),
            has_kernel: vec![false; n],
            late,
            is_result: graph.results().collect(),
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
        let after = |it: Value| if fuse && self.fuses(it, id) { 0 } else { 1 };
        let mut stage =
            node.inputs().iter().map(|&it| self.stage[it.node as usize] + after(it)).max();
        if node.draws() {
            stage = stage.max(self.last_effect.map(|it| self.stage[it as usize] + 1));
            self.last_effect = Some(id);
        }
        self.stage[id as usize] = stage.unwrap_or(0);
        if fuse && op.body.is_elementwise() {
            self.join(id);
        } else {
            self.has_kernel[id as usize] = true;
            if fuse && takes_prologue(self.graph, node) {
                self.lead(id);
            }
        }
    }

    /// Puts a kernel into the group that makes its operand, if that has no kernel yet.
    fn lead(&mut self, id: NodeId) {
        let inputs = self.graph.node(id).inputs();
        let leader = self.find(inputs[0].node as usize);
        // Its other operands are there before the group begins.
        let waits = inputs[1..].iter().any(|it| self.stage[it.node as usize] >= self.stage[leader]);
        if self.has_kernel[leader] || self.members[leader].len() >= MOST || waits {
            return;
        }
        self.stage[id as usize] = self.stage[leader];
        self.leader[leader] = id as usize;
        let members = std::mem::take(&mut self.members[leader]);
        self.members[id as usize].extend(members);
    }

    /// Whether what makes a value may run in the same launch as a user of it.
    fn fuses(&self, value: Value, user: NodeId) -> bool {
        let (from, to) = (self.graph.node(value.node), self.graph.node(user));
        let elementwise = |op: Option<&crate::OpDef>| op.is_some_and(|op| op.body.is_elementwise());
        (elementwise(from.op()) || finishes(from, self.graph.device))
            && elementwise(to.op())
            && value.output == 0
            && from.metas[0].shape == to.metas[0].shape
            && !to.draws()
            && !self.parts(value, user)
    }

    /// Whether a user may run behind all others, and what it takes may not: somebody else waits for that, or it draws in its turn.
    fn parts(&self, value: Value, user: NodeId) -> bool {
        let is_late = |id: NodeId| self.late.get(id as usize).copied().unwrap_or(false);
        let waits = || self.users[value.node as usize].iter().any(|&it| !is_late(it));
        let draws = || self.graph.node(value.node).draws();
        is_late(user)
            && !is_late(value.node)
            && (self.is_result.contains(&value) || draws() || waits())
    }

    fn join(&mut self, id: NodeId) {
        let stage = self.stage[id as usize];
        let mut leaders: Vec<usize> = Vec::new();
        for &input in self.graph.node(id).inputs() {
            if !self.fuses(input, id) {
                continue;
            }
            let leader = self.find(input.node as usize);
            if self.stage[leader] < stage && self.can_wait(leader, id) {
                self.wait(leader, stage);
            }
            if self.stage[leader] == stage {
                leaders.push(leader);
            }
        }
        leaders.sort_unstable();
        leaders.dedup();
        let total = leaders.iter().map(|&it| self.members[it].len()).sum::<usize>() + 1;
        let n_kernels = leaders.iter().filter(|&&it| self.has_kernel[it]).count();
        if total > MOST || n_kernels > 1 {
            self.stage[id as usize] = stage + 1;
            let fits = |it: usize| self.members[it].len() < MOST && self.can_wait(it, id);
            let late = leaders.iter().rfind(|&&it| self.has_kernel[it] && fits(it));
            leaders = late.copied().into_iter().collect();
            leaders.iter().for_each(|&it| self.wait(it, stage + 1));
        }
        for leader in leaders {
            self.leader[leader] = id as usize;
            self.has_kernel[id as usize] |= self.has_kernel[leader];
            let members = std::mem::take(&mut self.members[leader]);
            self.members[id as usize].extend(members);
        }
    }

    /// Whether nobody outside the group takes what it makes before `id`, nor `id` otherwise than in its launch, and it does not draw, so
    /// that the group may run in a later stage.
    fn can_wait(&self, leader: usize, id: NodeId) -> bool {
        let group = &self.members[leader];
        let waits = |user: &NodeId| *user >= id || group.contains(user);
        let draws = group.iter().any(|&it| self.graph.node(it).draws());
        let mut taken = self.graph.node(id).inputs().iter().filter(|it| group.contains(&it.node));
        !draws
            && group.iter().all(|&it| self.users[it as usize].iter().all(waits))
            && taken.all(|&it| self.fuses(it, id))
    }

    /// Moves a group to a later stage.
    fn wait(&mut self, leader: usize, stage: u32) {
        for &it in &self.members[leader] {
            self.stage[it as usize] = stage;
        }
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
        let launches = by_leader
            .into_iter()
            .filter(|it| !it.is_empty())
            .flat_map(|nodes| Around::of(self.graph, &nodes).launches(self.graph));
        launches.map(|nodes| Group { nodes }).collect()
    }
}

/// Whether a kernel of the node for a device may run a program on the parts of its first output.
fn finishes(node: &Node, device: Device) -> bool {
    let computes = |it: &Meta| device != Device::Cpu || it.dtype.is_arithmetic();
    node.op().is_some_and(|op| op.body.finishes(device)) && node.metas.iter().all(computes)
}

/// Bytes of an operand from which on it pays to make it in pieces. A smaller one is still in the cache when the kernel reads it, and
/// pieces cost more than they spare. In tests all are made so, for small graphs to show it.
const WORTH_PIECES: usize = if cfg!(test) { 1 } else { 2 << 20 };

/// Whether elementwise ops make the first operand of the node, which is large, and a kernel of it takes that in pieces.
fn takes_prologue(graph: &Graph, node: &Node) -> bool {
    let (Some(op), Some(attrs), &[operand, ..]) = (node.op(), node.attrs(), node.inputs()) else {
        return false;
    };
    let maker = graph.node(operand.node);
    if graph.device != Device::Cpu || graph.meta(operand).bytes() < WORTH_PIECES {
        return false;
    }
    if !maker.op().is_some_and(|op| op.body.is_elementwise()) {
        return false;
    }
    let stand_ins: SmallVec<[_; 3]> = node.inputs().iter().map(|&it| graph.stand_in(it)).collect();
    let cx = InferCx { op, inputs: &stand_ins, attrs };
    op.body.takes_pieces(&cx) && !node.draws() && !maker.draws()
}

/// Groups in dependency order; among ready ones the one that ends first in the graph.
fn order(graph: &Graph, groups: Vec<Group>) -> Vec<Group> {
    let mut group_of: Vec<usize> = vec![NONE; graph.nodes().len()];
    for (idx, group) in groups.iter().enumerate() {
        group.nodes.iter().for_each(|&it| group_of[it as usize] = idx);
    }
    let mut waits = vec![0_usize; groups.len()];
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); groups.len()];
    let mut effects: Vec<(NodeId, usize)> = Vec::new();
    for (idx, group) in groups.iter().enumerate() {
        let mut before: Vec<usize> = group
            .nodes
            .iter()
            .flat_map(|&it| graph.node(it).inputs())
            .filter_map(|it| launch_below(graph, &group_of, it.node))
            .filter(|&it| it != idx)
            .collect();
        let draws = group.nodes.iter().filter(|it| graph.node(**it).draws());
        effects.extend(draws.map(|&it| (it, idx)));
        before.sort_unstable();
        before.dedup();
        waits[idx] = before.len();
        before.into_iter().for_each(|it| users[it].push(idx));
    }
    effects.sort_unstable();
    for pair in effects.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        if before != after {
            waits[after] += 1;
            users[before].push(after);
        }
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
