//! What stands at the cursor: which kinds of completion make sense there.

use ruff_python_ast::token::TokenKind as T;

use super::tokens::{Tokens, is_too_deep};

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Where the word under the cursor begins; it ends at the cursor.
    pub(super) start: usize,
    pub(super) kind: SiteKind,
}

/// What could stand at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SiteKind {
    /// Nothing known: a comment, a number, a new name.
    Nothing,
    /// A string that is still open, with its quote; as an index, of which expression.
    String { quote: String, of: Option<String> },
    /// A module after `import` or `from`, in the package `within`.
    Module { within: String },
    /// A name of a module: `from module import`.
    Member { module: String },
    /// An attribute of an expression.
    Attribute { of: String },
    /// An index of an expression, or any name.
    Index { of: String },
    /// A name; as a new argument of a call, also a parameter.
    Name { call: Option<Call> },
}

/// A call whose brackets are open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// What is called.
    pub(super) callee: String,
    /// Parameters that are passed by name already.
    pub(super) named: Vec<String>,
    /// How many arguments stand before this one.
    pub(super) given: usize,
}

/// The place at the end of `text`.
pub(super) fn site(text: &str) -> Site {
    let tokens = Tokens::new(text);
    let at = text.len();
    let last = tokens.len().checked_sub(1).filter(|it| tokens.end(*it) == at);
    let nothing = Site { start: at, kind: SiteKind::Nothing };
    let word = match last {
        Some(last) => {
            let kind = tokens.kind(Some(last));
            if let Some((start, quote)) = tokens.open_string(last) {
                return Site { start, kind: string(&tokens, last, quote) };
            }
            if is_closed_to_words(kind) {
                return nothing;
            }
            is_word(tokens.slice(last)).then_some(last)
        }
        None => None,
    };
    let start = word.map_or(at, |it| tokens.start(it));
    let idx = word.unwrap_or(tokens.len());
    Site { start, kind: of_word(&tokens, idx, start) }
}

/// Where the magic line begins that `text` ends in, if it does.
pub fn command(text: &str) -> Option<usize> {
    if is_too_deep(text) {
        return None;
    }
    let tokens = Tokens::new(text);
    let last = tokens.len().checked_sub(1).filter(|it| tokens.end(*it) == text.len())?;
    (tokens.kind(Some(last)) == Some(T::IpyEscapeCommand)).then(|| tokens.start(last))
}

/// What a word that is token `idx` and begins at `at` could be.
fn of_word(tokens: &Tokens<'_>, idx: usize, at: usize) -> SiteKind {
    if let Some(import) = import(tokens, idx) {
        return import;
    }
    let before = idx.checked_sub(1);
    match tokens.kind(before) {
        Some(T::Dot) => {
            let of = before.and_then(|it| it.checked_sub(1));
            let of = of.and_then(|end| Some(tokens.between(tokens.primary(end)?, end)));
            return of.map_or(SiteKind::Nothing, |it| SiteKind::Attribute { of: it.to_owned() });
        }
        Some(T::Def | T::Class | T::As | T::FStringMiddle) => return SiteKind::Nothing,
        // `1.e` is a number on its way.
        Some(T::Int | T::Float) if before.map(|it| tokens.end(it)) == Some(at) => {
            return SiteKind::Nothing;
        }
        _ => {}
    }
    let Some(opener) = tokens.enclosing(idx) else { return SiteKind::Name { call: None } };
    let owner = opener.checked_sub(1).filter(|it| tokens.ends_expression(Some(*it)));
    let begins = before == Some(opener) || tokens.kind(before) == Some(T::Comma);
    match (tokens.kind(Some(opener)), owner) {
        (Some(T::Lpar), Some(owner)) if is_definition(tokens, owner) => {
            if begins {
                SiteKind::Nothing
            } else {
                SiteKind::Name { call: None }
            }
        }
        (Some(T::Lpar), Some(owner)) if begins => {
            let callee = tokens.primary(owner).map(|it| tokens.between(it, owner).to_owned());
            let (named, given) = (tokens.keywords(opener), tokens.arguments(opener, idx));
            SiteKind::Name { call: callee.map(|callee| Call { callee, named, given }) }
        }
        (Some(T::Lsqb), Some(owner)) if before == Some(opener) => match tokens.primary(owner) {
            Some(first) => SiteKind::Index { of: tokens.between(first, owner).to_owned() },
            None => SiteKind::Name { call: None },
        },
        _ => SiteKind::Name { call: None },
    }
}

/// `def name(` or `class name(`: only the first takes new names, but bases are few.
fn is_definition(tokens: &Tokens<'_>, owner: usize) -> bool {
    tokens.kind(owner.checked_sub(1)) == Some(T::Def)
}

fn string(tokens: &Tokens<'_>, idx: usize, quote: &str) -> SiteKind {
    let opener = idx.checked_sub(1).filter(|it| tokens.kind(Some(*it)) == Some(T::Lsqb));
    let owner = opener.and_then(|it| it.checked_sub(1));
    let owner = owner.filter(|it| tokens.ends_expression(Some(*it)));
    let of = owner.and_then(|end| Some(tokens.between(tokens.primary(end)?, end).to_owned()));
    SiteKind::String { quote: quote.to_owned(), of }
}

/// The parts of an import statement.
fn import(tokens: &Tokens<'_>, idx: usize) -> Option<SiteKind> {
    let first = tokens.statement(idx);
    let kind = tokens.kind(Some(first)).filter(|_| first < idx)?;
    let before = tokens.kind(idx.checked_sub(1));
    if !matches!(kind, T::Import | T::From) || before == Some(T::As) {
        return matches!(kind, T::Import | T::From).then_some(SiteKind::Nothing);
    }
    let keyword = (first + 1..idx).find(|it| tokens.kind(Some(*it)) == Some(T::Import));
    if let (T::From, Some(keyword)) = (kind, keyword) {
        let module = tokens.between(first, keyword - 1);
        let module = module.trim_start_matches("from").trim().to_owned();
        let follows = matches!(before, Some(T::Import | T::Comma | T::Lpar));
        return Some(if follows { SiteKind::Member { module } } else { SiteKind::Nothing });
    }
    let mut start = idx;
    while start > first + 1 && matches!(tokens.kind(Some(start - 1)), Some(T::Dot | T::Name)) {
        start -= 1;
    }
    let ends_name = before == Some(T::Name);
    let within = if start == idx { "" } else { tokens.between(start, idx - 1) };
    let within = within.trim_end_matches('.').to_owned();
    Some(if ends_name { SiteKind::Nothing } else { SiteKind::Module { within } })
}

/// Nothing can be completed right after these.
fn is_closed_to_words(kind: Option<T>) -> bool {
    matches!(
        kind,
        Some(
            T::Comment
                | T::String
                | T::FStringStart
                | T::FStringMiddle
                | T::FStringEnd
                | T::Int
                | T::Float
                | T::Complex
                | T::IpyEscapeCommand
        )
    )
}

fn is_word(text: &str) -> bool {
    text.starts_with(|it: char| it == '_' || it.is_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, word: &str, expected: SiteKind) {
        let found = site(text);
        assert_eq!((&text[found.start..], found.kind), (word, expected), "{text}");
    }

    fn name() -> SiteKind {
        SiteKind::Name { call: None }
    }

    fn call(callee: &str, given: usize, named: &[&str]) -> SiteKind {
        let named = named.iter().map(|it| it.to_string()).collect();
        SiteKind::Name { call: Some(Call { callee: callee.into(), named, given }) }
    }

    fn attribute(of: &str) -> SiteKind {
        SiteKind::Attribute { of: of.into() }
    }

    fn string(quote: &str, of: Option<&str>) -> SiteKind {
        SiteKind::String { quote: quote.into(), of: of.map(str::to_owned) }
    }

    #[test]
    fn names_and_calls() {
        check("x = pri", "pri", name());
        check("", "", name());
        check("x\n", "", name());
        check("f(g(1), na", "na", call("f", 1, &[]));
        check("nn.Linear(3, bias=True, de", "de", call("nn.Linear", 2, &["bias"]));
        check("f(a=g(b=1), ", "", call("f", 1, &["a"]));
        check("f(a=", "", name());
        check("f(1 + x", "x", name());
        check("fs[0](x", "x", call("fs[0]", 0, &[]));
        check("f(\n    lr=1,  # rate\n    mo", "mo", call("f", 1, &["lr"]));
        check("return (x", "x", name());
        check("def f(a", "a", SiteKind::Nothing);
        check("def f(a=na", "na", name());
        check("x[pri", "pri", SiteKind::Index { of: "x".into() });
        check("# don't\npri", "pri", name());
    }

    #[test]
    fn attributes() {
        check("a.b.cd", "cd", attribute("a.b"));
        check("é.cd", "cd", attribute("é"));
        check("f(x).", "", attribute("f(x)"));
        check("y = -f(x)[0].cd", "cd", attribute("f(x)[0]"));
        check("'a'.sp", "sp", attribute("'a'"));
        check("[1, 2].ap", "ap", attribute("[1, 2]"));
        check("print(x.sh", "sh", attribute("x"));
        check("f'{x.sh", "sh", attribute("x"));
        check("f'{a} {b[\"c\"].d", "d", attribute("b[\"c\"]"));
        check("1.cd", "cd", SiteKind::Nothing);
        check("if x:\n    import ma", "ma", SiteKind::Module { within: String::new() });
    }

    #[test]
    fn text() {
        check("x = 'pri", "pri", string("'", None));
        check("x = \"\"\"a\nb", "a\nb", string("\"\"\"", None));
        check("d['ke", "ke", string("'", Some("d")));
        check("a.b[0][\"", "", string("\"", Some("a.b[0]")));
        check("load(rb'mo", "mo", string("'", None));
        check("x = 'a' + pri", "pri", name());
        check("x # don", "", SiteKind::Nothing);
        check("f'abc", "", SiteKind::Nothing);
        check("f'{pri", "pri", name());
        check("f'{x!r:>", "", SiteKind::Nothing);
        check("'abc'", "", SiteKind::Nothing);
        check("12", "", SiteKind::Nothing);
    }

    #[test]
    fn commands() {
        let start = |text| command(text);
        assert_eq!(start("%tr"), Some(0));
        assert_eq!(start("%"), Some(0));
        assert_eq!(start("x = 1\n%dump f "), Some(6));
        assert_eq!(start("%%html"), Some(0));
        assert_eq!(start("%trace\nx"), None);
        assert_eq!(start("x = (7\n%tr"), None);
        assert_eq!(start("x %tr"), None);
        assert_eq!(start("'''\n%tr"), None);
    }

    #[test]
    fn imports() {
        let module = |within: &str| SiteKind::Module { within: within.into() };
        let member = |module: &str| SiteKind::Member { module: module.into() };
        check("import ma", "ma", module(""));
        check("import re, torch.n", "n", module("torch"));
        check("import torch.nn.fu", "fu", module("torch.nn"));
        check("from tor", "tor", module(""));
        check("from torch.", "", module("torch"));
        check("from math import s", "s", member("math"));
        check("from torch.nn import (Linear, S", "S", member("torch.nn"));
        check("import torch as t", "t", SiteKind::Nothing);
        check("import math; pri", "pri", name());
    }
}
