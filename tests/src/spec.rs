//! Literate specs: Markdown in which every `python` block is a cell, with what it shows written in comments.
//!
//! `# shows: TEXT` is one line of output; all of them in order are the whole output of the cell. `# error: NAME: TEXT` after
//! code says that the cell fails on that line, with that error, whose message contains TEXT.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::value::Value;
use kernel::display::plain;
use magics::artifact::Help;
use magics::notebook::Notebook;

/// One cell of a spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Line of the file on which the cell's first line stands, from 1.
    pub line: usize,
    /// The text of the cell.
    pub text: String,
    /// Lines of output.
    pub shows: Vec<String>,
    /// The error: its line in the cell from 1, its class, a part of its message.
    pub error: Option<(usize, String, String)>,
}

/// The cells of a spec.
pub fn cells(markdown: &str) -> Vec<Cell> {
    let mut found = Vec::new();
    let mut open: Option<Cell> = None;
    for (at, line) in markdown.lines().enumerate() {
        match (&mut open, line.trim_end()) {
            (None, "```python") => open = Some(Cell { line: at + 2, ..Cell::default() }),
            (None, _) => {}
            (Some(_), "```") => found.extend(open.take()),
            (Some(cell), line) => cell.push(line),
        }
    }
    found
}

impl Cell {
    fn push(&mut self, line: &str) {
        if let Some(shown) = after(line, "# shows:") {
            self.shows.push(shown.into());
        }
        if let Some(error) = after(line, "# error:") {
            let (name, message) = error.split_once(':').unwrap_or((error, ""));
            let line = self.text.lines().count() + 1;
            self.error = Some((line, name.trim().into(), message.trim().into()));
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

fn after<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let rest = line.split_once(mark)?.1;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

/// What a cell gave.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// All that it showed: what it printed, what it displayed, its value, pages of help.
    pub output: String,
    /// What ended it.
    pub error: Option<Failed>,
}

/// An error as a user reads it.
#[derive(Clone, Debug, Default)]
pub struct Failed {
    /// Its class.
    pub name: String,
    /// Its message.
    pub message: String,
    /// The whole text, without colours.
    pub plain: String,
}

/// What can run the cells of a spec: a session of this process, or one behind sockets.
pub trait Runs {
    /// Runs a cell.
    fn run(&mut self, cell: &str) -> Ran;
}

/// The specs: every `.md` below `tests/specs`, sorted.
pub fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let folders = [folder.clone(), folder.join("language"), folder.join("mistakes")];
    let entries = folders.iter().filter_map(|it| std::fs::read_dir(it).ok()).flatten();
    let mut files: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    files.retain(|it| it.extension().is_some_and(|it| it == "md"));
    files.sort();
    files
}

/// How cells of a spec are checked before they run. What Python shows of a cell that fails, it shows before it fails.
pub fn level(path: &Path) -> Level {
    let is_python = path.parent().is_some_and(|it| it.ends_with("language"));
    if is_python { Level::Off } else { Level::On }
}

/// Runs the cells of a spec in one session; gives their number and what is not as the spec says.
pub fn check_file(path: &Path, session: &mut dyn Runs) -> (usize, Vec<String>) {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let cells = cells(&text);
    let mut wrong = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        if let Some(problem) = cell.compare(at + 1, &session.run(&cell.text)) {
            wrong.push(format!("{name}:{}: {problem}", cell.line));
        }
    }
    (cells.len(), wrong)
}

/// A session of this process that runs the cells of one spec.
pub struct Runner {
    notebook: Notebook,
    record: Rc<Record>,
}

impl Default for Runner {
    fn default() -> Self {
        let record = Rc::new(Record::default());
        let notebook = Notebook::new(Box::new(Recording { record: record.clone() }));
        Self { notebook, record }
    }
}

impl Runner {
    /// A session whose cells are checked before they run, or not.
    pub fn with_check(level: Level) -> Self {
        let mut runner = Self::default();
        runner.notebook.settings.check = level;
        runner
    }

    /// Runs a cell: all that it showed, in order of the channels, and its error as the user reads it.
    pub fn transcript(&mut self, cell: &str) -> (String, Option<String>) {
        self.record.stdout.borrow_mut().clear();
        self.record.stderr.borrow_mut().clear();
        self.record.displays.borrow_mut().clear();
        self.record.notices.borrow_mut().clear();
        let mut shown = Vec::new();
        let outcome = self.notebook.run(cell, &mut |it| shown.push(plain(&it)));
        let mut parts =
            vec![self.record.stdout.borrow().clone(), self.record.stderr.borrow().clone()];
        parts.extend(self.record.displays.borrow().iter().cloned());
        parts.extend(self.record.notices.borrow().iter().cloned());
        parts.extend(shown);
        parts.extend(outcome.result.iter().map(plain));
        parts.extend(outcome.pages.iter().map(Help::plain));
        (parts.join("\n"), outcome.error.map(|it| it.plain))
    }

    /// Texts of cells that cells have offered, and whether each is to replace its cell.
    pub fn next_inputs(&self) -> Vec<(String, bool)> {
        self.record.next_inputs.take()
    }

    /// A global name for the cells.
    pub fn set(&mut self, name: &str, value: Value) {
        self.notebook.session.set_global(name, value);
    }

    /// A file for the cells to read.
    pub fn give_file(&mut self, path: &str, bytes: Vec<u8>) {
        self.record.files.borrow_mut().insert(path.to_owned(), bytes);
    }

    /// Whether the cells from here on are checked.
    pub fn set_check(&mut self, level: Level) {
        self.notebook.settings.check = level;
    }

    /// The names of the session with what is said of them.
    pub fn names(&mut self) -> String {
        let names = self.notebook.session.names();
        names.iter().map(|it| format!("{}: {} {}\n", it.name, it.kind, it.summary)).collect()
    }

    /// Runs a cell whose output must contain `text`, or, for `error: NAME`, which must fail so.
    pub fn shows(&mut self, cell: &str, text: &str) -> Option<String> {
        let mut shown = String::new();
        let outcome = self.notebook.run(cell, &mut |it| shown.push_str(&plain(&it)));
        let pages = outcome.pages.iter().map(Help::plain).collect::<String>();
        let result = outcome.result.as_ref().map(plain).unwrap_or_default();
        let stdout = self.record.stdout.borrow().clone();
        match (text.strip_prefix("error: "), outcome.error) {
            (Some(name), Some(error)) if error.ename == name => None,
            (Some(name), other) => {
                Some(format!("expected {name}, got {:?}", other.map(|it| it.plain)))
            }
            (None, Some(error)) => Some(error.plain),
            (None, None) => {
                let all = [stdout, shown, result, pages].join("\n");
                (!all.contains(text)).then(|| format!("expected `{text}` in:\n{all}"))
            }
        }
    }
}

impl Runs for Runner {
    fn run(&mut self, cell: &str) -> Ran {
        self.record.stdout.borrow_mut().clear();
        self.record.displays.borrow_mut().clear();
        self.record.notices.borrow_mut().clear();
        let mut shown = Vec::new();
        let outcome = self.notebook.run(cell, &mut |it| shown.push(plain(&it)));
        let mut output = self.record.stdout.borrow().clone();
        let results = outcome.result.iter().map(plain);
        let pages = outcome.pages.iter().map(Help::plain);
        let displays = self.record.displays.borrow();
        let notices = self.record.notices.borrow();
        let displays = displays.iter().chain(notices.iter()).cloned();
        for text in displays.chain(shown).chain(results).chain(pages) {
            output.push_str(&text);
            output.push('\n');
        }
        let error =
            outcome.error.map(|it| Failed { name: it.ename, message: it.evalue, plain: it.plain });
        Ran { output, error }
    }
}

impl Cell {
    /// What is not as the spec says of what this cell gave as `In[number]`, or `None`.
    pub fn compare(&self, number: usize, ran: &Ran) -> Option<String> {
        let problem = match (&self.error, &ran.error) {
            (None, Some(error)) => Some(format!("fails:\n{}", error.plain)),
            (Some(expected), None) => Some(format!("does not fail with {}", expected.1)),
            (Some((line, name, message)), Some(error)) => {
                let place = format!("line {line} of In[{number}]");
                let right = error.name == *name && error.message.contains(message.as_str());
                let at_line = innermost_line(number, &error.plain) == Some(*line)
                    || error.name == "MagicError";
                (!right || !at_line)
                    .then(|| format!("expected {name}: {message} at {place}, got\n{}", error.plain))
            }
            (None, None) => None,
        };
        let lines: Vec<&str> = ran.output.lines().map(str::trim_end).collect();
        let same = lines.iter().copied().eq(self.shows.iter().map(|it| it.trim_end()));
        let differs = (!same && !self.shows.is_empty())
            .then(|| format!("expected:\n{}\ngot:\n{}", self.shows.join("\n"), lines.join("\n")));
        problem.or(differs)
    }
}

/// The line of the innermost place in a traceback: ` --> In[7] in reads:3:8`.
fn innermost_line(number: usize, plain: &str) -> Option<usize> {
    let places = plain.lines().filter_map(|it| it.trim_start().strip_prefix("--> "));
    let here = format!("In[{number}]");
    let last = places.rev().find(|it| it.starts_with(&here))?;
    last.rsplit(':').nth(1)?.parse().ok()
}
