//! What a cell can show, as plain data: no tensors, no MIME types, no markup.
//!
//! Whoever makes an artifact has already summarised it: its size is bounded, whatever was shown.
//! The kernel alone decides how each looks in a browser or a terminal.

pub use frontend_lang::editor::help::{Help, Section};
pub use frontend_lang::shown::{
    Band, CYCLE, ColorBar, Dash, Figure, Foreign, Image, Images, Look, Note, Notice, Panel, Plot,
    Progress, Raster, Rgb, Scale, Series, SeriesStyle, Side, Span, Spot, Table, Tick,
};

/// One thing that a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Artifact {
    /// Plain text, kept as it is; what any value without a form of its own shows.
    Text(String),
    /// A tensor, summarised.
    Tensor(TensorView),
    /// Rows under a head, such as what `%who` or `%fastrun` reports.
    Table(Table),
    /// A static graph, drawn from inputs at the top to outputs at the bottom.
    Graph(Graph),
    /// One set of axes.
    Plot(Plot),
    /// One picture.
    Image(Image),
    /// Pictures side by side, each with its title as caption.
    Images(Images),
    /// Plots and pictures side by side.
    Figure(Figure),
    /// How far a loop is; shown again under the same id, it replaces what was there.
    Progress(Progress),
    /// An error that ended the cell.
    Error(ErrorView),
    /// A remark beside the output: a lint, a warning, what a trace did.
    Notice(Notice),
    /// What a name means.
    Help(Help),
    /// Markup written by the user (`%%html`), shown as it is.
    Html(String),
    /// Markdown written by the user (`%%markdown`).
    Markdown(String),
    /// A drawing written by the user: one `<svg>` element.
    Svg(String),
    /// An object of a Python package.
    Foreign(Foreign),
}

impl Artifact {
    /// The name under which a later artifact of the same name replaces this one.
    pub fn display_id(&self) -> Option<&str> {
        match self {
            Self::Progress(progress) if !progress.id.is_empty() => Some(&progress.id),
            _ => None,
        }
    }
}

/// A tensor's facts, and the text of those elements that are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorView {
    /// Length of each axis; empty for a single number.
    pub shape: Vec<usize>,
    /// Element type as users write it: `float32`.
    pub dtype: String,
    /// Where it lives as users write it: `cpu`, `cuda:0`.
    pub device: String,
    /// Whether gradients flow into it.
    pub requires_grad: bool,
    /// What the language's `repr` gives; the plain-text form. Empty: built from the elements below.
    pub repr: String,
    /// For each axis the indices that are shown, ascending. A jump by more than one is drawn as "...".
    pub shown: Vec<Vec<usize>>,
    /// The shown elements in row-major order: one for each combination of `shown`.
    pub cells: Vec<TensorCell>,
    /// Least and greatest finite element of those that are shown, the ends of the heat map; `None`: no heat map.
    pub range: Option<(f64, f64)>,
}

/// One shown element of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorCell {
    /// As users see it: `0.5000`, `True`.
    pub text: String,
    /// For the heat map; NaN where there is no number.
    pub value: f64,
}

impl TensorView {
    /// Elements up to which a tensor is shown whole.
    pub const WHOLE: usize = 1000;
    /// Elements shown at each end of an axis that is not shown whole.
    pub const EDGE: usize = 3;
    /// The most elements that a view holds.
    pub const MOST: usize = 4096;

    /// Chooses what is shown and asks `cell` for each such element by its index, in row-major order.
    /// The caller fills in `repr`, `requires_grad` and `range`.
    pub fn summarise(
        shape: &[usize],
        dtype: impl Into<String>,
        device: impl Into<String>,
        cell: &mut dyn FnMut(&[usize]) -> TensorCell,
    ) -> Self {
        let shown = shown_indices(shape);
        let count: usize = shown.iter().map(Vec::len).product();
        let mut cells = Vec::with_capacity(count);
        let mut at = vec![0; shape.len()];
        for flat in 0..count {
            let mut rest = flat;
            for axis in (0..shape.len()).rev() {
                at[axis] = shown[axis][rest % shown[axis].len()];
                rest /= shown[axis].len();
            }
            cells.push(cell(&at));
        }
        let (dtype, device) = (dtype.into(), device.into());
        Self { shape: shape.to_vec(), dtype, device, shown, cells, ..Self::default() }
    }

    /// Whether some elements are left out.
    pub fn is_summary(&self) -> bool {
        self.shape.iter().zip(&self.shown).any(|(len, shown)| *len != shown.len())
    }
}

/// The indices shown on each axis: all when there are few elements, else both ends of every axis.
pub(crate) fn shown_indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let total = shape.iter().fold(1usize, |total, len| total.saturating_mul(*len));
    if total <= TensorView::WHOLE && shape.iter().all(|len| *len <= TensorView::WHOLE) {
        return shape.iter().map(|len| (0..*len).collect()).collect();
    }
    let mut edge = TensorView::EDGE;
    loop {
        let mut shown: Vec<Vec<usize>> = shape.iter().map(|len| ends(*len, edge)).collect();
        let count = shown.iter().fold(1usize, |count, it| count.saturating_mul(it.len()));
        if count <= TensorView::MOST {
            return shown;
        }
        if edge > 1 {
            edge -= 1;
            continue;
        }
        // Very many axes: the leading ones show their first index only.
        let two_ends = shown.len().saturating_sub(12);
        shown[..two_ends].iter_mut().for_each(|it| it.truncate(1));
        return shown;
    }
}

fn ends(len: usize, edge: usize) -> Vec<usize> {
    if len <= 2 * edge {
        return (0..len).collect();
    }
    (0..edge).chain(len - edge..len).collect()
}

/// A directed graph without loops. An edge back is drawn, but does not order the layers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Says what the graph is; may be empty.
    pub title: String,
    /// In order of execution.
    pub nodes: Vec<GraphNode>,
    /// From producer to consumer.
    pub edges: Vec<GraphEdge>,
    /// Parts that are drawn beside each other; none: the graph is drawn as a whole.
    pub panels: Vec<GraphPanel>,
}

/// A part of a graph: the forward pass, say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphPanel {
    /// Stands above it.
    pub title: String,
    /// Whether its nodes are rows of a list, with details of several lines, rather than boxes with arrows.
    pub list: bool,
}

/// One box of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphNode {
    /// Unique in the graph: `%3`.
    pub id: String,
    /// What it does: `matmul`.
    pub label: String,
    /// What it is; chooses the colour.
    pub kind: NodeKind,
    /// Type and shape of what it gives: `float32[8, 3]`; may be empty.
    pub detail: String,
    /// The module that it belongs to: `layer1.0`; may be empty.
    pub within: String,
    /// The number of the panel that it is drawn in.
    pub panel: usize,
    /// The graphs that a branch or a loop runs, line by line; the outline lists them, drawings do not.
    pub inside: Vec<String>,
}

/// What a box of a graph stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeKind {
    /// Given by the caller.
    Input,
    /// A trained weight.
    Parameter,
    /// A value fixed when the graph was made.
    Constant,
    /// One op.
    #[default]
    Op,
    /// Several ops in one kernel.
    Fused,
    /// All ops of a module, or of an op that consists of others.
    Part,
    /// A branch, a loop, a read by the host.
    Control,
    /// Given back to the caller.
    Output,
}

impl NodeKind {
    /// The word for it in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Parameter => "parameter",
            Self::Constant => "constant",
            Self::Op => "op",
            Self::Fused => "fused",
            Self::Part => "part",
            Self::Control => "control",
            Self::Output => "output",
        }
    }
}

/// One arrow of a graph. An end that names no node is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphEdge {
    /// Id of the producer.
    pub from: String,
    /// Id of the consumer.
    pub to: String,
    /// Written beside the arrow; usually empty.
    pub label: String,
}

/// An error that ended a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorView {
    /// Its class: `ValueError`.
    pub name: String,
    /// What it says.
    pub message: String,
    /// Lines for a terminal, with ANSI colours.
    pub traceback: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(shape: &[usize]) -> TensorView {
        TensorView::summarise(shape, "float32", "cpu", &mut |at| TensorCell {
            text: format!("{at:?}"),
            value: 0.0,
        })
    }

    #[test]
    fn shows_small_tensors_whole_and_in_order() {
        let texts: Vec<_> = view(&[2, 2]).cells.into_iter().map(|cell| cell.text).collect();
        assert_eq!(texts, ["[0, 0]", "[0, 1]", "[1, 0]", "[1, 1]"]);
        assert_eq!(view(&[]).cells.len(), 1);
        assert!(view(&[3, 0]).cells.is_empty());
    }

    #[test]
    fn shows_the_ends_of_large_tensors() {
        let large = view(&[5000, 4]);
        assert!(large.is_summary());
        assert_eq!(large.shown[0], [0, 1, 2, 4997, 4998, 4999]);
        assert_eq!(large.shown[1], [0, 1, 2, 3]);
        assert_eq!(large.cells[12].text, "[4997, 0]");
    }

    #[test]
    fn holds_few_elements_whatever_the_shape() {
        for shape in [vec![usize::MAX; 3], vec![usize::MAX, 0], vec![10; 8], vec![2; 40]] {
            assert!(view(&shape).cells.len() <= TensorView::MOST, "{shape:?}");
        }
    }
}
