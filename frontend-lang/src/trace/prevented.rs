//! What prevents runs without the body, for `%trace status`.

use std::cell::RefCell;

use crate::error::Raised;

/// What a function did in the latest call that was followed in vain; nothing while its graph runs alone, or before it was tried.
#[derive(Default)]
pub(super) struct Prevented(RefCell<String>);

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
        let place = line.map_or_else(String::new, |it| format!("line {it}: "));
        self.0.replace(format!("{place}{problem}"));
    }

    pub(super) fn clear(&self) {
        self.0.take();
    }

    /// In words; empty where nothing is known to prevent it.
    pub(super) fn words(&self) -> String {
        self.0.borrow().clone()
    }
}
