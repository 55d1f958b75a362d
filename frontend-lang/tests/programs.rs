//! Runs every program in `tests/programs` and compares what it prints with what CPython 3.11 printed
//! (`tests/regenerate.sh` writes the `.out` files).

use std::path::Path;
use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

fn run(code: &str) -> String {
    run_with(code, Level::Off)
}

fn run_with(code: &str, check: Level) -> String {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(code, &Options { check, ..Options::default() });
    let mut out = record.stdout.borrow().clone();
    if let Some(error) = result.error {
        out.push_str(&format!("!! {}\n", error.plain));
    }
    out
}

#[test]
fn the_check_before_running_changes_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "py") {
            continue;
        }
        let code = std::fs::read_to_string(&path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        let printed = run_with(&code, Level::On);
        assert!(printed == expected, "{}\n{}", path.display(), difference(&expected, &printed));
    }
}

#[test]
fn prints_what_cpython_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let only = std::env::var("PROGRAM").ok();
    let mut failures = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|it| it.extension().is_some_and(|it| it == "py")) {
        if only.as_ref().is_some_and(|it| !path.to_string_lossy().contains(it.as_str())) {
            continue;
        }
        count += 1;
        let code = std::fs::read_to_string(path).unwrap();
        let expected = std::fs::read_to_string(path.with_extension("out")).unwrap();
        let printed = run(&code);
        if printed != expected {
            failures.push(format!("=== {}\n{}", path.display(), difference(&expected, &printed)));
        }
    }
    assert!(count > 0, "no programs");
    assert!(failures.is_empty(), "{} of {count} differ\n{}", failures.len(), failures.join("\n"));
}

fn difference(expected: &str, printed: &str) -> String {
    let (a, b): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), printed.lines().collect());
    let at = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let show = |it: &[&str]| {
        it[at.min(it.len())..].iter().take(12).copied().collect::<Vec<_>>().join("\n")
    };
    format!("line {}\n--- CPython\n{}\n--- here\n{}", at + 1, show(&a), show(&b))
}
