//! Magic commands, and what a cell can show.
//!
//! [`notebook::Notebook`] runs cells: it splits them ([`split`]), runs magics ([`all`]) and hands code to the session. A
//! magic never prints: it returns artifacts, which the kernel draws.

pub mod all;
pub mod args;
pub mod artifact;
mod calls;
mod captured;
pub mod editor;
pub mod elsewhere;
pub mod from_value;
mod graph_groups;
mod graph_parts;
mod graph_random;
mod graph_view;
pub mod help;
pub mod notebook;
pub mod split;
mod tensor_names;
mod traced;

use std::fmt;

use crate::args::{Arg, Args};
pub use crate::artifact::Artifact;
use crate::notebook::MagicCx;

/// One magic command. Parsing, usage, completion and help follow from the row.
pub struct Magic {
    /// The name after `%`.
    pub name: &'static str,
    /// One line of help.
    pub summary: &'static str,
    /// What it takes.
    pub args: &'static [Arg],
    /// What `%%name` does with the cell below; `None` if there is no such form.
    pub on_cell: OnCell,
    /// Does the work of the line form.
    pub run: fn(&mut MagicCx<'_>, &Args) -> Result<Vec<Artifact>, MagicError>,
    /// Cells with what they show, run as tests.
    pub examples: &'static [Example],
}

/// What the `%%` form of a magic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCell {
    /// There is none.
    Refused,
    /// The line form first, then the rest of the cell as code.
    ThenRun,
    /// The line form alone; the rest of the cell is data, in `cx.body`.
    TakesBody,
}

/// One example of a magic.
pub struct Example {
    /// Code that runs before.
    pub setup: &'static str,
    /// The cell.
    pub cell: &'static str,
    /// Text that its output contains.
    pub shows: &'static str,
}

/// Why a magic did not do its work.
#[derive(Clone, Debug)]
pub enum MagicError {
    /// The line is not what the magic takes; the usage line follows in the text.
    Usage { message: String, usage: String },
    /// The work failed.
    Failed { message: String },
    /// Code of the user raised; shown as its own error.
    Raised(Box<frontend_lang::session::CellError>),
}

impl MagicError {
    /// A line that `magic` does not take.
    pub fn usage(magic: &Magic, message: String) -> Self {
        Self::Usage { message: format!("%{}: {message}", magic.name), usage: usage(magic) }
    }

    /// The same where the magic stands first in a cell: usage as `%%name`.
    pub fn on_cell(self) -> Self {
        match self {
            Self::Usage { message, usage } => {
                Self::Usage { message: format!("%{message}"), usage: format!("%{usage}") }
            }
            other => other,
        }
    }

    /// Work that failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into() }
    }
}

impl From<engine::Error> for MagicError {
    fn from(error: engine::Error) -> Self {
        Self::Failed { message: error.to_string() }
    }
}

impl fmt::Display for MagicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { message, usage } => write!(f, "{message}\nusage: {usage}"),
            Self::Failed { message } => f.write_str(message),
            Self::Raised(error) => write!(f, "{}: {}", error.ename, error.evalue),
        }
    }
}

/// `%dump NAME FILE [--input DATA]`.
pub fn usage(magic: &Magic) -> String {
    let args = magic.args.iter().map(|it| format!(" {}", it.usage()));
    format!("%{}{}", magic.name, args.collect::<String>())
}

/// The magic of this name.
pub fn find(name: &str) -> Option<&'static Magic> {
    all::ALL.iter().copied().find(|it| it.name == name)
}
