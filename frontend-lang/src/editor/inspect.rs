//! What stands at the cursor, and help on it.

use std::sync::Arc;

use ruff_python_ast::token::TokenKind as T;

use super::complete::Here;
use super::help::{Help, help};
use super::infer::infer_text;
use super::site::{Site, SiteKind, site};
use super::subject::{Snapshot, Subject};
use super::tokens::{Tokens, is_too_deep};

/// Help on what stands at byte `at` of `text`, else on the innermost call around it. `name?` asks as the cell would.
pub fn inspect(text: &str, at: usize, detail: u8, snapshot: &Snapshot) -> Option<Help> {
    if is_too_deep(text) {
        return None;
    }
    let here = Here::new(text, at, snapshot);
    let (from, to) = line(text, at);
    if let Some((name, marks)) = question(&text[from..to]) {
        return help_on(name, detail.max(u8::from(marks > 1)), &here);
    }
    let end = at + text[at..].find(|it| !is_word(it)).unwrap_or(text.len() - at);
    let tokens = Tokens::new(&text[..end]);
    let last = tokens.len().checked_sub(1).filter(|it| tokens.end(*it) == end);
    if let Some(last) = last {
        if tokens.kind(Some(last)) == Some(T::Comment)
            || tokens.kind(Some(last)) == Some(T::IpyEscapeCommand)
        {
            return None;
        }
        let found = at_token(&tokens, last, &text[end..], detail, &here);
        if found.is_some() {
            return found;
        }
    }
    around(&tokens, detail, &here)
}

/// Help on an expression.
pub fn help_on_text(name: &str, detail: u8, snapshot: &Snapshot) -> Option<Help> {
    help_on(name, detail, &Here::new("", 0, snapshot))
}

fn help_on(name: &str, detail: u8, here: &Here<'_>) -> Option<Help> {
    let subject = infer_text(name, here).or_else(|| here.snapshot.module(name))?;
    some(&subject, name, detail)
}

fn some(subject: &Subject, name: &str, detail: u8) -> Option<Help> {
    let own = name.rsplit('.').next().unwrap_or(name);
    let found = help(subject, own, detail);
    (!found.sections.is_empty()).then_some(found)
}

/// Help on the name that ends with token `last`, on a parameter, or on the call that ends there.
fn at_token(
    tokens: &Tokens<'_>,
    last: usize,
    after: &str,
    detail: u8,
    here: &Here<'_>,
) -> Option<Help> {
    let kind = tokens.kind(Some(last));
    if kind == Some(T::Equal) {
        return last.checked_sub(1).and_then(|it| parameter(tokens, it, here));
    }
    if kind == Some(T::Rpar) {
        let first = tokens.primary(last)?;
        let opener = tokens.enclosing(last)?.max(first);
        let end = opener.checked_sub(1).filter(|it| *it >= first)?;
        return help_on(tokens.between(first, end), detail, here);
    }
    if !tokens.is_name(Some(last)) {
        return None;
    }
    let is_argument = after.trim_start().strip_prefix('=').is_some_and(|it| !it.starts_with('='));
    if is_argument && let Some(found) = parameter(tokens, last, here) {
        return Some(found);
    }
    let name = tokens.slice(last);
    let Site { kind, .. } = site(&tokens.text[..tokens.end(last)]);
    let found = match kind {
        SiteKind::Member { module } => here.snapshot.module(&module)?.member(name),
        SiteKind::Module { within } if within.is_empty() => here.snapshot.module(name),
        SiteKind::Module { within } => here.snapshot.module(&format!("{within}.{name}")),
        _ => infer_text(tokens.between(tokens.primary(last)?, last), here),
    };
    some(&*found?, name, detail)
}

/// Help on the parameter that token `name` names in a call.
fn parameter(tokens: &Tokens<'_>, name: usize, here: &Here<'_>) -> Option<Help> {
    let opener = tokens.enclosing(name)?;
    let begins = name == opener + 1 || tokens.kind(name.checked_sub(1)) == Some(T::Comma);
    let callee = begins.then(|| callee(tokens, opener, here)).flatten()?;
    let param = callee.1.params().into_iter().find(|it| it.name == tokens.slice(name))?;
    let mut found = Help::default();
    found.add("Parameter", param.text(), true);
    found.add("Of", callee.1.signature(callee.0), true);
    Some(found)
}

/// What is called with the bracket `opener`, and its text.
fn callee<'a>(
    tokens: &Tokens<'a>,
    opener: usize,
    here: &Here<'_>,
) -> Option<(&'a str, Arc<Subject>)> {
    let owner = opener.checked_sub(1).filter(|it| tokens.ends_expression(Some(*it)))?;
    let text = tokens.between(tokens.primary(owner)?, owner);
    let subject = infer_text(text, here).filter(|it| it.is_callable())?;
    Some((text.rsplit('.').next().unwrap_or(text), subject))
}

/// Help on the innermost call around the end whose function is known.
fn around(tokens: &Tokens<'_>, detail: u8, here: &Here<'_>) -> Option<Help> {
    let mut at = tokens.len();
    while let Some(opener) = tokens.enclosing(at) {
        if tokens.kind(Some(opener)) == Some(T::Lpar)
            && let Some((name, subject)) = callee(tokens, opener, here)
        {
            return some(&subject, name, detail);
        }
        at = opener;
    }
    None
}

/// The name in `?name`, `name?` and `name??`, and how many marks.
pub fn question(line: &str) -> Option<(&str, usize)> {
    let line = line.trim();
    let name = line.trim_matches('?').trim();
    let marks = line.len() - line.trim_matches('?').len();
    let is_name = !name.is_empty() && name.chars().all(|it| is_word(it) || it == '.');
    (marks > 0 && is_name).then_some((name, marks))
}

/// Ends of the line around a place.
fn line(text: &str, at: usize) -> (usize, usize) {
    let from = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let to = text[at..].find('\n').map_or(text.len(), |it| at + it);
    (from, to)
}

fn is_word(it: char) -> bool {
    it == '_' || it.is_alphanumeric()
}
