//! Literate specs: Markdown in which every `python` block is a cell, with what it shows written in comments.
//!
//! `# shows: TEXT` is one line of output; all of them in order are the whole output of the cell. `# error: NAME: TEXT` after
//! code says that the cell fails on that line, with that error, whose message contains TEXT.

use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use magics::Artifact;
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

/// A session that runs the cells of one spec.
pub struct Runner {
    notebook: Notebook,
    record: Rc<Record>,
    cell: usize,
}

impl Default for Runner {
    fn default() -> Self {
        let record = Rc::new(Record::default());
        let notebook = Notebook::new(Box::new(Recording { record: record.clone() }));
        Self { notebook, record, cell: 0 }
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
        let mut shown = Vec::new();
        let outcome = self.notebook.run(cell, &mut |it| shown.push(text_of(&it)));
        let mut parts =
            vec![self.record.stdout.borrow().clone(), self.record.stderr.borrow().clone()];
        parts.extend(self.record.displays.borrow().iter().cloned());
        parts.extend(shown);
        parts.extend(outcome.result.iter().map(text_of));
        parts.extend(outcome.pages.iter().map(Help::plain));
        (parts.join("\n"), outcome.error.map(|it| it.plain))
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
        let outcome = self.notebook.run(cell, &mut |it| shown.push_str(&text_of(&it)));
        let pages = outcome.pages.iter().map(Help::plain).collect::<String>();
        let result = outcome.result.as_ref().map(text_of).unwrap_or_default();
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

    /// Runs a cell; gives what is not as the spec says, or `None`.
    pub fn check(&mut self, cell: &Cell) -> Option<String> {
        self.cell += 1;
        self.record.stdout.borrow_mut().clear();
        self.record.displays.borrow_mut().clear();
        let mut shown = Vec::new();
        let outcome = self.notebook.run(&cell.text, &mut |it| shown.push(text_of(&it)));
        let mut output = self.record.stdout.borrow().clone();
        for text in self.record.displays.borrow().iter().chain(&shown) {
            output.push_str(text);
            output.push('\n');
        }
        for text in outcome.result.iter().map(text_of).chain(outcome.pages.iter().map(Help::plain))
        {
            output.push_str(&text);
            output.push('\n');
        }
        let problem = match (&cell.error, &outcome.error) {
            (None, Some(error)) => Some(format!("fails:\n{}", error.plain)),
            (Some(expected), None) => Some(format!("does not fail with {}", expected.1)),
            (Some((line, name, message)), Some(error)) => {
                let place = format!("line {line} of In[{}]", self.cell);
                let right = error.ename == *name && error.evalue.contains(message.as_str());
                let at_line =
                    self.innermost_line(&error.plain) == Some(*line) || error.ename == "MagicError";
                (!right || !at_line)
                    .then(|| format!("expected {name}: {message} at {place}, got\n{}", error.plain))
            }
            (None, None) => None,
        };
        let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
        let same = lines.iter().copied().eq(cell.shows.iter().map(|it| it.trim_end()));
        let differs = (!same && !cell.shows.is_empty())
            .then(|| format!("expected:\n{}\ngot:\n{}", cell.shows.join("\n"), lines.join("\n")));
        problem.or(differs)
    }
}

impl Runner {
    /// The line of the innermost place in a traceback: ` --> In[7] in reads:3:8`.
    fn innermost_line(&self, plain: &str) -> Option<usize> {
        let places = plain.lines().filter_map(|it| it.trim_start().strip_prefix("--> "));
        let here = format!("In[{}]", self.cell);
        let last = places.rev().find(|it| it.starts_with(&here))?;
        last.rsplit(':').nth(1)?.parse().ok()
    }
}

fn text_of(artifact: &Artifact) -> String {
    match artifact {
        Artifact::Text(text) => text.clone(),
        Artifact::Tensor(it) => it.repr.clone(),
        Artifact::Table(it) => {
            let rows = it.rows.iter().map(|row| row.join(" | "));
            let head =
                [it.caption.clone(), it.head.join(" | ")].into_iter().filter(|it| !it.is_empty());
            head.chain(rows).collect::<Vec<_>>().join("\n")
        }
        Artifact::Graph(it) => {
            let nodes = it.nodes.iter().map(|it| format!("{} {} {}", it.id, it.label, it.detail));
            nodes.collect::<Vec<_>>().join("\n")
        }
        Artifact::Progress(it) => format!("{} {}", it.label, it.done),
        Artifact::Html(text) | Artifact::Markdown(text) | Artifact::Svg(text) => text.clone(),
        Artifact::Help(it) => it.plain(),
        Artifact::Plot(_) => "<plot>".into(),
        Artifact::Image(_) | Artifact::Images(_) => "<images>".into(),
        Artifact::Figure(_) => "<figure>".into(),
        Artifact::Error(it) => format!("{}: {}", it.name, it.message),
    }
}
