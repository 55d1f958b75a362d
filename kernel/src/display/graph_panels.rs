//! Parts of a graph beside each other: forward, backward and update of a training step. What a part reads from another one stands
//! there again, with a dashed border, so that no arrow crosses from part to part.

use std::collections::{HashMap, HashSet};

use magics::Artifact;
use magics::artifact::{Graph, GraphEdge, GraphNode, GraphPanel, NodeKind};

use super::graph::{Arrows, BOX, GREY, LETTER, MOST, box_width, colors, cut_to, draw_boxes, write};
use super::graph_layout::{Boxes, Layout, layout};
use super::html::{Html, num};

/// The most letters in one line of a row.
const LETTERS: usize = 58;
/// From line to line, and from row to row.
const LINE: f64 = 14.0;
const ROW_GAP: f64 = 8.0;
/// Room for the title of a part.
const TITLE: f64 = 26.0;
/// Between parts.
const GAP: f64 = 40.0;
/// How wide parts may be together; the next one stands below.
const WIDE: f64 = 900.0;

/// Something that is drawn on its own.
pub(super) struct Part<'a> {
    title: String,
    boxes: Vec<GraphNode>,
    /// Which boxes stand in another part.
    far: Vec<bool>,
    edges: Vec<(usize, usize)>,
    labels: Vec<&'a str>,
    shape: Shape,
}

enum Shape {
    Boxes {
        made: Layout,
        widths: Vec<f64>,
    },
    /// Rows of this width, in so many columns.
    List {
        width: f64,
        columns: usize,
    },
}

/// The parts of a graph that are not empty; a graph without panels is one part.
pub(super) fn parts(graph: &Graph) -> Vec<Part<'_>> {
    let parts = titles(graph).map(|(at, title)| part(graph, at, title.unwrap_or_default()));
    parts.filter(|it| !it.boxes.is_empty()).collect()
}

/// Where the parts stand: beside each other while there is room, lists below.
pub(super) fn places(parts: &[Part<'_>]) -> Vec<(f64, f64)> {
    let (mut x, mut y, mut high) = (0.0, 0.0, 0.0_f64);
    let place = |part: &Part<'_>| {
        let is_list = matches!(part.shape, Shape::List { .. });
        if x > 0.0 && (is_list || x + part.width() > WIDE) {
            (x, y, high) = (0.0, y + high + GAP, 0.0);
        }
        let place = (x, y);
        x += part.width() + GAP;
        high = high.max(part.height());
        place
    };
    parts.iter().map(place).collect()
}

/// The numbers of the panels with their titles; one without a title for a graph that has none.
pub(super) fn titles(graph: &Graph) -> impl Iterator<Item = (usize, Option<&str>)> {
    let count = graph.panels.len().max(1);
    (0..count).map(|at| (at, graph.panels.get(at).map(|it| it.title.as_str())))
}

/// The nodes of one panel; all nodes of a graph without panels.
pub(super) fn nodes_of(graph: &Graph, panel: usize) -> impl Iterator<Item = &GraphNode> {
    let whole = graph.panels.is_empty();
    graph.nodes.iter().filter(move |it| whole || it.panel == panel)
}

fn part<'a>(graph: &'a Graph, panel: usize, title: &str) -> Part<'a> {
    let all = nodes_of(graph, panel).count();
    let note = if all > MOST { format!("first {MOST} of {all} nodes") } else { String::new() };
    let words: Vec<&str> = [title, &note].into_iter().filter(|it| !it.is_empty()).collect();
    let own: Vec<GraphNode> = nodes_of(graph, panel).take(MOST).cloned().collect();
    let list = graph.panels.get(panel).is_some_and(|it| it.list);
    let (boxes, far) = if list { (own, Vec::new()) } else { with_far(graph, own) };
    let (edges, labels) = known_edges(graph, &boxes, &far);
    let shape = if list { list_of(&boxes) } else { placed(&boxes, &edges) };
    Part { title: words.join(" · "), boxes, far, edges, labels, shape }
}

/// The nodes of a part after those that they read from others.
fn with_far(graph: &Graph, own: Vec<GraphNode>) -> (Vec<GraphNode>, Vec<bool>) {
    let ids: HashSet<&str> = own.iter().map(|it| it.id.as_str()).collect();
    let into = |it: &&GraphEdge| ids.contains(it.to.as_str()) && !ids.contains(it.from.as_str());
    let wanted: HashSet<&str> =
        graph.edges.iter().filter(into).map(|it| it.from.as_str()).collect();
    let elsewhere = graph.nodes.iter().filter(|it| wanted.contains(it.id.as_str()));
    let mut boxes: Vec<GraphNode> =
        elsewhere.filter(|_| !graph.panels.is_empty()).cloned().collect();
    let mut far = vec![true; boxes.len()];
    far.resize(boxes.len() + own.len(), false);
    boxes.extend(own);
    (boxes, far)
}

/// Edges between boxes as indices, once each, with their labels.
fn known_edges<'a>(
    graph: &'a Graph,
    boxes: &[GraphNode],
    far: &[bool],
) -> (Vec<(usize, usize)>, Vec<&'a str>) {
    let index: HashMap<&str, usize> =
        boxes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let mut seen = HashSet::new();
    let ends =
        |edge: &GraphEdge| Some((*index.get(edge.from.as_str())?, *index.get(edge.to.as_str())?));
    let known = graph.edges.iter().filter_map(|edge| Some((ends(edge)?, edge.label.as_str())));
    let stays = |to: usize| !far.get(to).copied().unwrap_or(false);
    known.filter(|(ends, _)| ends.0 != ends.1 && stays(ends.1) && seen.insert(*ends)).unzip()
}

fn placed(boxes: &[GraphNode], edges: &[(usize, usize)]) -> Shape {
    let widths: Vec<f64> = boxes.iter().map(box_width).collect();
    let made = layout(&Boxes { widths: &widths, height: BOX, edges });
    Shape::Boxes { made, widths }
}

fn list_of(boxes: &[GraphNode]) -> Shape {
    let small = |it: &str| cut_to(it, LETTERS).chars().count() as f64 * LETTER * 10.0 / 12.0;
    let label = |it: &GraphNode| cut_to(&it.label, LETTERS).chars().count() as f64 * LETTER;
    let width = |it: &GraphNode| it.detail.lines().map(small).fold(label(it), f64::max);
    let width = boxes.iter().map(width).fold(0.0, f64::max) + 24.0;
    let fitting = ((WIDE + ROW_GAP) / (width + ROW_GAP)).floor() as usize;
    Shape::List { width, columns: fitting.clamp(1, boxes.len().max(1)) }
}

fn row_height(node: &GraphNode) -> f64 {
    LINE * (1 + node.detail.lines().count()) as f64 + 10.0
}

impl Part<'_> {
    fn top(&self) -> f64 {
        if self.title.is_empty() { 0.0 } else { TITLE }
    }

    pub(super) fn width(&self) -> f64 {
        let title = self.title.chars().count() as f64 * LETTER;
        title.max(match &self.shape {
            Shape::Boxes { made, .. } => made.width,
            Shape::List { width, columns } => (width + ROW_GAP) * *columns as f64 - ROW_GAP,
        })
    }

    pub(super) fn height(&self) -> f64 {
        self.top()
            + match &self.shape {
                Shape::Boxes { made, .. } => made.height,
                Shape::List { columns, .. } => {
                    self.boxes.chunks(*columns).map(|it| highest(it) + ROW_GAP).sum()
                }
            }
    }

    /// Draws it with its upper left corner at the origin.
    pub(super) fn draw(&self, html: &mut Html) {
        write(html, (0.0, 12.0), GREY, &self.title);
        html.line();
        let place = format!("translate(0 {})", num(self.top()));
        html.tag("g").attr("transform", place).within(|html| match &self.shape {
            Shape::Boxes { made, widths } => {
                let (edges, labels) = (&self.edges, &self.labels);
                draw_boxes(html, &self.boxes, &self.far, &Arrows { edges, labels, made, widths });
            }
            Shape::List { width, columns } => {
                let mut y = 0.0;
                for line in self.boxes.chunks(*columns) {
                    draw_rows(html, line, y, *width);
                    y += highest(line) + ROW_GAP;
                }
            }
        });
    }
}

fn highest(line: &[GraphNode]) -> f64 {
    line.iter().map(row_height).fold(0.0, f64::max)
}

/// Rows of a list beside each other.
fn draw_rows(html: &mut Html, line: &[GraphNode], y: f64, width: f64) {
    for (at, node) in line.iter().enumerate() {
        let x = at as f64 * (width + ROW_GAP);
        let (ground, border) = colors(node.kind);
        html.tag("g").within(|html| {
            html.tag("title").text(&format!("{}\n{}", node.label, node.detail));
            let shape = html.tag("rect").num("x", x).num("y", y).num("width", width);
            let shape = shape.num("height", highest(line)).attr("rx", 7);
            shape.attr("fill", ground).attr("stroke", border).empty();
            write(html, (x + 12.0, y + 17.0), "#ffffff", &cut_to(&node.label, LETTERS));
            for (at, text) in (1..).zip(node.detail.lines()) {
                let tag = html.tag("text").num("x", x + 12.0);
                let tag = tag.num("y", y + 17.0 + LINE * f64::from(at));
                let tag = tag.attr("font-size", 10).attr("fill", "#ffffff");
                tag.text(&cut_to(text, LETTERS));
            }
        });
        html.line();
    }
}

/// A training step.
pub(super) fn sample() -> Artifact {
    use NodeKind::{Fused, Input, Op, Output, Parameter};
    let node = |id: &str, label: &str, kind, detail: &str, panel| GraphNode {
        id: id.into(),
        label: label.into(),
        kind,
        detail: detail.into(),
        panel,
        ..GraphNode::default()
    };
    let nodes = vec![
        node("%0", "xb", Input, "float32[32, 64]", 0),
        node("%1", "net.weight", Parameter, "float32[10, 64]", 0),
        node("%2", "linear", Op, "float32[32, 10]", 0),
        node("%3", "mean", Output, "loss float32[]", 0),
        node("%4", "div(1, 320)", Op, "float32[]", 1),
        node("%5", "matmul", Output, "net.weight.grad float32[10, 64]", 1),
        node("%8", "net.weight", Fused, "from net.weight.grad, exp_avg\n3 ops: mul, sub", 2),
    ];
    let pairs = [(0, 2), (1, 2), (2, 3), (4, 5), (0, 5), (5, 6), (1, 6)];
    let edge = |(from, to): (usize, usize)| GraphEdge {
        from: nodes[from].id.clone(),
        to: nodes[to].id.clone(),
        label: String::new(),
    };
    let edges = pairs.map(edge).to_vec();
    let panel = |title: &str, list| GraphPanel { title: title.into(), list };
    let titles = ["forward · 2 ops", "backward · 2 ops", "update · 1 part in 3 ops"];
    let panels = titles.into_iter().zip([false, false, true]).map(|(it, list)| panel(it, list));
    let panels = panels.collect();
    Artifact::Graph(Graph { title: "cell 3, loop at line 2".into(), nodes, edges, panels })
}
