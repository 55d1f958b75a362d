//! The parser's tree lowered to ours. What the language leaves out is refused here, by name and with
//! the way out. Parsing cannot fail: it gives a tree and diagnostics.

mod command;
mod expression;
mod parser_words;
mod pattern;
mod statement;
mod syntax;

use ruff_python_ast as py;
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use crate::ast::{Expr, ExprKind, Module, Range};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, Span};
use crate::sym::Sym;

/// Deepest nesting of expressions and blocks.
const DEEPEST: usize = 190;

/// Parses one source; the tree is to be run only if there is no diagnostic.
pub fn parse(text: &str, source: SourceId) -> (Module, Vec<Diagnostic>) {
    let parsed = read(text);
    let mut lower = Lower {
        text,
        source,
        diagnostics: Vec::new(),
        scopes: 1,
        depth: 0,
        yields: vec![false],
        classes: Vec::new(),
    };
    for mistake in syntax::mistakes(text, &parsed) {
        let diagnostic = Diagnostic::error("syntax", lower.span(mistake.range), mistake.message);
        lower.diagnostics.push(Diagnostic { help: mistake.help, ..diagnostic });
    }
    let body = match parsed.syntax() {
        py::Mod::Module(module) if lower.diagnostics.is_empty() => lower.block(&module.body),
        _ => Vec::new(),
    };
    let scopes = lower.scopes;
    (Module { body, scopes }, lower.diagnostics)
}

/// Names that the statements of a text bind, as far as the parser understands it: for texts that are no programs.
pub(crate) fn names_bound(text: &str) -> Vec<(Sym, Range)> {
    let parsed = read(text);
    let py::Mod::Module(module) = parsed.syntax() else { return Vec::new() };
    let mut found = Vec::new();
    for statement in &module.body {
        let mut add = |name: &str, range: TextRange| {
            let (start, end) = (range.start().to_u32(), range.end().to_u32());
            found.push((Sym::new(name), Range { start, end }));
        };
        match statement {
            py::Stmt::Assign(it) => {
                let names = it.targets.iter().filter_map(|it| it.as_name_expr());
                names.for_each(|it| add(&it.id, it.range));
            }
            py::Stmt::FunctionDef(it) => add(&it.name, it.name.range),
            py::Stmt::ClassDef(it) => add(&it.name, it.name.range),
            py::Stmt::Import(it) => {
                for alias in &it.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    add(name.split('.').next().unwrap_or_default(), name.range);
                }
            }
            py::Stmt::ImportFrom(it) => {
                it.names.iter().for_each(|it| {
                    let name = it.asname.as_ref().unwrap_or(&it.name);
                    add(name, name.range);
                });
            }
            _ => {}
        }
    }
    found
}

/// The parser's tree. Only what is no plain code is read with magics in it.
pub(crate) fn read(text: &str) -> Parsed<py::Mod> {
    let plain = parse_unchecked(text, ParseOptions::from(Mode::Module));
    if plain.has_valid_syntax() || !may_have_magics(text) {
        return plain;
    }
    let parse = || parse_unchecked(text, ParseOptions::from(Mode::Ipython));
    std::panic::catch_unwind(parse).unwrap_or(plain)
}

/// Whether a text is to be read with magics in it: then the parser panics at a line that begins oddly and goes on with the one before.
fn may_have_magics(text: &str) -> bool {
    // The line is still at its beginning for the parser after what it does not know.
    let unknown = |it: char| it.is_whitespace() || it.is_control() || it == '\\' || !it.is_ascii();
    let is_odd = |line: &str| {
        let line = line.trim_start_matches(unknown);
        line.starts_with(['?', '/', ';', ',']) || line.starts_with("!!") || line.starts_with("%%")
    };
    // To the parser, a carriage return alone ends a line, too.
    text.contains(['%', '!', '?']) && !text.split(['\n', '\r']).skip(1).any(is_odd)
}

struct Lower<'a> {
    text: &'a str,
    source: SourceId,
    diagnostics: Vec<Diagnostic>,
    scopes: usize,
    depth: usize,
    /// For each enclosing function, whether it yields.
    yields: Vec<bool>,
    /// Names of the classes around, outermost first.
    classes: Vec<String>,
}

impl Lower<'_> {
    fn span(&self, range: TextRange) -> Span {
        Span { source: self.source, start: range.start().to_u32(), end: range.end().to_u32() }
    }

    fn range(&self, node: &impl Ranged) -> Range {
        let range = node.range();
        Range { start: range.start().to_u32(), end: range.end().to_u32() }
    }

    fn source_text(&self, node: &impl Ranged) -> String {
        self.text[node.range()].to_owned()
    }

    fn scope(&mut self) -> usize {
        self.scopes += 1;
        self.scopes - 1
    }

    /// Says that a construct is not in this language, and what to use.
    fn refuse(&mut self, node: &impl Ranged, what: &str, help: &str) {
        let span = self.span(node.range());
        let message = format!("{what} not in this language");
        self.diagnostics.push(Diagnostic::error("not-in-language", span, message).with_help(help));
    }

    fn mistake(&mut self, node: &impl Ranged, message: impl Into<String>) {
        let span = self.span(node.range());
        self.diagnostics.push(Diagnostic::error("syntax", span, message));
    }

    /// True if nesting may go one deeper; says so once if not.
    fn descend(&mut self, node: &impl Ranged) -> bool {
        self.depth += 1;
        if self.depth <= DEEPEST {
            return true;
        }
        if self.depth == DEEPEST + 1 && self.diagnostics.is_empty() {
            self.mistake(node, "this is nested too deeply; name a part of it first");
        }
        false
    }

    fn ascend(&mut self) {
        self.depth -= 1;
    }

    fn placeholder(&self, node: &impl Ranged) -> Expr {
        Expr { range: self.range(node), kind: ExprKind::None }
    }

    fn name(&self, name: &py::Identifier) -> Sym {
        self.mangled(name.as_str())
    }

    /// The name, or for `__private` inside a class `_Class__private`.
    fn mangled(&self, name: &str) -> Sym {
        match self.classes.last().map(|it| it.trim_start_matches('_')) {
            Some(class) if name.starts_with("__") && !name.ends_with("__") && !class.is_empty() => {
                Sym::new(&format!("_{class}{name}"))
            }
            _ => Sym::new(name),
        }
    }
}

/// First letter small, no full stop: the style of messages here.
fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    match (chars.next(), text.chars().nth(1)) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

    use super::may_have_magics;

    /// Texts at which the parser panics when it reads them with magics.
    const ODD: [&str; 7] = [
        "%\nt(]\n,",
        "%\nt(]\r,",
        "%\nt(]\r\n ;",
        "%\nt(]\n\\,",
        "%\nt(]\n\\ ?",
        "%\nt(]\n\u{20ac},",
        "%\nt(]\n\u{c},",
    ];

    #[test]
    fn texts_at_which_the_parser_panics_are_read_without_magics() {
        for text in ODD {
            let panics =
                catch_unwind(|| parse_unchecked(text, ParseOptions::from(Mode::Ipython))).is_err();
            assert!(panics, "{text:?}: the parser has learnt this; it needs no care any more");
            assert!(!may_have_magics(text), "{text:?}");
        }
        assert!(may_have_magics("x = !ls\r\n%time y"));
    }
}
