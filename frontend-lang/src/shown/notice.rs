//! A remark beside what a cell shows: a lint, a warning, what a trace did. It is no output of the program.

/// A remark for the user, in one line and in full.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// One line.
    pub summary: String,
    /// All there is to say; the summary itself when that is all.
    pub text: String,
}

impl Notice {
    /// A remark of one line.
    pub fn line(text: impl Into<String>) -> Notice {
        let summary = text.into();
        Notice { text: summary.clone(), summary }
    }

    /// Whether there is more to say than the summary.
    pub fn has_more(&self) -> bool {
        self.text != self.summary
    }
}
