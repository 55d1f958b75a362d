//! Beside CPython: the pages of the language say what it shows, and programs made at random print the same.
//!
//! Skipped, with a message, where there is no `python3` of version 3.11 or later.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};
use serde_json::Value as Json;

/// Programs in one run of the tests; `NOTEGRAD_PROGRAMS` asks for more, `NOTEGRAD_SEED` for others.
const PROGRAMS: &str = "1000";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The interpreter to compare with, if there is one that fits.
fn python() -> Option<&'static str> {
    let asks = "import sys; sys.exit(sys.version_info < (3, 11))";
    let fits = Command::new("python3").args(["-c", asks]).status().is_ok_and(|it| it.success());
    fits.then_some("python3")
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn skipped(what: &str) {
    println!("skipped: {what} needs python3 of version 3.11 or later");
}

#[test]
fn pages_of_the_language_agree_with_cpython() {
    let Some(python) = python() else { return skipped("the comparison of the pages") };
    let script = folder().join("expected/language_specs.py");
    let run = Command::new(python).arg(script).output().expect("python3 runs");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}\n{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn random_programs_print_what_cpython_prints() {
    let Some(python) = python() else { return skipped("the comparison of random programs") };
    let set = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let (seed, count) = (set("NOTEGRAD_SEED", "1"), set("NOTEGRAD_PROGRAMS", PROGRAMS));
    let script = folder().join("differential/generate.py");
    let run = Command::new(python)
        .arg(script)
        .args(["--seed", &seed, "--count", &count])
        .output()
        .expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let programs: Vec<Json> = serde_json::from_slice(&run.stdout).expect("a list of programs");
    assert_eq!(programs.len().to_string(), count);
    let mut wrong = Vec::new();
    for program in &programs {
        let (code, expected) = (text(program, "code"), text(program, "output"));
        let printed = printed(code);
        if printed != expected {
            wrong.push(format!("{}\n{code}", difference(expected, &printed)));
        }
    }
    let shown = wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} programs of seed {seed}:\n{shown}", wrong.len());
}

fn text<'a>(program: &'a Json, key: &str) -> &'a str {
    program[key].as_str().expect("a string")
}

/// What a program prints in a session of its own, and the error at its end.
fn printed(code: &str) -> String {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(code, &Options { silent: true, ..Options::default() });
    let mut out = record.stdout.borrow().clone();
    if let Some(error) = result.error {
        out.push_str(&format!("!! {}: {}\n", error.ename, error.evalue));
    }
    out
}

fn difference(expected: &str, printed: &str) -> String {
    let lines = expected.lines().zip(printed.lines());
    match lines.clone().find(|(a, b)| a != b) {
        Some((a, b)) => format!("--- CPython\n{a}\n--- here\n{b}"),
        None => format!("--- one is longer\n{expected}\n--- here\n{printed}"),
    }
}
