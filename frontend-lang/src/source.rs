//! Cells of source text and spans in them. A span names its cell, so it stays right in later cells.
//!
//! The text of a cell is kept while it is one of the latest, while any of its code lives, and while a name was bound there last.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

/// The number of a source: cells as they run, then standard library modules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A range of bytes in one source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    pub source: SourceId,
    pub start: u32,
    pub end: u32,
}

/// One source text.
pub struct Source {
    /// `In[3]`, or a module name.
    pub name: String,
    pub text: String,
    lines: Rc<Lines>,
    held: Held,
}

/// Where the lines of a source begin, which may be asked for when its text is gone.
pub struct Lines {
    pub name: String,
    starts: Vec<u32>,
}

/// Keeps the text of a source as long as it lives; code has one.
#[derive(Clone, Debug, Default)]
pub struct Held(Rc<()>);

/// The sources of a session: its modules, and its cells as long as they are asked for.
#[derive(Default)]
pub struct Sources {
    list: FxHashMap<SourceId, Source>,
    /// The number of the next one.
    next: u32,
    /// Cells in the order in which they came.
    cells: VecDeque<SourceId>,
    /// How many cells there are when old ones are looked at again.
    most: usize,
}

/// The latest cells, which are kept in any case.
const LATEST: usize = 1000;
/// So many cells come before old ones are looked at again.
const PAUSE: usize = 500;

impl Source {
    /// A named text.
    pub fn new(name: String, text: String) -> Source {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(newlines.map(|(idx, _)| idx as u32 + 1)).collect();
        let lines = Rc::new(Lines { name: name.clone(), starts });
        Source { name, text, lines, held: Held::default() }
    }

    /// Where its lines begin.
    pub fn lines(&self) -> &Rc<Lines> {
        &self.lines
    }

    /// Whether it is a cell, and no module.
    pub fn is_cell(&self) -> bool {
        self.name.starts_with("In[")
    }

    /// Line and column of a byte offset, both from 1, columns in code points.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.lines.line_of(offset);
        let start = self.lines.starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        let before = self.text.get(start..end).unwrap_or("");
        (line, before.chars().count() + 1)
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        self.text.lines().nth(line.saturating_sub(1)).unwrap_or("")
    }
}

impl Lines {
    /// The line of a byte offset, counted from 1.
    pub fn line_of(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// The bytes of a line, which is counted from 1.
    pub fn range(&self, line: usize) -> std::ops::Range<u32> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or(u32::MAX);
        start(line - 1)..start(line)
    }
}

impl Sources {
    /// Adds a source.
    pub fn add(&mut self, name: String, text: String) -> SourceId {
        let id = SourceId(self.next);
        self.next += 1;
        let source = Source::new(name, text);
        if source.is_cell() {
            self.cells.push_back(id);
        }
        self.list.insert(id, source);
        id
    }

    /// What code of a source keeps its text with.
    pub fn hold(&self, id: SourceId) -> Held {
        self.get(id).map_or_else(Held::default, |it| it.held.clone())
    }

    /// Forgets old cells that no code is left of; `used` names those that are asked for nevertheless.
    pub fn forget_old(&mut self, used: impl FnOnce() -> FxHashSet<SourceId>) {
        if self.cells.len() < self.most.max(LATEST + PAUSE) {
            return;
        }
        let used = used();
        let latest = self.cells.split_off(self.cells.len() - LATEST);
        let list = &mut self.list;
        self.cells.retain(|id| {
            let is_held = list.get(id).is_some_and(|it| Rc::strong_count(&it.held.0) > 1);
            let stays = is_held || used.contains(id);
            if !stays {
                list.remove(id);
            }
            stays
        });
        self.cells.extend(latest);
        self.most = self.cells.len() + PAUSE;
    }

    /// The source of an id that `add` gave; `None`: it was an old cell, and is forgotten.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(&id)
    }

    /// The text of a line in the latest source of this name that has any there: a cell is a source for each piece of code between its magics.
    pub fn line(&self, name: &str, line: usize) -> Option<&str> {
        let named = self.list.iter().filter(|it| it.1.name == name);
        let texts = named.map(|it| (it.0.0, it.1.line(line).trim()));
        texts.filter(|it| !it.1.is_empty()).max().map(|it| it.1)
    }

    /// Whether any source contains these words.
    pub fn contains(&self, words: &str) -> bool {
        self.list.values().any(|it| it.text.contains(words))
    }

    /// A place in the latest cell that has one.
    pub fn find_cell(&self, find: impl Fn(&str) -> Option<(usize, usize)>) -> Option<Span> {
        self.cells.iter().rev().find_map(|id| {
            let (start, end) = find(&self.get(*id)?.text)?;
            Some(Span { source: *id, start: start as u32, end: end as u32 })
        })
    }

    /// The text a span covers.
    pub fn text(&self, span: Span) -> &str {
        let source = self.get(span.source);
        source.and_then(|it| it.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }
}

impl Span {
    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}
