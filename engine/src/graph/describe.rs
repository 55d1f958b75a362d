//! A graph as plain data for drawing.

use super::{Graph, Kind, Value};
use crate::attr::{AttrBrief, NumberText};

/// What a box in the drawing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxKind {
    Input,
    Constant,
    Op,
    Output,
}

/// One box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeBox {
    /// Number of the node; outputs and stores follow after all nodes.
    pub id: usize,
    pub kind: BoxKind,
    /// `matmul`, `input 0`, `weight`.
    pub title: String,
    /// Attributes and numbers: `dim=[1]`.
    pub detail: String,
    /// Shapes and dtypes of what it gives: `f32[8, 10]`.
    pub gives: Vec<String>,
}

/// An arrow from the box that gives a value to one that takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    /// Shape and dtype on the arrow.
    pub label: String,
}

/// Boxes and arrows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    pub boxes: Vec<NodeBox>,
    pub arrows: Vec<Arrow>,
}

/// Boxes for everything that outputs and effects need; numbers appear in the details of the ops that take them.
pub fn describe(graph: &Graph) -> Drawing {
    let mut drawing = Drawing::default();
    let needed = graph.needed();
    for (id, node) in graph.nodes().iter().enumerate().filter(|it| needed[it.0]) {
        let (kind, title, detail) = match &node.kind {
            Kind::Number(_) => continue,
            Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed => {
                (BoxKind::Input, input_title(graph, id), String::new())
            }
            Kind::Const(_) => (BoxKind::Constant, "constant".to_owned(), String::new()),
            Kind::Op { op, .. } => (BoxKind::Op, op.name.to_owned(), details(graph, id)),
        };
        let gives = node.metas.iter().map(ToString::to_string).collect();
        drawing.boxes.push(NodeBox { id, kind, title, detail, gives });
        for &input in node.inputs() {
            arrow(&mut drawing, graph, input, id);
        }
    }
    for (idx, result) in graph.results().enumerate() {
        let id = graph.nodes().len() + idx;
        let gives = vec![graph.meta(result).to_string()];
        let title = match idx.checked_sub(graph.outputs.len()) {
            None => format!("output {idx}"),
            Some(at) => format!("store {}", input_title(graph, graph.stores[at].variable as usize)),
        };
        let kind = BoxKind::Output;
        drawing.boxes.push(NodeBox { id, kind, title, detail: String::new(), gives });
        arrow(&mut drawing, graph, result, id);
    }
    drawing
}

fn arrow(drawing: &mut Drawing, graph: &Graph, from: Value, to: usize) {
    if !matches!(graph.node(from.node).kind, Kind::Number(_)) {
        let label = graph.meta(from).to_string();
        drawing.arrows.push(Arrow { from: from.node as usize, to, label });
    }
}

fn input_title(graph: &Graph, id: usize) -> String {
    let word = match graph.nodes()[id].kind {
        Kind::Variable { .. } => "variable",
        _ => "input",
    };
    let at = graph.inputs().iter().position(|&it| it as usize == id);
    at.map_or_else(|| word.to_owned(), |at| format!("{word} {at}"))
}

fn details(graph: &Graph, id: usize) -> String {
    let node = &graph.nodes()[id];
    let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return String::new() };
    let numbers = node.inputs().iter().filter_map(|it| match graph.node(it.node).kind {
        Kind::Number(number) => Some(NumberText(number).to_string()),
        _ => None,
    });
    let attrs = op.named_attrs(attrs).map(|it| format!("{}={}", it.0, AttrBrief(it.1)));
    numbers.chain(attrs).collect::<Vec<_>>().join(", ")
}
