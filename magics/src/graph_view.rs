//! From recorded graphs to drawings: a box per op or launch, forward, backward and update beside each other, and one row per
//! parameter for the updates.

use std::collections::HashMap;

use engine::graph::{Graph, Kind, NodeId, Phase, Value};
use engine::op::Body;
use engine::{Attr, Number, Scope};

use crate::artifact::{Graph as Drawing, GraphEdge, GraphNode, GraphPanel, NodeKind};
use crate::graph_groups::{self, Group};
use crate::tensor_names::TensorNames;
use crate::traced::Named;
use crate::{graph_parts, graph_random};

/// Most rows of updates; more are counted.
const ROWS: usize = 24;
/// Most names and ops that one line of a row tells.
const WORDS: usize = 6;

/// How closely one looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Every op, as recorded.
    Raw,
    /// After the passes; views of weights and in the backward pass are not drawn.
    Optimized,
    /// What runs as one kernel is one box.
    Plan,
}

/// A drawing of a graph whose inputs and outputs are those of `named`.
pub(crate) fn drawing(
    graph: &Graph,
    title: String,
    named: &Named,
    names: &TensorNames,
    (stage, depth): (Stage, Option<usize>),
) -> Drawing {
    let phases = graph_groups::phases(graph, named);
    let groups = match stage {
        Stage::Plan => graph_groups::launches(graph, &phases),
        Stage::Raw => graph_groups::ops(graph, &phases, |_| false),
        Stage::Optimized => {
            graph_groups::ops(graph, &phases, |it| is_detail(graph, named, &phases, it))
        }
    };
    let (groups, closed) = match stage {
        // What runs as one launch may belong to several parts.
        Stage::Plan => (groups, None),
        Stage::Raw => graph_parts::close(graph, groups, depth.or(Some(0))),
        Stage::Optimized => graph_parts::close(graph, groups, depth),
    };
    let title = match closed {
        Some(depth) => format!("{title} · parts at depth {depth} are one box"),
        None => title,
    };
    let places = (0..).zip(&groups).flat_map(|(at, it)| it.nodes.iter().map(move |id| (*id, at)));
    let group_of = places.collect();
    let lasts = groups.iter().map(Group::last).collect();
    let drawn = Drawing { title, ..Drawing::default() };
    let mut view = View { graph, named, names, groups: &groups, group_of, lasts, drawn };
    view.panels(&groups);
    view.inputs(&groups);
    view.drawn.nodes.extend(graph_random::input(graph, &groups, panel));
    let mut n_rows = 0;
    for (at, group) in groups.iter().enumerate() {
        match group.phase {
            Phase::Update if n_rows >= ROWS => {}
            Phase::Update => {
                view.row(at, group);
                n_rows += 1;
            }
            Phase::Forward | Phase::Backward => view.op(at, group),
        }
    }
    view.rest(groups.iter().filter(|it| it.phase == Phase::Update).skip(ROWS));
    if !view.drawn.panels.is_empty() {
        view.drawn.nodes.extend(graph_random::row(graph, panel));
    }
    view.drawn
}

/// Whether a node only turns what it gets: a view in the backward pass, or of an input, that has no name.
fn is_detail(graph: &Graph, named: &Named, phases: &[Phase], id: NodeId) -> bool {
    let node = graph.node(id);
    let of_op = node.inputs().first().is_some_and(|it| graph.node(it.node).op().is_some());
    let is_view = node.op().is_some_and(|op| matches!(op.body, Body::View(_)));
    let outputs = graph.outputs.iter().zip(&named.outputs);
    let has_name = outputs.filter(|it| it.0.node == id).any(|it| it.1.is_some());
    is_view && (phases[id as usize] == Phase::Backward || (!of_op && !has_name))
}

struct View<'a> {
    graph: &'a Graph,
    named: &'a Named,
    names: &'a TensorNames,
    groups: &'a [Group],
    group_of: HashMap<NodeId, usize>,
    /// The last node of each group, which stands for it.
    lasts: Vec<NodeId>,
    drawn: Drawing,
}

impl View<'_> {
    /// One panel per phase, if there is more than the forward pass.
    fn panels(&mut self, groups: &[Group]) {
        if groups.iter().all(|it| it.phase == Phase::Forward) {
            return;
        }
        let titles =
            [(Phase::Forward, "forward"), (Phase::Backward, "backward"), (Phase::Update, "update")];
        for (phase, name) in titles {
            let of_phase = || groups.iter().filter(|it| it.phase == phase);
            let n_ops: usize = of_phase().map(|it| it.nodes.len()).sum();
            let written = of_phase().flat_map(|it| self.writes(it)).map(|it| it.1);
            let variables = written.filter(|it| !is_state(it)).count();
            let ops = count(n_ops, "op");
            let title = match phase {
                Phase::Update if variables > 0 => {
                    format!("{name} · {} in {ops}", count(variables, "variable"))
                }
                _ => format!("{name} · {ops}"),
            };
            self.drawn.panels.push(GraphPanel { title, list: phase == Phase::Update });
        }
    }

    /// Inputs and constants, each in the phase that uses it first; what only updates use is told in their rows, and a parameter that
    /// only a closed module uses is not drawn.
    fn inputs(&mut self, groups: &[Group]) {
        let users = self.users(groups);
        for (id, node) in (0..).zip(self.graph.nodes()) {
            let users = users.get(&id).map_or(&[][..], Vec::as_slice);
            let Some(phase) = users.iter().map(|it| groups[*it].phase).min() else { continue };
            let label = self.label(id);
            let kind = match node.kind {
                Kind::Variable { .. } => NodeKind::Parameter,
                Kind::Input { .. } if self.named.parameters.contains(&label) => NodeKind::Parameter,
                Kind::Input { .. } => NodeKind::Input,
                Kind::Const(_) => NodeKind::Constant,
                Kind::Fed | Kind::Number(_) | Kind::Op { .. } => continue,
            };
            let part = users.first().and_then(|it| groups[*it].part.as_ref());
            let in_part = |it: &usize| {
                groups[*it].phase == Phase::Update || groups[*it].part.as_ref() == part
            };
            let is_inside =
                kind == NodeKind::Parameter && part.is_some() && users.iter().all(in_part);
            if phase != Phase::Update && !is_inside {
                self.node(id, label, kind, node.metas[0].to_string(), phase);
            }
        }
    }

    /// The groups that use a value from outside, for each that there is.
    fn users(&self, groups: &[Group]) -> HashMap<NodeId, Vec<usize>> {
        let mut users: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (at, group) in groups.iter().enumerate() {
            for value in group.nodes.iter().flat_map(|it| self.graph.node(*it).inputs()) {
                let source = self.source(*value).node;
                let of_source = users.entry(source).or_default();
                if of_source.last() != Some(&at) {
                    of_source.push(at);
                }
            }
        }
        users
    }

    fn op(&mut self, at: usize, group: &Group) {
        let last = group.last();
        let (kind, label, n_ops) = match &group.part {
            Some(scope) => {
                let n_ops = format!("{}, ", count(group.nodes.len(), "op"));
                (NodeKind::Part, graph_parts::label(scope), n_ops)
            }
            None => {
                let labels: Vec<String> = group.nodes.iter().map(|it| self.label(*it)).collect();
                let kind = if labels.len() > 1 { NodeKind::Fused } else { NodeKind::Op };
                (kind, shortened(&labels, " "), String::new())
            }
        };
        let writes = self.writes(group);
        let names: Vec<String> = writes.iter().map(|it| it.1.clone()).collect();
        let (kind, detail) = match writes.first() {
            None => (kind, format!("{n_ops}{}", self.graph.meta(Value::of(last)))),
            Some((value, _)) => {
                let detail = format!("{} {}", shortened(&names, ", "), self.graph.meta(*value));
                (NodeKind::Output, format!("{n_ops}{detail}"))
            }
        };
        self.node(last, label, kind, detail, group.phase);
        // A closed module is called by its own name.
        let is_named = |it: &Scope| it.part().is_some_and(|it| !it.name.is_empty());
        let scope = group.part.as_ref().unwrap_or(&self.graph.node(last).origin.scope);
        if !group.part.as_ref().is_some_and(is_named)
            && let Some(node) = self.drawn.nodes.last_mut()
        {
            node.within = scope.path();
        }
        self.edges(&self.reads(at, group), last);
        if graph_random::draws(self.graph, group).next().is_some() {
            self.edge(graph_random::ID.into(), last);
        }
    }

    /// What the updates of one parameter, or of several that depend on each other, read and do.
    fn row(&mut self, at: usize, group: &Group) {
        let written: Vec<String> = self.writes(group).into_iter().map(|it| it.1).collect();
        let own: Vec<String> = written.iter().filter(|it| !is_state(it)).cloned().collect();
        let own = if own.is_empty() { written } else { own };
        let label = if own.is_empty() { "update".into() } else { shortened(&own, ", ") };
        let reads = self.reads(at, group);
        let known = reads.iter().map(|it| it.1.clone()).filter(|it| !own.contains(it));
        let mut known: Vec<String> = known.collect();
        known.sort_by_key(|it| is_state(it));
        let known: Vec<String> = known.iter().map(|it| own_part(it, &own)).collect();
        let mut detail = ops_of(self.graph, group);
        if !known.is_empty() {
            detail = format!("from {}\n{detail}", shortened(&known, ", "));
        }
        self.node(group.last(), label, NodeKind::Fused, detail, Phase::Update);
        self.edges(&reads, group.last());
    }

    fn rest<'g>(&mut self, groups: impl Iterator<Item = &'g Group>) {
        let sizes: Vec<usize> = groups.map(|it| it.nodes.len()).collect();
        if sizes.is_empty() {
            return;
        }
        let label = format!("... {} more", sizes.len());
        let detail = count(sizes.iter().sum(), "op");
        let node = GraphNode {
            id: "more".into(),
            label,
            kind: NodeKind::Fused,
            detail,
            panel: panel(Phase::Update),
            ..GraphNode::default()
        };
        self.drawn.nodes.push(node);
    }

    fn node(&mut self, id: NodeId, label: String, kind: NodeKind, detail: String, phase: Phase) {
        let of_group = self.group_of.get(&id).map(|at| &self.groups[*at].nodes[..]);
        let inside = of_group.unwrap_or_default().iter().flat_map(|it| regions(self.graph, *it));
        let (inside, id, panel) = (inside.collect(), id_of(id), panel(phase));
        let node = GraphNode { id, label, kind, detail, panel, inside, ..GraphNode::default() };
        self.drawn.nodes.push(node);
    }

    /// Arrows from what is drawn already.
    fn edges(&mut self, sources: &[(NodeId, String)], to: NodeId) {
        sources.iter().for_each(|it| self.edge(id_of(it.0), to));
    }

    fn edge(&mut self, from: String, to: NodeId) {
        let edge = GraphEdge { from, to: id_of(to), label: String::new() };
        let is_drawn = self.drawn.nodes.iter().any(|it| it.id == edge.from);
        if is_drawn && !self.drawn.edges.contains(&edge) {
            self.drawn.edges.push(edge);
        }
    }

    /// The value that stands for this one in the drawing: views that are in no group are what they look at.
    fn source(&self, mut value: Value) -> Value {
        while !self.group_of.contains_key(&value.node)
            && let Some(input) = self.graph.node(value.node).inputs().first()
        {
            value = *input;
        }
        value
    }

    /// The drawn nodes that a group reads, and what they are called, once each.
    fn reads(&self, at: usize, group: &Group) -> Vec<(NodeId, String)> {
        let mut reads: Vec<(NodeId, String)> = Vec::new();
        for &value in group.nodes.iter().flat_map(|it| self.graph.node(*it).inputs()) {
            let source = self.source(value);
            let is_number =
                matches!(self.graph.node(source.node).kind, Kind::Number(_) | Kind::Fed);
            let place = self.group_of.get(&source.node);
            if is_number || place == Some(&at) {
                continue;
            }
            let drawn = place.map_or(source.node, |it| self.lasts[*it]);
            let name = self.name(value).or_else(|| self.name(source));
            let name = name.unwrap_or_else(|| match self.graph.node(source.node).origin.phase {
                Phase::Backward => "its gradient".into(),
                Phase::Forward | Phase::Update => self.label(source.node),
            });
            if !reads.iter().any(|it| it.0 == drawn && it.1 == name) {
                reads.push((drawn, name));
            }
        }
        reads
    }

    /// The outputs of the graph that a group makes, with their names.
    fn writes(&self, group: &Group) -> Vec<(Value, String)> {
        let outputs = self.graph.outputs.iter().zip(&self.named.outputs);
        let made = outputs.filter(|it| group.nodes.contains(&self.source(*it.0).node));
        made.filter_map(|(value, name)| Some((*value, name.clone()?))).collect()
    }

    /// What an input, an output or a constant of the graph is called.
    fn name(&self, value: Value) -> Option<String> {
        if let Kind::Const(tensor) = &self.graph.node(value.node).kind {
            return self.names.of_tensor(tensor).map(str::to_string);
        }
        if let Some(at) = self.graph.inputs().iter().position(|it| *it == value.node) {
            return self.named.inputs[at].clone();
        }
        let at = self.graph.outputs.iter().position(|it| *it == value)?;
        self.named.outputs[at].clone()
    }

    /// `relu`, or `mul(·, 0.9)` where numbers are among the operands; the name of what is no op.
    fn label(&self, id: NodeId) -> String {
        let node = self.graph.node(id);
        let Some(op) = node.op() else {
            return self.name(Value::of(id)).unwrap_or_else(|| "constant".into());
        };
        let operand = |it: &Value| match self.graph.node(it.node).kind {
            Kind::Number(number) => number_text(number),
            Kind::Fed => "number".into(),
            _ => "·".to_string(),
        };
        let operands: Vec<String> = node.inputs().iter().map(operand).collect();
        // Gradients of elementwise ops are named after these: `relu.grad0`.
        let name = match op.name.split_once(".grad") {
            Some((of, _)) => format!("{of} backward"),
            None => op.name.to_string(),
        };
        if operands.iter().all(|it| it == "·") {
            return name;
        }
        format!("{name}({})", operands.join(", "))
    }
}

/// The graphs that a node runs, each behind what it is for: `then: graph(%0: f32[3]) {` and so on.
fn regions(graph: &Graph, id: NodeId) -> Vec<String> {
    let node = graph.node(id);
    let (Some(op), Some(attrs)) = (node.op(), node.attrs()) else { return Vec::new() };
    let named = op.attr_params().zip(attrs).filter_map(|(param, attr)| match attr {
        Attr::Region(it) => Some(format!("{}: {}", param.name, it.text().trim_end())),
        _ => None,
    });
    named.flat_map(|it| it.lines().map(String::from).collect::<Vec<_>>()).collect()
}

/// `12 ops: mul, add, sqrt`.
fn ops_of(graph: &Graph, group: &Group) -> String {
    let mut names: Vec<String> = Vec::new();
    for op in group.nodes.iter().filter_map(|it| graph.node(*it).op()) {
        if !matches!(op.body, Body::View(_)) && !names.iter().any(|it| it == op.name) {
            names.push(op.name.into());
        }
    }
    format!("{}: {}", count(group.nodes.len(), "op"), shortened(&names, ", "))
}

/// `exp_avg` of `net.0.weight: exp_avg`, in the row of `net.0.weight`.
fn own_part(name: &str, own: &[String]) -> String {
    let part = own.iter().find_map(|it| name.strip_prefix(it.as_str())?.strip_prefix(": "));
    part.unwrap_or(name).into()
}

/// Whether a name is that of what an optimiser keeps for a parameter.
fn is_state(name: &str) -> bool {
    name.contains(": ")
}

fn shortened(words: &[String], between: &str) -> String {
    if words.len() <= WORDS {
        return words.join(between);
    }
    let shown = words[..WORDS - 1].join(between);
    format!("{shown} and {} more", words.len() + 1 - WORDS)
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn panel(phase: Phase) -> usize {
    match phase {
        Phase::Forward => 0,
        Phase::Backward => 1,
        Phase::Update => 2,
    }
}

fn id_of(id: NodeId) -> String {
    format!("%{id}")
}

fn number_text(number: Number) -> String {
    match number {
        Number::Bool(it) => if it { "True" } else { "False" }.into(),
        Number::Int(it) => it.to_string(),
        Number::Float(it) => float_text(it),
        Number::Complex(..) => number.to_string(),
    }
}

/// Five digits of a number: `0.001`, `1e-8`.
fn float_text(number: f64) -> String {
    let rounded: f64 = format!("{number:.4e}").parse().unwrap_or(number);
    if rounded != 0.0 && !(1e-4..1e6).contains(&rounded.abs()) {
        return format!("{rounded:e}");
    }
    format!("{rounded}")
}
