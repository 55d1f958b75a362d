//! Cells of source text and spans in them. A span names its cell, so it stays right in later cells.

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
    line_starts: Vec<u32>,
}

/// All sources of a session.
#[derive(Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Source {
    /// A named text.
    pub fn new(name: String, text: String) -> Source {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts =
            std::iter::once(0).chain(newlines.map(|(idx, _)| idx as u32 + 1)).collect();
        Source { name, text, line_starts }
    }

    /// Whether it is a cell, and no module.
    pub fn is_cell(&self) -> bool {
        self.name.starts_with("In[")
    }

    /// Line and column of a byte offset, both from 1, columns in code points.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        let before = self.text.get(start..end).unwrap_or("");
        (line, before.chars().count() + 1)
    }

    /// The text of a line, counted from 1, without its end.
    pub fn line(&self, line: usize) -> &str {
        self.text.lines().nth(line.saturating_sub(1)).unwrap_or("")
    }
}

impl Sources {
    /// Adds a source.
    pub fn add(&mut self, name: String, text: String) -> SourceId {
        self.list.push(Source::new(name, text));
        SourceId(self.list.len() as u32 - 1)
    }

    /// The source of an id; ids come from `add`.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.list.get(id.0 as usize)
    }

    /// Whether any source contains these words.
    pub fn contains(&self, words: &str) -> bool {
        self.list.iter().any(|it| it.text.contains(words))
    }

    /// A place in the latest cell that has one.
    pub fn find_cell(&self, find: impl Fn(&str) -> Option<(usize, usize)>) -> Option<Span> {
        let cells = self.list.iter().enumerate().rev().filter(|(_, it)| it.is_cell());
        cells.into_iter().find_map(|(at, it)| {
            let (start, end) = find(&it.text)?;
            let source = SourceId(at as u32);
            Some(Span { source, start: start as u32, end: end as u32 })
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
