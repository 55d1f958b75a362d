//! From graphs of the engine to drawings.

use engine::graph::{Graph, Kind};
use engine::{Meta, Number};

use crate::artifact::{Graph as Drawing, GraphEdge, GraphNode, NodeKind};

/// A drawing of a graph. Inputs from `n_args` on are captured tensors, such as weights.
pub fn drawing(graph: &Graph, title: String, n_args: usize) -> Drawing {
    let mut res = Drawing { title, ..Drawing::default() };
    for (at, node) in graph.nodes().iter().enumerate() {
        let position = graph.inputs().iter().position(|&it| it as usize == at);
        let (label, kind) = match &node.kind {
            Kind::Input { .. } => input(position.unwrap_or_default(), n_args),
            Kind::Fed => ("number".into(), NodeKind::Input),
            Kind::Const(_) => ("constant".into(), NodeKind::Constant),
            Kind::Number(number) => (number_text(*number), NodeKind::Constant),
            Kind::Op { op, .. } => (op.name.into(), NodeKind::Op),
        };
        let detail = node.metas.iter().map(Meta::to_string).collect::<Vec<_>>().join(", ");
        res.nodes.push(GraphNode { id: format!("%{at}"), label, kind, detail });
        for value in node.inputs() {
            res.edges.push(edge(format!("%{}", value.node), format!("%{at}")));
        }
    }
    for (at, value) in graph.outputs.iter().enumerate() {
        let id = format!("output {at}");
        let detail = graph.meta(*value).to_string();
        res.nodes.push(GraphNode {
            id: id.clone(),
            label: id.clone(),
            kind: NodeKind::Output,
            detail,
        });
        res.edges.push(edge(format!("%{}", value.node), id));
    }
    res
}

fn input(at: usize, n_args: usize) -> (String, NodeKind) {
    if at < n_args {
        (format!("input {at}"), NodeKind::Input)
    } else {
        (format!("captured {}", at - n_args), NodeKind::Parameter)
    }
}

fn number_text(number: Number) -> String {
    match number {
        Number::Bool(it) => if it { "True" } else { "False" }.into(),
        Number::Int(it) => it.to_string(),
        Number::Float(it) => format!("{it}"),
    }
}

fn edge(from: String, to: String) -> GraphEdge {
    GraphEdge { from, to, label: String::new() }
}
