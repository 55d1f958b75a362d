//! What prevents runs without the body, for `%trace status`.

use std::cell::{Cell, RefCell};

use crate::error::Raised;

/// Where a way out ends for those who have not asked for runs without the body.
const OF_THOSE_WHO_ASKED: &str = ", or trace without";

/// What a function did in the latest call that was followed in vain; nothing while its graph runs alone, or before it was tried.
#[derive(Default)]
pub(super) struct Prevented {
    problem: RefCell<String>,
    /// What can be done about it; empty where that is not known.
    way_out: RefCell<String>,
    line: Cell<Option<usize>>,
}

impl Prevented {
    /// Notes what was refused, and the line where that is known.
    pub(super) fn note(&self, refused: &Raised, line: Option<usize>) {
        let message = refused.message();
        let problem = message.trim_start_matches("without_host=True: ");
        let problem = problem.trim_start_matches("the function cannot run without its body: ");
        let mut parts = problem.split(';');
        let cause = parts.next().unwrap_or(problem);
        // What follows from it, and what is for those who asked for runs without the body, is not said.
        let way_out = parts.next().and_then(|it| it.split(OF_THOSE_WHO_ASKED).next());
        self.say(cause.split(',').next().unwrap_or(cause), line);
        self.way_out.replace(way_out.unwrap_or_default().trim().to_owned());
    }

    /// Notes it in words.
    pub(super) fn say(&self, problem: &str, line: Option<usize>) {
        self.problem.replace(problem.to_owned());
        self.way_out.take();
        self.line.set(line);
    }

    pub(super) fn clear(&self) {
        self.say("", None);
    }

    /// In words, with what can be done about it; empty where nothing is known to prevent it.
    pub(super) fn words(&self) -> String {
        let problem = self.at_line(": ");
        match &**self.way_out.borrow() {
            "" => problem,
            way_out => format!("{problem}; {way_out}"),
        }
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
