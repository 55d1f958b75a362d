//! The boundary between protocol and language.
//!
//! A `Handler` lives on the interpreter thread and runs cells. An `Assist` is shared with the thread
//! that reads the shell socket: it answers completion and help from a snapshot, also while a cell runs.
//! `Outputs` is where a running cell shows things.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value};

/// A value in its forms, by MIME type, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// MIME type to text, base64 or JSON.
    pub data: Map<String, Value>,
    /// Facts about the forms, such as the width of a picture.
    pub metadata: Map<String, Value>,
}

impl Bundle {
    /// A bundle of `text/plain` alone.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::from_iter([("text/plain", text.into())])
    }

    /// The `text/plain` form; empty if there is none.
    pub fn text(&self) -> &str {
        self.data.get("text/plain").and_then(Value::as_str).unwrap_or_default()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Bundle {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(forms: I) -> Self {
        let data = forms.into_iter().map(|(mime, form)| (mime.into(), form.into())).collect();
        Self { data, metadata: Map::new() }
    }
}

/// One cell to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execute {
    /// The text of the cell.
    pub code: String,
    /// The number shown beside the cell.
    pub execution_count: u32,
    /// Whether results are kept from view.
    pub silent: bool,
    /// Whether the cell counts and is kept in the history.
    pub store_history: bool,
    /// Whether somebody can answer `input()`.
    pub allow_stdin: bool,
    /// The notebook's name for the cell, if it gave one.
    pub cell_id: Option<String>,
}

impl Execute {
    /// Whether a person typed this at a prompt: notebooks name their cells, and scripted runs answer no questions.
    pub fn is_console(&self) -> bool {
        self.cell_id.is_none() && self.allow_stdin && !self.silent
    }
}

/// How a cell ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It ran; its last expression may have a value to show.
    Done(Option<Bundle>),
    /// It failed.
    Failed(Failure),
}

/// An error that ended a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The kind of error: `ZeroDivisionError`.
    pub ename: String,
    /// Its message.
    pub evalue: String,
    /// What is shown: lines, which may carry ANSI colours.
    pub traceback: Vec<String>,
}

impl Failure {
    /// A failure that shows `ename: evalue`.
    pub fn new(ename: impl Into<String>, evalue: impl Into<String>) -> Self {
        let (ename, evalue) = (ename.into(), evalue.into());
        Self { traceback: vec![format!("{ename}: {evalue}")], ename, evalue }
    }
}

/// What a cell asks the frontend to do once it has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Show a page of help.
    Page(Bundle),
    /// Offer `text` as the next cell, or in place of this one.
    NextInput { text: String, replace: bool },
    /// End the console.
    Exit,
}

/// Why `input()` gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    /// Nobody is there to answer: a scripted run.
    NotAllowed,
    /// The user interrupted the cell.
    Interrupted,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllowed => {
                "input() was called, but this frontend does not support input requests"
            }
            Self::Interrupted => "interrupted while waiting for input",
        })
    }
}

/// Where a running cell shows things. Order is kept across all of these.
/// Shared, since the language keeps a hold on it while the cell runs.
pub trait Outputs {
    /// Text that the cell prints.
    fn stdout(&self, text: &str);
    /// Text that the cell writes to `sys.stderr`; nothing else may come here.
    fn stderr(&self, text: &str);
    /// Shows a bundle. With an `id` it can be replaced later; `update` replaces what has that id.
    fn display(&self, bundle: &Bundle, id: Option<&str>, update: bool);
    /// Tells a remark that is no output of the program. In a notebook it is a display of its own.
    fn notice(&self, bundle: &Bundle) {
        self.display(bundle, None, false);
    }
    /// Empties the cell's output: now, or (`wait`) when the next output comes.
    fn clear_output(&self, wait: bool);
    /// Asks the user for a line, without its line end.
    fn input(&self, prompt: &str, password: bool) -> Result<String, InputError>;
    /// Asks the frontend for something once the cell has ended.
    fn payload(&self, payload: Payload);
}

/// Runs cells; made and used on the interpreter thread only.
pub trait Handler {
    /// Runs one cell. The interrupt flag given at the start ends it early with a `KeyboardInterrupt`.
    fn execute(&mut self, request: &Execute, out: &Rc<dyn Outputs>) -> Outcome;
    /// The value of one expression after a cell (`user_expressions`).
    fn evaluate(&mut self, expression: &str, out: &Rc<dyn Outputs>) -> Result<Bundle, Failure>;
    /// Does what could wait until the cell had been answered.
    fn tidy(&mut self) {}
}

/// One completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// What replaces the text between the reply's `start` and `end`.
    pub text: String,
    /// `function`, `keyword`, `module`, `magic`, `instance` ...; may be empty.
    pub kind: String,
    /// More to say in a few words: how it is called, its default, its shape; may be empty.
    pub signature: String,
}

/// Completions and what they replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Best first.
    pub matches: Vec<Completion>,
    /// First code point that is replaced.
    pub start: usize,
    /// Code point after the last one that is replaced.
    pub end: usize,
}

/// Whether code can be run as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// It can.
    Complete,
    /// More must follow; the next line starts with this indent.
    Incomplete { indent: String },
    /// No continuation makes it valid.
    Invalid,
}

/// Answers about code, from any thread, also while a cell runs.
pub trait Assist: Send + Sync {
    /// What could stand at `cursor`, in code points.
    fn complete(&self, code: &str, cursor: usize) -> Completions;
    /// Help on what stands at `cursor`, in code points; `detail` 1 asks for the source as well.
    fn inspect(&self, code: &str, cursor: usize, detail: u8) -> Option<Bundle>;
    /// Whether the code is a whole cell.
    fn is_complete(&self, code: &str) -> Completeness;
}

/// Set to ask the running cell to end; cleared before each cell.
pub type InterruptFlag = Arc<AtomicBool>;

/// A language, ready to be started.
pub struct Language {
    /// Answers while cells run.
    pub assist: Arc<dyn Assist>,
    /// Makes the handler, on the thread on which it stays.
    pub start: Box<dyn FnOnce(InterruptFlag) -> Box<dyn Handler> + Send>,
}
