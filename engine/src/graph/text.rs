//! The text form of graphs: a listing that prints and parses, and a compact `(mul %0 1)` for patterns and tests.

use std::fmt::{self, Write};

use super::{Graph, Kind, Node, NodeId, Value};
use crate::attr::{Attr, AttrBrief, AttrText, NumberText};

/// The listing. Constants appear by number, in the order of [`constants`].
impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("graph(")?;
        for (idx, &id) in self.inputs().iter().enumerate() {
            if idx > 0 {
                f.write_str(", ")?;
            }
            input(f, self, id)?;
        }
        f.write_str(") {\n")?;
        let mut n_consts = 0;
        for (id, node) in self.nodes().iter().enumerate() {
            statement(f, self, id, node, &mut n_consts)?;
        }
        for store in &self.stores {
            write!(f, "  store %{} = ", store.variable)?;
            operand(f, self, store.value)?;
            f.write_str("\n")?;
        }
        f.write_str("  return ")?;
        for (idx, &output) in self.outputs.iter().enumerate() {
            f.write_str(if idx > 0 { ", " } else { "" })?;
            operand(f, self, output)?;
        }
        f.write_str("\n}\n")
    }
}

/// The tensors that the listing names `const(0)`, `const(1)` ...
pub fn constants(graph: &Graph) -> Vec<crate::Tensor> {
    let tensor = |node: &Node| match &node.kind {
        Kind::Const(tensor) => Some(tensor.clone()),
        _ => None,
    };
    graph.nodes().iter().filter_map(tensor).collect()
}

fn input(f: &mut fmt::Formatter<'_>, graph: &Graph, id: NodeId) -> fmt::Result {
    let node = graph.node(id);
    match &node.kind {
        Kind::Input { layout } | Kind::Variable { layout } => {
            let is_variable = matches!(node.kind, Kind::Variable { .. });
            let word = if is_variable { "variable " } else { "" };
            write!(f, "%{id}: {word}{}", node.metas[0])?;
            if !layout.is_contiguous() {
                write!(f, " strides {:?}", layout.strides.as_slice())?;
            }
            Ok(())
        }
        _ => write!(f, "%{id}: number {}", node.metas[0].dtype.short()),
    }
}

fn statement(
    f: &mut fmt::Formatter<'_>,
    graph: &Graph,
    id: usize,
    node: &Node,
    n_consts: &mut usize,
) -> fmt::Result {
    match &node.kind {
        Kind::Input { .. } | Kind::Variable { .. } | Kind::Fed | Kind::Number(_) => return Ok(()),
        Kind::Const(_) => {
            write!(f, "  %{id} = const({n_consts})")?;
            *n_consts += 1;
        }
        Kind::Op { op, attrs, inputs } => {
            write!(f, "  %{id} = {}(", op.name)?;
            for (idx, &it) in inputs.iter().enumerate() {
                f.write_str(if idx > 0 { ", " } else { "" })?;
                operand(f, graph, it)?;
            }
            for (idx, (name, attr)) in op.named_attrs(attrs).enumerate() {
                write!(f, "{}{name}=", if idx > 0 { ", " } else { "; " })?;
                attribute(f, attr)?;
            }
            f.write_str(")")?;
        }
    }
    for (idx, meta) in node.metas.iter().enumerate() {
        write!(f, "{}{meta}", if idx > 0 { ", " } else { " : " })?;
    }
    f.write_str("\n")
}

/// An attribute of a listing; the lines of a region stand further in than its op.
fn attribute(f: &mut fmt::Formatter<'_>, attr: &Attr) -> fmt::Result {
    let Attr::Region(region) = attr else { return write!(f, "{}", AttrText(attr)) };
    for (idx, line) in region.text().lines().enumerate() {
        let blanks = if idx > 0 { "\n    " } else { "" };
        write!(f, "{blanks}{line}")?;
    }
    Ok(())
}

fn operand(f: &mut impl Write, graph: &Graph, value: Value) -> fmt::Result {
    let node = graph.node(value.node);
    match &node.kind {
        Kind::Number(number) => write!(f, "{}", NumberText(*number)),
        _ if node.metas.len() > 1 => write!(f, "%{}:{}", value.node, value.output),
        _ => write!(f, "%{}", value.node),
    }
}

/// The compact form of all outputs, separated by spaces.
pub fn compact(graph: &Graph) -> String {
    let all = graph.outputs.iter().map(|&it| compact_value(graph, it, usize::MAX));
    all.collect::<Vec<_>>().join(" ")
}

/// The compact form of one value; operands deeper than `depth` applications are shortened to their names.
pub fn compact_value(graph: &Graph, value: Value, depth: usize) -> String {
    let mut res = String::new();
    // Writing to a string cannot fail.
    let _ = write_compact(&mut res, graph, value, depth);
    res
}

fn write_compact(f: &mut String, graph: &Graph, value: Value, depth: usize) -> fmt::Result {
    let node = graph.node(value.node);
    let Kind::Op { op, attrs, inputs } = &node.kind else {
        return match node.kind {
            Kind::Const(_) => write!(f, "const{}", value.node),
            _ => operand(f, graph, value),
        };
    };
    if depth == 0 {
        return operand(f, graph, value);
    }
    write!(f, "({}", op.name)?;
    for &it in inputs {
        f.push(' ');
        write_compact(f, graph, it, depth.saturating_sub(1))?;
    }
    for (name, attr) in op.named_attrs(attrs) {
        write!(f, " {name}={}", AttrBrief(attr))?;
    }
    f.push(')');
    if node.metas.len() > 1 {
        write!(f, ":{}", value.output)?;
    }
    Ok(())
}
