//! Completion and help from the snapshot that the last cell left. Clients count code points, the language bytes.

use std::sync::{Arc, Mutex};

use frontend_lang::editor::Snapshot;
use frontend_lang::editor::is_complete;
use magics::{Artifact, editor};

use crate::handler::{Assist, Bundle, Completeness, Completion, Completions};
use crate::lock::lock;

use super::files::Disk;

/// Answers from the newest snapshot.
#[derive(Default)]
pub(super) struct SnapshotAssist {
    snapshot: Mutex<Arc<Snapshot>>,
}

impl SnapshotAssist {
    /// Takes over what a cell left.
    pub(super) fn set(&self, snapshot: Snapshot) {
        *lock(&self.snapshot) = Arc::new(snapshot);
    }

    /// A cell begins to run, so the names that its text binds are of use.
    pub(super) fn begin(&self, code: &str) {
        let with_names = self.get().with_text(code);
        self.set(with_names);
    }

    fn get(&self) -> Arc<Snapshot> {
        lock(&self.snapshot).clone()
    }
}

impl Assist for SnapshotAssist {
    fn complete(&self, code: &str, cursor: usize) -> Completions {
        let at = byte_at(code, cursor);
        let found = editor::complete(code, at, &self.get(), &Disk);
        let completion = |it: frontend_lang::editor::complete::Completion| Completion {
            text: it.text,
            kind: it.kind.to_owned(),
            signature: it.signature,
        };
        let matches = found.matches.into_iter().map(completion).collect();
        Completions { matches, start: code[..found.start].chars().count(), end: cursor }
    }

    fn inspect(&self, code: &str, cursor: usize, detail: u8) -> Option<Bundle> {
        let help = editor::inspect(code, byte_at(code, cursor), detail, &self.get())?;
        Some(super::forms(&Artifact::Help(help)))
    }

    fn is_complete(&self, code: &str) -> Completeness {
        match is_complete::completeness(code) {
            is_complete::Completeness::Complete => Completeness::Complete,
            is_complete::Completeness::Incomplete { indent } => Completeness::Incomplete { indent },
            is_complete::Completeness::Invalid => Completeness::Invalid,
        }
    }
}

fn byte_at(code: &str, cursor: usize) -> usize {
    code.char_indices().nth(cursor).map_or(code.len(), |it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_counts_code_points() {
        let assist = SnapshotAssist::default();
        let code = "é = '🙂ß'\npri # x";
        let found = assist.complete(code, 12);
        assert_eq!((found.start, found.end), (9, 12));
        assert_eq!(found.matches[0].text, "print");
        let help = assist.inspect(code, 12, 0).map(|it| it.text().to_owned());
        assert_eq!(help, None);
        let help = assist.inspect("'🙂', print(", 11, 0).unwrap();
        assert!(help.text().starts_with("Signature: print("), "{}", help.text());
        assert!(help.data["text/html"].as_str().unwrap().contains("print("));
    }
}
