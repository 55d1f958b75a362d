//! What a name means, as plain data that any thread may read.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Names and what they mean, sorted.
pub(super) type Members = BTreeMap<String, Arc<Subject>>;

/// What a name means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Subject {
    /// `function`, `class`, `module`, `instance`, `keyword`, `magic`, `property`.
    pub(super) kind: &'static str,
    /// The name of its type; empty if that says nothing.
    pub(super) type_name: String,
    /// A short plain form of its value; empty if that says nothing.
    pub(super) shows: String,
    /// As it is called: `gcd(a, b=0)`; empty if it is not called.
    pub(super) signature: String,
    /// Names of the parameters that a call may name.
    pub(super) params: Vec<String>,
    /// Its help text.
    pub(super) doc: String,
    /// Its source text, if it is written in the language.
    pub(super) source: String,
    /// What may follow it after a dot.
    pub(super) members: Arc<Members>,
}

impl Subject {
    /// Help in plain text; with `detail` the source as well.
    pub(super) fn help(&self, detail: u8) -> String {
        let mut text = String::new();
        let mut section = |title: &str, body: &str| match body {
            "" => {}
            _ if body.contains('\n') => text.push_str(&format!("{title}:\n{body}\n")),
            _ => text.push_str(&format!("{:<10} {body}\n", format!("{title}:"))),
        };
        section("Signature", &self.signature);
        section("Type", &self.type_name);
        section("Value", &self.shows);
        match detail {
            0 => section("Help", self.doc.trim()),
            _ if self.source.is_empty() => section("Help", self.doc.trim()),
            _ => section("Source", self.source.trim_end()),
        }
        text
    }
}

/// What is known between two cells.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    /// Names of the session.
    pub(super) globals: Members,
    /// Names that need no import, and keywords.
    pub(super) builtins: Arc<Members>,
    /// What `import` finds, by full name.
    pub(super) modules: Arc<Members>,
    /// Magics, without the `%`.
    pub(super) magics: Arc<Members>,
}

impl Snapshot {
    /// What a dotted name means.
    pub(super) fn find(&self, path: &str) -> Option<Arc<Subject>> {
        let mut parts = path.split('.');
        let first = parts.next()?;
        let mut subject = self.globals.get(first).or_else(|| self.builtins.get(first))?;
        for part in parts {
            subject = subject.members.get(part)?;
        }
        Some(subject.clone())
    }
}
