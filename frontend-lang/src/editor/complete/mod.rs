//! Completion: what could stand at the cursor. One kind of completion, one row, one file.

mod argument;
mod attribute;
pub mod file;
mod key;
mod member;
mod module;
mod name;

use std::sync::Arc;

use super::Files;
use super::infer::{Names, infer_text};
use super::outline::Outline;
use super::site::{Site, SiteKind, site};
use super::subject::{Members, Snapshot, Subject};
use super::tokens::is_too_deep;

/// The most completions that are given.
const MOST: usize = 1000;

/// One kind of completion.
pub struct Kind {
    /// What it completes, for readers.
    pub name: &'static str,
    /// Adds what fits, if the place is one of its own.
    find: fn(&Asked<'_>, &mut Found),
}

/// All kinds, best first.
pub static ALL: &[&Kind] = &[
    &argument::KIND,
    &attribute::KIND,
    &key::KIND,
    &member::KIND,
    &module::KIND,
    &name::KIND,
    &file::KIND,
];

/// One completion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// What replaces the text from `Completions::start` to the cursor.
    pub text: String,
    /// `function`, `keyword`, `module`, `param`, `instance`, `path` ...; may be empty.
    pub kind: &'static str,
    /// More to say in a few words: how it is called, its default, its shape; may be empty.
    pub signature: String,
}

/// Completions and what they replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// Best first.
    pub matches: Vec<Completion>,
    /// The first byte that is replaced; the last one is before the cursor.
    pub start: usize,
}

/// What could stand at byte `at` of `text`.
pub fn complete(text: &str, at: usize, snapshot: &Snapshot, files: &dyn Files) -> Completions {
    if is_too_deep(text) {
        return Completions { matches: Vec::new(), start: at };
    }
    let (before, after) = text.split_at(at);
    let Site { start, kind } = site(before);
    if kind == SiteKind::Nothing {
        return Completions { matches: Vec::new(), start: at };
    }
    let here = Here::new(text, at, snapshot);
    let asked = Asked { word: &before[start..], after, kind, here: &here, files };
    let mut found = Found { start, ..Found::default() };
    ALL.iter().for_each(|it| (it.find)(&asked, &mut found));
    if found.matches.is_empty() {
        // Nothing begins so: perhaps but for capitals.
        found.ignores_case = true;
        ALL.iter().for_each(|it| (it.find)(&asked, &mut found));
    }
    found.matches.truncate(MOST);
    Completions { matches: found.matches, start: found.start }
}

/// What names mean at the cursor: those of the text itself, then those of the session.
pub(super) struct Here<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) own: Members,
}

impl<'a> Here<'a> {
    pub(super) fn new(text: &str, at: usize, snapshot: &'a Snapshot) -> Self {
        let own = Outline::new(text, snapshot).names_at(at);
        let fresh = |(name, it): (String, Arc<Subject>)| match snapshot.globals.get(&name) {
            Some(live) if says_no_more(&it, live) => None,
            _ => Some((name, it)),
        };
        Self { snapshot, own: own.into_iter().filter_map(fresh).collect() }
    }
}

/// Whether the text only says again what the session knows better, having run it.
fn says_no_more(written: &Subject, live: &Subject) -> bool {
    match written.kind {
        "instance" => written.type_name.is_empty() || written.type_name == live.type_name,
        "module" => true,
        kind => kind == live.kind && written.source == live.source,
    }
}

impl Names for Here<'_> {
    fn name(&self, name: &str) -> Option<Arc<Subject>> {
        self.own.get(name).cloned().or_else(|| self.snapshot.name(name))
    }
}

/// What a kind of completion is asked.
struct Asked<'a> {
    /// What is written so far.
    word: &'a str,
    /// The text after the cursor.
    after: &'a str,
    kind: SiteKind,
    here: &'a Here<'a>,
    files: &'a dyn Files,
}

impl Asked<'_> {
    /// What an expression means here.
    fn subject(&self, text: &str) -> Option<Arc<Subject>> {
        infer_text(text, self.here)
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    matches: Vec<Completion>,
    start: usize,
    ignores_case: bool,
}

impl Found {
    /// Whether a name may follow from the word.
    fn fits(&self, word: &str, name: &str) -> bool {
        match self.ignores_case {
            false => name.starts_with(word),
            true => name.to_lowercase().starts_with(&word.to_lowercase()),
        }
    }

    fn push(&mut self, text: String, kind: &'static str, signature: String) {
        if self.matches.len() < MOST && !self.matches.iter().any(|it| it.text == text) {
            self.matches.push(Completion { text, kind, signature });
        }
    }

    /// Adds members that fit; those with an underscore in front only when asked for.
    fn members(&mut self, word: &str, members: &Members) {
        let is_public = |name: &str| word.starts_with('_') || !name.starts_with('_');
        let fitting = members.iter().filter(|it| is_public(it.0));
        let fitting: Vec<_> = fitting.filter(|it| self.fits(word, it.0)).take(MOST).collect();
        for (name, subject) in fitting {
            self.push(name.clone(), subject.kind, in_short(name, subject));
        }
    }
}

/// How it is called, or what it is: `Parameter f32[64, 128]`, as annotations say it.
fn in_short(name: &str, subject: &Subject) -> String {
    let signature = subject.signature(name);
    if !signature.is_empty() && subject.kind != "instance" {
        return signature;
    }
    match subject.form.as_str() {
        "" => subject.type_name.clone(),
        form => format!("{} {form}", subject.type_name),
    }
}
