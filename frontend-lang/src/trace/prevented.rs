//! What prevents runs without the body, for `%trace status`.

use std::cell::{Cell, RefCell};

use crate::error::Raised;

/// What a function did in the latest call that was followed in vain; nothing while its graph runs alone, or before it was tried.
#[derive(Default)]
pub(super) struct Prevented {
    problem: RefCell<String>,
    line: Cell<Option<usize>>,
}

impl Prevented {
    /// Notes what was refused, and the line where that is known.
    pub(super) fn note(&self, refused: &Raised, line: Option<usize>) {
        let message = refused.message();
        let problem = message.trim_start_matches("without_host=True: ");
        let problem = problem.trim_start_matches("the function cannot run without its body: ");
        // What follows from it, and the way out, are for those who asked for runs without the body.
        self.say(problem.split([',', ';']).next().unwrap_or(problem), line);
    }

    /// Notes it in words.
    pub(super) fn say(&self, problem: &str, line: Option<usize>) {
        self.problem.replace(problem.to_owned());
        self.line.set(line);
    }

    pub(super) fn clear(&self) {
        self.say("", None);
    }

    /// In words; empty where nothing is known to prevent it.
    pub(super) fn words(&self) -> String {
        self.at_line(": ")
    }

    /// The same where that line is left as it is, and what is around it runs without being interpreted.
    pub(super) fn as_written(&self) -> String {
        self.at_line(" runs as written: ")
    }

    fn at_line(&self, between: &str) -> String {
        let place = self.line.get().map_or_else(String::new, |it| format!("line {it}{between}"));
        format!("{place}{}", self.problem.borrow())
    }
}
