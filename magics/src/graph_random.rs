//! The stream of random numbers in a drawing: state that a graph takes in and leaves further on, as it does its variables.

use engine::graph::{Graph, NodeId, Phase};

use crate::artifact::{GraphNode, NodeKind};
use crate::graph_groups::Group;

/// The id of its box.
pub(crate) const ID: &str = "random";

const NAME: &str = "random numbers";

/// The box from which drawing ops draw, in the panel of the first of them; none if there are no such ops.
pub(crate) fn input(
    graph: &Graph,
    groups: &[Group],
    panel: fn(Phase) -> usize,
) -> Option<GraphNode> {
    let phase =
        groups.iter().filter(|it| draws(graph, it).next().is_some()).map(|it| it.phase).min()?;
    Some(node(ID, NodeKind::Input, "the stream, where it stands".into(), panel(phase)))
}

/// The row of what the graph leaves: so many draws further on.
pub(crate) fn row(graph: &Graph, panel: fn(Phase) -> usize) -> Option<GraphNode> {
    let mut names: Vec<&str> = Vec::new();
    let mut n_draws = 0;
    for op in graph.draws().filter_map(|it| graph.node(it).op()) {
        n_draws += 1;
        if !names.contains(&op.name) {
            names.push(op.name);
        }
    }
    let further = format!(
        "{n_draws} draw{} further: {}",
        if n_draws == 1 { "" } else { "s" },
        names.join(", ")
    );
    (n_draws > 0).then(|| node("random next", NodeKind::Fused, further, panel(Phase::Update)))
}

/// The drawing ops of a group.
pub(crate) fn draws(graph: &Graph, group: &Group) -> impl Iterator<Item = NodeId> {
    group.nodes.iter().copied().filter(|it| graph.node(*it).draws())
}

fn node(id: &str, kind: NodeKind, detail: String, panel: usize) -> GraphNode {
    GraphNode { id: id.into(), label: NAME.into(), kind, detail, panel, ..GraphNode::default() }
}
