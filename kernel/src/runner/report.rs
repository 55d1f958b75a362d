//! What a run of all cells ends with: how many ran, which failed, and what made the first of them fail.
//!
//! A cell that lacks a name which a failed cell was to bind follows from that cell.

use crate::handler::Failure;

use super::message;

/// The cells that ran, and those of them that failed.
#[derive(Default)]
pub(super) struct Report {
    ran: usize,
    failed: Vec<Failed>,
}

struct Failed {
    /// Its place in the notebook, from 1.
    number: usize,
    /// Its text.
    source: String,
    /// What went wrong, in one line.
    words: String,
    /// The failed cell that it follows from, by its place in `failed`.
    cause: Option<usize>,
}

/// Characters of a line that are shown.
const WIDTH: usize = 60;

impl Report {
    /// A cell ran.
    pub(super) fn ran(&mut self) {
        self.ran += 1;
    }

    /// A cell failed; `number` is its place in the notebook, from 1.
    pub(super) fn failed(&mut self, number: usize, source: &str, failure: &Failure) {
        self.ran += 1;
        let missing = missing_name(failure);
        let cause = missing.and_then(|name| {
            let at = self.failed.iter().rposition(|it| binds(&it.source, name))?;
            // What that one follows from is the cause of both.
            Some(self.failed[at].cause.unwrap_or(at))
        });
        let failed = Failed { number, source: source.to_owned(), words: message(failure), cause };
        self.failed.push(failed);
    }

    /// How many cells failed.
    pub(super) fn n_failed(&self) -> usize {
        self.failed.len()
    }

    /// The table: each first cause with the cells that follow from it.
    pub(super) fn text(&self) -> String {
        let failed = self.n_failed();
        let cells = if self.ran == 1 { "cell" } else { "cells" };
        let mut text = format!("{} {cells} ran, {failed} failed\n", self.ran);
        for (at, first) in self.failed.iter().enumerate().filter(|it| it.1.cause.is_none()) {
            text += &format!("  cell {}: {}\n", first.number, first.line());
            text += &format!("      {}\n", shortened(&first.words));
            let following: Vec<String> = self
                .failed
                .iter()
                .filter(|it| it.cause == Some(at))
                .map(|it| format!("{} ({})", it.number, shortened(&it.words)))
                .collect();
            if !following.is_empty() {
                let cells = if following.len() == 1 { "cell" } else { "cells" };
                text += &format!("      from it follows {cells} {}\n", following.join(", "));
            }
        }
        text
    }
}

impl Failed {
    /// Its first line of code.
    fn line(&self) -> String {
        let lines = || self.source.lines().map(str::trim).filter(|it| !it.is_empty());
        let code = lines().find(|it| !it.starts_with('#')).or_else(|| lines().next());
        shortened(code.unwrap_or_default())
    }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// The name that a failed cell did not find.
fn missing_name(failure: &Failure) -> Option<&str> {
    if failure.ename != "NameError" {
        return None;
    }
    let rest = failure.evalue.split_once("name '")?.1;
    rest.split('\'').next()
}

/// Whether a text binds a name: by an assignment, an import, a definition, a loop or `with`. Lines are looked at one by one, which is
/// enough to tell what follows from what.
fn binds(source: &str, name: &str) -> bool {
    source.lines().map(str::trim).any(|line| line_binds(line, name))
}

fn line_binds(line: &str, name: &str) -> bool {
    let has_word =
        |text: &str| text.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == name);
    let is_target = |it: &str| {
        let bare = it.split(':').next().unwrap_or_default();
        bare.trim_matches([' ', '(', ')', '[', ']', '*']) == name
    };
    if line.contains(&format!("{name} :=")) {
        return true;
    }
    match line.split_whitespace().next().unwrap_or_default() {
        "def" | "class" => line.split(['(', ':']).next().is_some_and(has_word),
        "for" => line.split(" in ").next().is_some_and(has_word),
        "from" => line.split_once(" import ").is_some_and(|it| has_word(it.1)),
        "import" | "with" => has_word(line),
        _ if line.contains("==") => false,
        _ => {
            let parts: Vec<&str> = line.split('=').collect();
            let targets = &parts[..parts.len() - 1];
            targets.iter().flat_map(|it| it.split(',')).any(is_target)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cells_bind() {
        for (source, name, expected) in [
            ("x = 1", "x", true),
            ("x, y = f(z)", "y", true),
            ("x, y = f(z)", "z", false),
            ("a = b = 3", "b", true),
            ("x == 1", "x", false),
            ("import numpy as np", "np", true),
            ("from torch import nn, optim", "optim", true),
            ("def f(x):\n    return x", "f", true),
            ("def f(x):\n    return x", "x", false),
            ("class Net(nn.Module):", "Net", true),
            ("class Net(nn.Module):", "nn", false),
            ("for batch in loader:", "batch", true),
            ("with open(p) as file:", "file", true),
            ("if (n := len(a)) > 1:", "n", true),
            ("net.fc = 3", "fc", false),
            ("print(x=3)", "x", false),
            ("x: int = 3", "x", true),
            ("(a, *b), c = d", "b", true),
            ("from torch import nn", "torch", false),
            ("for i in rows:", "rows", false),
        ] {
            assert_eq!(binds(source, name), expected, "{source}: {name}");
        }
    }

    #[test]
    fn what_follows_stands_with_its_first_cause() {
        let mut report = Report::default();
        let name = |it: &str| Failure::new("NameError", format!("name '{it}' is not defined"));
        report.ran();
        report.failed(
            2,
            "# data\nimport pandas as pd\n",
            &Failure::new("ModuleNotFoundError", "No module"),
        );
        report.failed(3, "df = pd.read_csv(path)", &name("pd"));
        report.failed(5, "df.head()", &name("df"));
        report.failed(6, "1 / 0", &Failure::new("ZeroDivisionError", "division by zero"));
        report.failed(7, "other", &name("other"));
        assert_eq!(
            report.text(),
            "6 cells ran, 5 failed\n  \
             cell 2: import pandas as pd\n      ModuleNotFoundError: No module\n      \
             from it follows cells 3 (NameError: name 'pd' is not defined), 5 (NameError: name 'df' is not defined)\n  \
             cell 6: 1 / 0\n      ZeroDivisionError: division by zero\n  \
             cell 7: other\n      NameError: name 'other' is not defined\n"
        );
    }
}
