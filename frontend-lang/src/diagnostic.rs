//! Diagnostics: what is wrong, where, and what to do; and their rendering.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::ink;
use crate::shown::Notice;
use crate::source::{Sources, Span};

/// One finding about a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// A stable name such as `syntax` or `shape::matmul`.
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// The first label is the primary one.
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
}

/// A span with a remark.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            notes: Vec::new(),
            help: None,
        }
    }

    /// The same, with a next step.
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The diagnostic as text, with ANSI colours if `color`.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let (level, ink) = match self.severity {
            Severity::Error => (Level::ERROR, &ink::ERROR),
            Severity::Warning => (Level::WARNING, &ink::WARNING),
        };
        let mut group = Group::with_title(level.primary_title(self.message.as_str()).id(self.code));
        for label_group in self.by_source() {
            let Some(source) = sources.get(label_group[0].span.source) else { continue };
            let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
            for label in label_group {
                let primary = std::ptr::eq(label, &self.labels[0]);
                let kind = if primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(clamp(label.span, &source.text));
                snippet = snippet.annotation(if label.text.is_empty() {
                    annotation
                } else {
                    annotation.label(label.text.as_str())
                });
            }
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        if color {
            ink.paint_title(ink::renderer().render(&[group]))
        } else {
            Renderer::plain().render(&[group])
        }
    }

    /// The diagnostic as a remark: where and what in one line, and all of it.
    pub fn notice(&self, sources: &Sources) -> Notice {
        let span = self.labels[0].span;
        let line = sources.get(span.source).map_or(0, |it| it.line_column(span.start).0);
        let summary = format!("line {line}: {} ({})", self.message, self.code);
        Notice { summary, text: self.render(sources, false) }
    }

    /// Labels grouped by source, the primary label's source first.
    fn by_source(&self) -> Vec<Vec<&Label>> {
        let mut groups: Vec<Vec<&Label>> = Vec::new();
        for label in &self.labels {
            match groups.iter_mut().find(|it| it[0].span.source == label.span.source) {
                Some(group) => group.push(label),
                None => groups.push(vec![label]),
            }
        }
        groups
    }
}

/// The span as a range of whole characters inside the text.
pub(crate) fn clamp(span: Span, text: &str) -> std::ops::Range<usize> {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(span.start as usize);
    start..floor(span.end as usize).max(start)
}
