//! `graph`: boxes and arrows from inputs to outputs, and an outline as plain text.
//!
//! Boxes carry their own ground and letters; arrows are of middle lightness. So the drawing, which
//! has no ground of its own, can be read on light and dark pages.

use std::collections::HashMap;

use magics::Artifact;
use magics::artifact::{Graph, GraphNode, NodeKind};

use super::graph_layout::Layout;
use super::graph_panels;
use super::html::{Html, num};
use super::{Renderer, data_uri};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "graph",
    wants: |art| matches!(art, Artifact::Graph(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// The most nodes that are drawn or listed, of each part.
pub(super) const MOST: usize = 200;
/// The most letters in one line of a box.
const LETTERS: usize = 36;
/// Width of a letter of the 12-pixel monospaced font.
pub(super) const LETTER: f64 = 7.25;
const MARGIN: f64 = 8.0;
pub(super) const BOX: f64 = 38.0;
const MONO: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
/// For arrows and the title.
pub(super) const GREY: &str = "#8a929c";

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Graph(graph) = art else { return None };
    if graph.nodes.is_empty() {
        return None;
    }
    let (document, width, height) = document_of(graph);
    Some(Html::build(|html| {
        html.tag("div")
            .attr("class", "ng-graph")
            .attr("style", "overflow:auto;max-height:1400px")
            .within(|html| {
                let tag = html
                    .tag("img")
                    .attr("src", data_uri::svg(&document))
                    .attr("alt", summary(graph));
                let tag = tag.attr("width", num(width)).attr("height", num(height));
                // Pages make pictures as narrow as the page; the letters of this one must be read.
                tag.attr("style", "max-width:none").empty();
            });
    }))
}

/// The drawing and its size.
fn document_of(graph: &Graph) -> (String, f64, f64) {
    let parts = graph_panels::parts(graph);
    let title = &graph.title;
    let top = if title.is_empty() { MARGIN } else { MARGIN + 24.0 };
    let title_width = title.chars().count() as f64 * LETTER;
    let places = graph_panels::places(&parts);
    let ends = || parts.iter().zip(&places);
    let wide = ends().map(|(part, it)| it.0 + part.width()).fold(title_width, f64::max);
    let high = ends().map(|(part, it)| it.1 + part.height()).fold(0.0, f64::max);
    let (width, height) = (wide + 2.0 * MARGIN, high + top + MARGIN);
    let document = Html::build(|html| {
        let svg = html.tag("svg").attr("xmlns", "http://www.w3.org/2000/svg");
        let svg = svg.num("width", width).num("height", height);
        let view = format!("0 0 {} {}", num(width), num(height));
        svg.attr("viewBox", view).attr("font-family", MONO).within(|html| {
            write(html, (MARGIN, MARGIN + 10.0), GREY, title);
            html.line();
            for (part, (x, y)) in parts.iter().zip(&places) {
                let place = format!("translate({} {})", num(MARGIN + x), num(top + y));
                html.tag("g").attr("transform", place).within(|html| part.draw(html));
            }
        });
    });
    (document, width, height)
}

/// A line of text in 12-pixel letters.
pub(super) fn write(html: &mut Html, (x, y): (f64, f64), fill: &str, text: &str) {
    if !text.is_empty() {
        let tag = html.tag("text").num("x", x).num("y", y);
        tag.attr("font-size", 12).attr("fill", fill).text(text);
    }
}

/// Boxes with arrows.
pub(super) fn draw_boxes(html: &mut Html, boxes: &[GraphNode], far: &[bool], drawn: &Arrows<'_>) {
    arrows(html, drawn);
    for (at, node) in boxes.iter().enumerate() {
        draw_box(html, node, drawn.made.places[at], drawn.widths[at], far[at]);
    }
}

/// What arrows need to know.
pub(super) struct Arrows<'a> {
    pub(super) edges: &'a [(usize, usize)],
    pub(super) labels: &'a [&'a str],
    pub(super) made: &'a Layout,
    pub(super) widths: &'a [f64],
}

pub(super) fn box_width(node: &GraphNode) -> f64 {
    let letters = cut(&node.label).chars().count() as f64 * LETTER;
    let small = cut(&node.detail).chars().count() as f64 * LETTER * 10.0 / 12.0;
    (letters.max(small) + 20.0).max(48.0)
}

fn cut(text: &str) -> String {
    cut_to(text, LETTERS)
}

/// The text, or its beginning, with at most so many letters.
pub(super) fn cut_to(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_string();
    }
    text.chars().take(letters - 1).chain(['…']).collect()
}

/// Ground and border of a box; letters are white, at a contrast of at least 4.5.
pub(super) fn colors(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::Input => ("#1d6fb8", "#6aaee6"),
        NodeKind::Parameter => ("#8a5a00", "#d1a04a"),
        NodeKind::Constant => ("#5f6875", "#a5adb8"),
        NodeKind::Op => ("#465364", "#8f9db0"),
        NodeKind::Fused => ("#6f42b5", "#b094e0"),
        NodeKind::Part => ("#0d6e70", "#5fb9ba"),
        NodeKind::Control => ("#a8324a", "#e08a9b"),
        NodeKind::Output => ("#1f7a45", "#6cc493"),
    }
}

/// A box; one that stands in another part has a dashed border.
fn draw_box(html: &mut Html, node: &GraphNode, (x, y): (f64, f64), width: f64, far: bool) {
    let (ground, border) = colors(node.kind);
    html.tag("g").within(|html| {
        let detail = prefixed(": ", &node.detail);
        let within = prefixed("\nin ", &node.within);
        let title = format!("{} {} {}{detail}{within}", node.kind.name(), node.id, node.label);
        html.tag("title").text(&title);
        let shape = html
            .tag("rect")
            .num("x", x - width / 2.0)
            .num("y", y)
            .num("width", width)
            .num("height", BOX);
        let shape = shape.attr("rx", 7).attr("fill", ground).attr("stroke", border);
        let shape = shape.maybe("stroke-width", far.then_some("2"));
        shape.maybe("stroke-dasharray", far.then_some("4 4")).empty();
        let middle = if node.detail.is_empty() { y + BOX / 2.0 + 4.0 } else { y + 16.0 };
        let text = html.tag("text").num("x", x).num("y", middle).attr("text-anchor", "middle");
        text.attr("font-size", 12).attr("fill", "#ffffff").text(&cut(&node.label));
        if !node.detail.is_empty() {
            let text =
                html.tag("text").num("x", x).num("y", y + 30.0).attr("text-anchor", "middle");
            text.attr("font-size", 10).attr("fill", "#ffffff").text(&cut(&node.detail));
        }
    });
    html.line();
}

fn arrows(html: &mut Html, drawn: &Arrows<'_>) {
    let Arrows { edges, labels, made, widths } = *drawn;
    for (edge_idx, (from, to)) in edges.iter().enumerate() {
        let (start, end) = (made.places[*from], made.places[*to]);
        let back = from >= to || end.1 <= start.1;
        let (path, tip) = if back {
            let side = (start.0 + widths[*from] / 2.0).max(end.0 + widths[*to] / 2.0) + 14.0;
            (
                loop_back(start, end, side, widths[*to]),
                (end.0 + widths[*to] / 2.0, end.1 + BOX / 2.0, true),
            )
        } else {
            (curve(start, &made.bends[edge_idx], end), (end.0, end.1, false))
        };
        let line = html.tag("path").attr("d", path).attr("fill", "none").attr("stroke", GREY);
        line.attr("stroke-width", 1.4).maybe("stroke-dasharray", back.then_some("5 4")).empty();
        arrow_head(html, tip);
        if !labels[edge_idx].is_empty() {
            let middle = ((start.0 + end.0) / 2.0, (start.1 + BOX + end.1) / 2.0);
            let (x, y) = made.bends[edge_idx].first().map_or(middle, |it| (it.0, it.1 + BOX / 2.0));
            let text = html.tag("text").num("x", x + 6.0).num("y", y).attr("font-size", 10);
            text.attr("fill", GREY).text(&cut(labels[edge_idx]));
        }
        html.line();
    }
}

/// From the foot of one box through the bends to the head of another.
fn curve(start: (f64, f64), bends: &[(f64, f64)], end: (f64, f64)) -> String {
    let (mut x, mut y) = (start.0, start.1 + BOX);
    let mut path = format!("M{} {}", num(x), num(y));
    let to = |x: &mut f64, y: &mut f64, next: (f64, f64), path: &mut String| {
        let middle = (*y + next.1) / 2.0;
        let points = [*x, middle, next.0, middle, next.0, next.1].map(num);
        *path += &format!("C{}", points.join(" "));
        (*x, *y) = next;
    };
    for bend in bends {
        to(&mut x, &mut y, *bend, &mut path);
        y += BOX;
        path += &format!("V{}", num(y));
    }
    to(&mut x, &mut y, (end.0, end.1 - 5.0), &mut path);
    path
}

/// From the right side of one box around to the right side of an earlier one.
fn loop_back(start: (f64, f64), end: (f64, f64), side: f64, end_width: f64) -> String {
    let (from, to) = (start.1 + BOX / 2.0, end.1 + BOX / 2.0);
    let points = [start.0, from, side, from, side, to, end.0 + end_width / 2.0 + 5.0, to].map(num);
    let [x, y, rest @ ..] = &points;
    format!("M{x} {y}C{}", rest.join(" "))
}

fn arrow_head(html: &mut Html, (x, y, sideways): (f64, f64, bool)) {
    let points = if sideways {
        [(x, y), (x + 7.0, y - 4.0), (x + 7.0, y + 4.0)]
    } else {
        [(x, y), (x - 4.0, y - 7.0), (x + 4.0, y - 7.0)]
    };
    let points = points.map(|(x, y)| format!("{},{}", num(x), num(y))).join(" ");
    html.tag("polygon").attr("points", points).attr("fill", GREY).empty();
}

fn summary(graph: &Graph) -> String {
    let title = if graph.title.is_empty() { "graph" } else { &graph.title };
    format!("{title}: {} nodes, {} edges", graph.nodes.len(), graph.edges.len())
}

/// One line per node, in order of execution, with what it reads; panels one after the other.
fn plain(art: &Artifact) -> String {
    let Artifact::Graph(graph) = art else { return String::new() };
    let mut reads: HashMap<&str, Vec<&str>> = HashMap::new();
    for edge in &graph.edges {
        reads.entry(&edge.to).or_default().push(&edge.from);
    }
    let mut lines = vec![summary(graph)];
    for (at, title) in graph_panels::titles(graph) {
        let nodes: Vec<&GraphNode> = graph_panels::nodes_of(graph, at).collect();
        lines.extend(title.filter(|_| !nodes.is_empty()).map(str::to_string));
        for node in nodes.iter().take(MOST) {
            lines.push(plain_node(node, &reads));
            lines.extend(node.inside.iter().take(MOST).map(|it| format!("      {it}")));
            if node.inside.len() > MOST {
                lines.push(format!("      ... {} more lines", node.inside.len() - MOST));
            }
        }
        if nodes.len() > MOST {
            lines.push(format!("  ... {} more nodes", nodes.len() - MOST));
        }
    }
    lines.join("\n")
}

fn plain_node(node: &GraphNode, reads: &HashMap<&str, Vec<&str>>) -> String {
    let inputs =
        reads.get(node.id.as_str()).map_or(String::new(), |it| format!("({})", it.join(", ")));
    let kind =
        if node.kind == NodeKind::Op { String::new() } else { format!("{} ", node.kind.name()) };
    let detail = node.detail.replace('\n', "; ");
    let (detail, within) = (prefixed(" : ", &detail), prefixed(" in ", &node.within));
    format!("  {} = {kind}{}{inputs}{detail}{within}", node.id, node.label)
}

/// The text after a prefix; nothing if there is none.
fn prefixed(prefix: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{prefix}{text}") }
}

fn samples() -> Vec<Artifact> {
    use NodeKind::{Constant, Control, Fused, Input, Op, Output, Parameter, Part};
    let node = |id: &str, label: &str, kind, detail: &str| GraphNode {
        id: id.into(),
        label: label.into(),
        kind,
        detail: detail.into(),
        within: if label == "matmul" { "fc1".into() } else { String::new() },
        panel: 0,
        inside: match kind {
            Control => [
                "body: graph(%0: f32[8, 64]) {",
                "  %1 = mul(%0, 0.5) : f32[8, 64]",
                "  return %1",
                "}",
            ]
            .map(String::from)
            .to_vec(),
            _ => Vec::new(),
        },
    };
    let nodes = vec![
        node("%0", "x", Input, "float32[8, 784]"),
        node("%1", "fc1.weight", Parameter, "float32[64, 784]"),
        node("%2", "matmul", Op, "float32[8, 64]"),
        node("%3", "fc1.bias", Parameter, "float32[64]"),
        node("%4", "add + relu", Fused, "float32[8, 64]"),
        node("%5", "0.5", Constant, ""),
        node("%6", "mul <&> \"quoted\"", Op, "float32[8, 64]"),
        node("%7", "while loss > 0.001 and steps < 1000", Control, "float32[8, 64]"),
        node("%8", "head: Classifier", Part, "3 ops, float32[8, 64]"),
        node("%9", "out", Output, "float32[8, 64]"),
    ];
    let pairs =
        [(0, 2), (1, 2), (2, 4), (3, 4), (4, 6), (5, 6), (6, 7), (7, 8), (4, 8), (8, 9), (7, 6)];
    let edge = |(from, to): (usize, usize)| magics::artifact::GraphEdge {
        from: format!("%{from}"),
        to: format!("%{to}"),
        label: if from == 4 && to == 8 { "skip".into() } else { String::new() },
    };
    let edges = pairs.map(edge).to_vec();
    let graph = Graph { title: "step <optimized>".into(), nodes, edges, panels: Vec::new() };
    vec![Artifact::Graph(graph), graph_panels::sample()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_the_first_nodes_of_very_large_graphs() {
        let nodes = (0..5000).map(|at| GraphNode {
            id: at.to_string(),
            label: "add".into(),
            ..GraphNode::default()
        });
        let edges = (1..5000).flat_map(|at: usize| [at - 1, at / 2].map(|from| (from, at)));
        let edges = edges.map(|(from, to)| magics::artifact::GraphEdge {
            from: from.to_string(),
            to: to.to_string(),
            label: String::new(),
        });
        let (nodes, edges) = (nodes.collect(), edges.collect());
        let graph = Graph { nodes, edges, ..Graph::default() };
        let (document, ..) = document_of(&graph);
        assert_eq!(document.matches("<rect").count(), MOST);
        assert!(document.contains("first 200 of 5000 nodes"));
        assert!(plain(&Artifact::Graph(graph)).ends_with("... 4800 more nodes"));
    }

    #[test]
    fn draws_nothing_of_an_empty_graph() {
        let forms = super::super::bundle(&Artifact::Graph(Graph::default()));
        assert_eq!(forms, [("text/plain", "graph: 0 nodes, 0 edges".to_string())]);
    }
}
