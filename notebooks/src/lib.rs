//! Reads, writes and compares notebooks (nbformat 4).
//!
//! Fields that are not known here are kept. What is written is laid out as Jupyter writes it, so
//! that a notebook saved here and there differs in nothing but its content.

mod compare;
mod error;
mod percent;
mod read;
mod write;

use serde_json::{Map, Value};

pub use compare::{Difference, compare};
pub use error::Error;
pub use percent::from_source;
pub use read::{STDIN, read_text};

/// A notebook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notebook {
    /// Kernel, language and whatever tools keep there.
    pub metadata: Map<String, Value>,
    /// In order.
    pub cells: Vec<Cell>,
    /// Fields of the notebook that are not known here.
    pub extra: Map<String, Value>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What the source is.
    pub kind: CellKind,
    /// Unique in the notebook; letters, digits, `-` and `_`.
    pub id: String,
    /// Tags and whatever tools keep there.
    pub metadata: Map<String, Value>,
    /// The text, lines ended by `\n`.
    pub source: String,
    /// What a code cell showed, as nbformat outputs, all multi-line texts joined to one string.
    pub outputs: Vec<Value>,
    /// The number beside a code cell that has run.
    pub execution_count: Option<u64>,
    /// Fields of the cell that are not known here, such as `attachments`.
    pub extra: Map<String, Value>,
}

/// What a cell's source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Run by the kernel.
    Code,
    /// Text.
    Markdown,
    /// Kept for converters.
    Raw,
}

impl CellKind {
    /// The value of `cell_type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

impl Cell {
    /// A cell that has not run.
    pub fn new(kind: CellKind, id: impl Into<String>, source: impl Into<String>) -> Self {
        let (id, source) = (id.into(), source.into());
        let (metadata, extra) = (Map::new(), Map::new());
        Self { kind, id, metadata, source, outputs: Vec::new(), execution_count: None, extra }
    }

    /// Whether the cell carries a tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        let tags = self.metadata.get("tags").and_then(Value::as_array);
        tags.is_some_and(|tags| tags.iter().any(|it| it == tag))
    }
}

impl Notebook {
    /// Removes all that running leaves behind: outputs, counts, and notes on time and display.
    pub fn strip(&mut self) {
        for cell in &mut self.cells {
            cell.outputs.clear();
            cell.execution_count = None;
            for key in ["execution", "collapsed", "scrolled", "ExecuteTime"] {
                cell.metadata.remove(key);
            }
        }
    }

    /// An id that no cell has: `stem`, or `stem-2` and so on.
    pub fn free_id(&self, stem: &str) -> String {
        let taken = |id: &str| self.cells.iter().any(|cell| cell.id == id);
        let names = (2..).map(|number| format!("{stem}-{number}"));
        [stem.to_string()].into_iter().chain(names).find(|id| !taken(id)).unwrap_or_default()
    }
}
