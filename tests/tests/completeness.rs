//! Whether a cell is whole: every beginning of every cell of the specs, beside CPython.
//!
//! Skipped, with a message, where there is no `python3` of version 3.11 or later.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use frontend_lang::editor::is_complete::{Completeness, completeness};
use tests::spec::{Cell, cells};

/// The beginnings of a cell.
struct Beginnings {
    place: String,
    is_refused: bool,
    texts: Vec<String>,
}

#[test]
fn beginnings_of_all_spec_cells_agree_with_cpython() {
    if !has_python() {
        return skipped();
    }
    let all = beginnings();
    let count: usize = all.iter().map(|it| it.texts.len()).sum();
    assert!(count > 5000, "only {count} beginnings");
    let mut wrong = Vec::new();
    for (cell, expected) in all.iter().zip(ask(&all)) {
        // Syntax that is newer than this CPython.
        let is_newer = expected.last().is_some_and(|it| it.0 == "invalid") && !cell.is_refused;
        for (text, expected) in cell.texts.iter().zip(expected).filter(|_| !is_newer) {
            let found = answer(text);
            if found != expected {
                let place = &cell.place;
                wrong.push(format!("{place}: CPython {expected:?}, here {found:?}\n{text}\n----"));
            }
        }
    }
    let shown = wrong.iter().take(12).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count}:\n{shown}", wrong.len());
}

fn answer(text: &str) -> (String, String) {
    match completeness(text) {
        Completeness::Complete => ("complete".to_owned(), String::new()),
        Completeness::Incomplete { indent } => ("incomplete".to_owned(), indent),
        Completeness::Invalid => ("invalid".to_owned(), String::new()),
    }
}

/// Every whole cell of every spec is complete, unless it is there to show a syntax error; magics are the language's own.
#[test]
fn whole_cells_are_complete() {
    let mut wrong = Vec::new();
    for (page, cell) in all_cells() {
        let text = format!("{}\n\n", cell.text);
        if !is_refused(&cell) && completeness(&text) != Completeness::Complete {
            wrong.push(format!("{page}:{}: {:?}\n{}", cell.line, completeness(&text), cell.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Texts up to each end of a line, with and without it; the whole cell last.
fn beginnings() -> Vec<Beginnings> {
    let mut all = Vec::new();
    for (page, cell) in all_cells() {
        let is_magic = |it: &str| it.starts_with(['%', '!', '?']) || it.trim_end().ends_with('?');
        let text = cell.text.trim_end();
        // CPython has nothing to say of these.
        if text.lines().any(is_magic) || text.starts_with("# only here") {
            continue;
        }
        let ends = text.match_indices('\n').map(|it| it.0).chain([text.len()]);
        let texts = ends.flat_map(|end| [text[..end].to_owned(), format!("{}\n", &text[..end])]);
        let (place, is_refused) = (format!("{page}:{}", cell.line), is_refused(&cell));
        all.push(Beginnings { place, is_refused, texts: texts.collect() });
    }
    all
}

/// Whether the spec says that the cell does not parse.
fn is_refused(cell: &Cell) -> bool {
    let names = ["SyntaxError", "IndentationError"];
    cell.error.as_ref().is_some_and(|it| names.contains(&it.1.as_str()))
}

fn all_cells() -> Vec<(String, Cell)> {
    let mut pages = Vec::new();
    pages_below(&folder().join("specs"), &mut pages);
    pages.sort();
    let mut all = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        let name = page.file_name().expect("a name").to_string_lossy().into_owned();
        all.extend(cells(&text).into_iter().map(|it| (name.clone(), it)));
    }
    all
}

fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the specs").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => pages_below(&path, pages),
            false if path.extension().is_some_and(|it| it == "md") => pages.push(path),
            false => {}
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// What CPython says of each: status and indent.
fn ask(all: &[Beginnings]) -> Vec<Vec<(String, String)>> {
    let texts: Vec<&[String]> = all.iter().map(|it| it.texts.as_slice()).collect();
    let mut python = Command::new("python3")
        .arg(folder().join("expected/completeness.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    let mut stdin = python.stdin.take().expect("a pipe");
    let asked = serde_json::to_vec(&texts).expect("texts");
    let writer = std::thread::spawn(move || stdin.write_all(&asked));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("python3 reads");
    serde_json::from_slice(&output.stdout).expect("lists of pairs")
}

fn has_python() -> bool {
    let asks = "import sys; sys.exit(sys.version_info < (3, 11))";
    Command::new("python3").args(["-c", asks]).status().is_ok_and(|it| it.success())
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn skipped() {
    println!("skipped: the comparison of unfinished cells needs python3 of version 3.11 or later");
}
