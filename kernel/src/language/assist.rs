//! Completion and help from the snapshot that the last cell left.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::handler::{Assist, Bundle, Completeness, Completion, Completions};
use crate::lock::lock;

use super::cursor::{Context, context, subject};
use super::subject::{Members, Snapshot, Subject};

/// The most completions that are given.
const MOST: usize = 500;

/// Answers from the newest snapshot.
pub(super) struct SnapshotAssist {
    snapshot: Mutex<Arc<Snapshot>>,
    is_complete: fn(&str) -> Completeness,
}

impl SnapshotAssist {
    /// Knows nothing yet; `is_complete` needs no session.
    pub(super) fn new(is_complete: fn(&str) -> Completeness) -> Self {
        Self { snapshot: Mutex::default(), is_complete }
    }

    /// Takes over what a cell left.
    pub(super) fn set(&self, snapshot: Snapshot) {
        *lock(&self.snapshot) = Arc::new(snapshot);
    }

    fn get(&self) -> Arc<Snapshot> {
        lock(&self.snapshot).clone()
    }
}

impl Assist for SnapshotAssist {
    fn complete(&self, code: &str, cursor: usize) -> Completions {
        let before = &code[..byte_at(code, cursor)];
        let (word, found) = find(&self.get(), before);
        let matches = found.into_iter().take(MOST);
        let matches = matches.map(|(text, kind)| Completion { text, kind: kind.to_owned() });
        let start = cursor - word.chars().count();
        Completions { matches: matches.collect(), start, end: cursor }
    }

    fn inspect(&self, code: &str, cursor: usize, detail: u8) -> Option<Bundle> {
        let help = self.get().help(code, byte_at(code, cursor), detail)?;
        Some(Bundle::plain(help))
    }

    fn is_complete(&self, code: &str) -> Completeness {
        (self.is_complete)(code)
    }
}

impl Snapshot {
    /// Help on what stands at a byte of the code.
    pub(super) fn help(&self, code: &str, at: usize, detail: u8) -> Option<String> {
        let line_start = code[..at].rfind('\n').map_or(0, |it| it + 1);
        let magic = code[line_start..].trim_start().trim_start_matches('?').strip_prefix('%');
        let found = match magic {
            Some(rest) => {
                let rest = rest.trim_start_matches('%');
                let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_');
                self.magics.get(&rest[..end.unwrap_or(rest.len())])?.clone()
            }
            None => {
                let path = subject(code, at)?;
                self.find(path).or_else(|| self.modules.get(path).cloned())?
            }
        };
        let help = found.help(detail);
        (!help.is_empty()).then_some(help)
    }
}

type Found = BTreeMap<String, &'static str>;

/// The word before the cursor and what it may become.
fn find<'a>(snapshot: &Snapshot, before: &'a str) -> (&'a str, Vec<(String, &'static str)>) {
    let mut found = Found::new();
    let word = match context(before) {
        Context::Text | Context::OfExpression => return ("", Vec::new()),
        Context::Magic { word } => {
            add(&mut found, &snapshot.magics, word);
            word
        }
        Context::Module { word } => {
            add(&mut found, &snapshot.modules, word);
            word
        }
        Context::Member { module, word } => {
            if let Some(module) = snapshot.modules.get(module) {
                add(&mut found, &module.members, word);
            }
            word
        }
        Context::Attribute { of, word } => {
            if let Some(of) = snapshot.find(of) {
                add(&mut found, &of.members, word);
            }
            word
        }
        Context::Name { word, callee } => {
            add(&mut found, &snapshot.globals, word);
            add(&mut found, &snapshot.builtins, word);
            let callee = callee.and_then(|it| snapshot.find(it));
            let params = callee.map(|it| params(&it, word)).unwrap_or_default();
            return (word, params.into_iter().chain(sorted(found, word)).collect());
        }
    };
    (word, sorted(found, word))
}

fn add(found: &mut Found, members: &Members, word: &str) {
    let from = members.range(word.to_owned()..);
    let fitting = from.take_while(|it| it.0.starts_with(word)).take(MOST);
    for (name, subject) in fitting {
        found.entry(name.clone()).or_insert(subject.kind);
    }
}

/// Names with underscores in front come last, and only when asked for.
fn sorted(found: Found, word: &str) -> Vec<(String, &'static str)> {
    found.into_iter().filter(|it| word.starts_with('_') || !it.0.starts_with('_')).collect()
}

fn params(callee: &Subject, word: &str) -> Vec<(String, &'static str)> {
    let fitting = callee.params.iter().filter(|it| it.starts_with(word));
    fitting.map(|it| (format!("{it}="), "param")).collect()
}

fn byte_at(code: &str, cursor: usize) -> usize {
    code.char_indices().nth(cursor).map_or(code.len(), |it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(names: &[(&str, Subject)]) -> Members {
        names.iter().map(|(name, it)| (name.to_string(), Arc::new(it.clone()))).collect()
    }

    fn assist() -> SnapshotAssist {
        let function = Subject {
            kind: "function",
            signature: "double(x, times=2)".to_owned(),
            params: vec!["x".to_owned(), "times".to_owned()],
            doc: "Twice as much.".to_owned(),
            ..Subject::default()
        };
        let plain = Subject { kind: "instance", ..Subject::default() };
        let own = members(&[("split", function.clone()), ("_own", plain.clone())]);
        let words = Subject { members: Arc::new(own), ..plain.clone() };
        let magic = Subject { kind: "magic", doc: "Lists.".to_owned(), ..Subject::default() };
        let assist = SnapshotAssist::new(|_| Completeness::Complete);
        assist.set(Snapshot {
            globals: members(&[("double", function), ("words", words), ("_x", plain.clone())]),
            builtins: Arc::new(members(&[("print", plain)])),
            modules: Arc::new(members(&[
                ("torch", Subject::default()),
                ("torch.nn", Subject::default()),
            ])),
            magics: Arc::new(members(&[("lsmagic", magic)])),
        });
        assist
    }

    fn check(code: &str, expected: &[&str]) {
        let found = assist().complete(code, code.chars().count());
        let texts: Vec<&str> = found.matches.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, expected, "{code}");
    }

    #[test]
    fn completions() {
        check("pr", &["print"]);
        check("words.", &["split"]);
        check("words._", &["_own"]);
        check("words.split.no", &[]);
        check("double(t", &["times="]);
        check("%ls", &["lsmagic"]);
        check("import torch.", &["torch.nn"]);
        check("'pr", &[]);
        check("", &["double", "print", "words"]);
    }

    #[test]
    fn the_cursor_counts_code_points() {
        let found = assist().complete("é = dou # x", 7);
        assert_eq!((found.start, found.end, found.matches[0].text.as_str()), (4, 7, "double"));
    }

    #[test]
    fn help() {
        let assist = assist();
        let help = |code: &str| assist.inspect(code, code.len(), 0).map(|it| it.text().to_owned());
        assert_eq!(
            help("double").unwrap(),
            "Signature: double(x, times=2)\nHelp:      Twice as much.\n"
        );
        assert_eq!(help("words.split("), help("double"));
        assert_eq!(help("%lsmagic").unwrap(), "Help:      Lists.\n");
        assert_eq!(help("nosuchname"), None);
    }
}
