//! Runs every program of `tests/torch` and compares what it prints with what PyTorch printed (`tests/expected/generate_torch_programs.py`).
//! Numbers agree within 1e-6 of their size; everything else is the same text.

use std::path::Path;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const TOLERANCE: f64 = 1e-6;

fn run(code: &str) -> String {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(code, &Options::default());
    let mut out = record.stdout.borrow().clone();
    if let Some(error) = result.error {
        out.push_str(&format!("!! {}\n", error.plain));
    }
    out
}

fn number(word: &str) -> Option<f64> {
    word.trim_matches([',', '[', ']', '(', ')']).parse().ok()
}

fn words_agree(expected: &str, printed: &str) -> bool {
    let near = |a: f64, b: f64| {
        (a - b).abs() <= TOLERANCE * (1.0 + a.abs()) || a == b || a.is_nan() && b.is_nan()
    };
    expected == printed
        || matches!((number(expected), number(printed)), (Some(a), Some(b)) if near(a, b))
}

fn lines_agree(expected: &str, printed: &str) -> bool {
    let (a, b) = (expected.split_whitespace(), printed.split_whitespace());
    a.clone().count() == b.clone().count() && a.zip(b).all(|(a, b)| words_agree(a, b))
}

/// The first line that differs, with the heading above it.
fn difference(expected: &str, printed: &str) -> Option<String> {
    let mut heading = "";
    let mut others = printed.lines();
    for (at, line) in expected.lines().enumerate() {
        heading = if line.starts_with('#') { line } else { heading };
        let other = others.next().unwrap_or("(nothing)");
        if !lines_agree(line, other) {
            let rest: Vec<&str> = others.take(30).collect();
            let rest = if other.starts_with("!!") { rest.join("\n") } else { String::new() };
            return Some(format!(
                "line {}, {heading}\nPyTorch: {line}\nhere:    {other}\n{rest}",
                at + 1
            ));
        }
    }
    others.next().map(|it| format!("more is printed: {it}"))
}

#[test]
fn programs_print_what_pytorch_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("torch");
    let common = std::fs::read_to_string(folder.join("common.py")).expect("common.py");
    let only = std::env::var("PROGRAM").ok();
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("programs")
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| it == "py") && !it.ends_with("common.py"))
        .filter(|it| only.as_ref().is_none_or(|only| it.to_string_lossy().contains(only)))
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "no programs");
    let mut wrong = Vec::new();
    for path in paths {
        let program = std::fs::read_to_string(&path).expect("a program");
        let expected = std::fs::read_to_string(path.with_extension("out")).expect("its output");
        if let Some(found) = difference(&expected, &run(&format!("{common}\n{program}"))) {
            wrong.push(format!("{}: {found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn differences_are_noticed() {
    assert!(difference("a 1.0 2\nb", "a 1.0000001 2\nb").is_none());
    assert!(difference("a 1.0", "a 1.00001").is_some());
    assert!(difference("a 1.0", "b 1.0").is_some());
    assert!(difference("a\nb", "a").is_some());
    assert!(difference("a", "a\nb").is_some());
    assert!(difference("nan inf [-0.0]", "nan inf [0.0]").is_none());
}
