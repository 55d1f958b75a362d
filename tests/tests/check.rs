//! The check before running over everything in the tree: with it and without it, every cell shows the same and leaves the same behind.
//!
//! A cell that the check refuses is run again without it, and must then end with the error that the check has shown. So each refusal is
//! seen to be right, and seen to have changed nothing.

use std::path::{Path, PathBuf};

use frontend_lang::check::Level;
use tests::spec::{Runner, cells};

/// What the user reads below an error that the check has found.
const FOUND: &str = "\nFound before the cell ran";

/// Cells that say whether or when they are checked, or measure time.
const OF_THE_CHECK: &[&str] = &["%check", "Notegrad.check", "%prun"];

/// Cells of notebooks that show what was measured, which differs from run to run.
const MEASURES: &[&str] = &["%fastrun", "%mem", "%prun", "%time", "status"];

/// What one cell gave.
#[derive(PartialEq)]
struct Seen {
    shown: String,
    error: Option<String>,
    names: String,
}

/// Runs cells in a session of their own, whose random numbers start anew.
fn run(cells: &[String], level: Level) -> (Vec<Seen>, Vec<String>) {
    let cells = cells.to_vec();
    let session = move || {
        let mut runner = Runner::with_check(level);
        for folder in data_folders() {
            for path in std::fs::read_dir(folder).expect("data").flatten() {
                let name = format!("data/{}", path.file_name().to_string_lossy());
                runner.give_file(&name, std::fs::read(path.path()).expect("a file"));
            }
        }
        let mut warnings = Vec::new();
        let seen = cells.iter().map(|cell| run_cell(&mut runner, cell, level, &mut warnings));
        (seen.collect(), warnings)
    };
    std::thread::Builder::new()
        .stack_size(64 << 20)
        .spawn(session)
        .expect("a thread")
        .join()
        .expect("no panic")
}

fn run_cell(runner: &mut Runner, cell: &str, level: Level, warnings: &mut Vec<String>) -> Seen {
    let (mut shown, mut error) = runner.transcript(cell);
    let found = error.as_ref().and_then(|it| it.split_once(FOUND)).map(|it| it.0.to_owned());
    if let Some(found) = found {
        runner.set_check(Level::Off);
        let again = runner.transcript(cell);
        runner.set_check(level);
        let real = again.1.as_deref().map(as_first);
        if real != Some(as_first(&found)) {
            warnings.push(format!("found\n{found}\n--- but it ends with\n{real:?}\n{cell}"));
        }
        (shown, error) = again;
    }
    let error = error.map(|it| as_first(&it));
    // Some cells show what is warned of.
    if cell.contains("# shows: warning[") {
        shown.clear();
    }
    let is_warning = |it: &&str| it.starts_with("warning[");
    warnings.extend(shown.lines().filter(is_warning).map(|it| format!("{it}\n{cell}")));
    let address = |it: char| it.is_ascii_hexdigit();
    let names = without(&runner.names(), "0x", address);
    // How many calls there were till a choice was made depends on how long they took.
    let counts = |it: char| it.is_ascii_digit() || " of".contains(it);
    let shown = without(&without(&shown, "0x", address), "the path of ", counts);
    Seen { shown, error, names }
}

/// An error without the numbers of cells, which a second run counts on, without what memory is in use for, where the tests that run
/// beside this one have their tensors too, and without where tensors were made, which the check cannot tell of those that the cell itself
/// makes.
fn as_first(error: &str) -> String {
    let text = without(&unmade(error), "In[", |it| it.is_ascii_digit());
    let text = without(&text, " asked for, ", |it| it != '\n');
    without(&text, " more are wanted; ", |it| it.is_ascii_digit() || it == '.')
}

/// A text without `, made by cell 3, line 7`.
fn unmade(text: &str) -> String {
    let digit = |it: char| it.is_ascii_digit();
    let mut parts = text.split(", made by cell ");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = |it: &str| {
        let it = it.trim_start_matches(digit).trim_start_matches(", line ");
        it.trim_start_matches(digit).to_owned()
    };
    parts.fold(first, |text, it| text + &rest(it))
}

/// A text without what follows a mark and is `noise`.
fn without(text: &str, mark: &str, noise: fn(char) -> bool) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, it| text + mark + it.trim_start_matches(noise))
}

/// Where cells with and without the check differ.
fn differences(name: &str, texts: &[String]) -> Vec<String> {
    let (with, warnings) = run(texts, Level::Early);
    let (without, _) = run(texts, Level::Off);
    let mut wrong: Vec<String> = warnings.iter().map(|it| format!("{name}: {it}")).collect();
    for ((cell, with), without) in texts.iter().zip(&with).zip(&without) {
        if with.shown != without.shown {
            wrong.push(format!(
                "{name}: shown\n{cell}\n--- with\n{}\n--- without\n{}",
                with.shown, without.shown
            ));
        }
        if with.error != without.error {
            wrong.push(format!(
                "{name}: error\n{cell}\n--- with\n{:?}\n--- without\n{:?}",
                with.error, without.error
            ));
        }
        if with.names != without.names {
            wrong.push(format!(
                "{name}: names\n{cell}\n--- with\n{}\n--- without\n{}",
                with.names, without.names
            ));
        }
    }
    wrong
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folders of the course, one for each notebook, sorted.
fn course() -> Vec<PathBuf> {
    let folder = root().join("notebooks/course/source");
    let mut folders: Vec<_> =
        std::fs::read_dir(folder).expect("the course").flatten().map(|it| it.path()).collect();
    folders.sort();
    folders
}

/// What notebooks read, each from `data` beside it; no two hold data of one name.
fn data_folders() -> Vec<PathBuf> {
    let beside = course().into_iter().map(|it| it.join("data")).filter(|it| it.is_dir());
    [root().join("notebooks/data")].into_iter().chain(beside).collect()
}

/// The files of a folder with an ending, sorted.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    files_of(&root().join(folder), ending)
}

fn files_of(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|it| it.path());
    let mut files: Vec<_> =
        entries.filter(|it| it.extension().is_some_and(|it| it == ending)).collect();
    files.sort();
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a text")
}

#[test]
fn the_specs_are_the_same_with_and_without() {
    let mut wrong = Vec::new();
    for folder in ["tests/specs", "tests/specs/language", "tests/specs/mistakes"] {
        for path in files(folder, "md") {
            let texts: Vec<String> = cells(&read(&path))
                .into_iter()
                .map(|it| it.text)
                .filter(|it| !OF_THE_CHECK.iter().any(|mark| it.contains(mark)))
                .collect();
            wrong.extend(differences(&path.display().to_string(), &texts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Programs made at random, with and without; `NOTEGRAD_PROGRAMS` asks for more than the few of one run.
#[test]
fn random_programs_are_the_same_with_and_without() {
    let mut wrong = Vec::new();
    for (at, program) in random_programs("generate.py").iter().enumerate() {
        let code = program["code"].as_str().expect("code").to_owned();
        wrong.extend(differences(&format!("program {at}"), &[code]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Programs that change things by ways that no check can follow, and then need the change.
#[test]
fn no_random_program_is_refused_that_runs() {
    let mut wrong = Vec::new();
    let programs = random_programs("effects.py");
    for (at, program) in programs.iter().enumerate() {
        let cells = program["cells"].as_array().expect("cells").iter();
        let cells: Vec<String> = cells.map(|it| it.as_str().expect("code").to_owned()).collect();
        let (_, warnings) = run(&cells, Level::Early);
        let refused = warnings.into_iter().filter(|it| it.starts_with("found\n"));
        wrong.extend(refused.map(|it| format!("program {at}: {it}")));
    }
    println!("{} programs, {} refused that run", programs.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What a script in `tests/differential` makes; nothing where there is no Python.
fn random_programs(script: &str) -> Vec<serde_json::Value> {
    let set = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.into());
    let script = root().join("tests/differential").join(script);
    let arguments =
        ["--seed", &set("NOTEGRAD_SEED", "3"), "--count", &set("NOTEGRAD_PROGRAMS", "200")];
    let Ok(run) = std::process::Command::new("python3").arg(script).args(arguments).output() else {
        return Vec::new();
    };
    serde_json::from_slice(&run.stdout).expect("programs")
}

#[test]
fn programs_are_the_same_with_and_without() {
    let common = read(&root().join("tests/torch/common.py"));
    let mut wrong = Vec::new();
    for path in files("tests/torch", "py") {
        if !path.ends_with("common.py") {
            wrong.extend(differences(
                &path.display().to_string(),
                &[format!("{common}\n{}", read(&path))],
            ));
        }
    }
    let of_the_course = course().into_iter().flat_map(|it| files_of(&it, "ipynb"));
    for path in files("notebooks", "ipynb").into_iter().chain(of_the_course) {
        let notebook = notebooks::Notebook::read(&path).unwrap();
        let code = notebook.cells.iter().filter(|it| it.kind == notebooks::CellKind::Code);
        let texts = code.map(|it| it.source.clone());
        let measures = |it: &String| MEASURES.iter().any(|mark| it.contains(mark));
        let texts: Vec<String> = texts.filter(|it| !measures(it)).collect();
        wrong.extend(differences(&path.display().to_string(), &texts));
    }
    for path in files("frontend-lang/tests/programs", "py") {
        wrong.extend(differences(&path.display().to_string(), &[read(&path)]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
