//! Runs every spec of `tests/specs` in process, and checks that the runner notices wrong ones.

use std::path::Path;

use frontend_lang::check::Level;
use tests::spec::{Cell, Runner, cells};

#[test]
fn specs_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("specs");
    let mut files = Vec::new();
    for folder in [folder.clone(), folder.join("language"), folder.join("mistakes")] {
        let entries = std::fs::read_dir(folder).expect("specs").flatten();
        files.extend(entries.map(|it| it.path()));
    }
    files.sort();
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in files.iter().filter(|it| it.extension().is_some_and(|it| it == "md")) {
        let text = std::fs::read_to_string(path).expect("a spec");
        // What Python shows of a cell that fails, it shows before it fails.
        let python = path.parent().is_some_and(|it| it.ends_with("language"));
        let mut runner = Runner::with_check(if python { Level::Off } else { Level::On });
        for cell in cells(&text) {
            count += 1;
            if let Some(problem) = runner.check(&cell) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                wrong.push(format!("{name}:{}: {problem}", cell.line));
            }
        }
    }
    assert!(count > 0, "no cells");
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn the_examples_of_magics_hold() {
    let mut wrong = Vec::new();
    for magic in magics::all::ALL {
        assert!(!magic.examples.is_empty(), "%{} has no example", magic.name);
        for example in magic.examples {
            let mut runner = Runner::default();
            let setup = Cell { text: example.setup.into(), ..Cell::default() };
            runner.check(&setup);
            if let Some(problem) = runner.shows(example.cell, example.shows) {
                wrong.push(format!("%{}: {}: {problem}", magic.name, example.cell));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_spec_is_noticed() {
    let check = |text: &str| Runner::default().check(&cells(&format!("```python\n{text}\n```"))[0]);
    assert!(check("print(1)  # shows: 1").is_none());
    assert!(check("print(1)  # shows: 2").is_some());
    assert!(check("1 / 0").is_some());
    assert!(check("1 / 0  # error: ZeroDivisionError: division").is_none());
    assert!(check("\n1 / 0\n2  # error: ZeroDivisionError: division").is_some());
    assert!(check("1  # error: ZeroDivisionError: division").is_some());
}
