//! Runs every spec of `tests/specs` in process, and checks that the runner notices wrong ones.

use tests::spec::{Runner, Runs, cells, check_file, files, level};

#[test]
fn specs_hold() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in files() {
        let (cells, problems) = check_file(&path, &mut Runner::with_check(level(&path)));
        count += cells;
        wrong.extend(problems);
    }
    assert!(wrong.is_empty(), "{} of {count} cells:\n\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count >= 400, "{count} cells");
    println!("{count} cells of specs hold in process");
}

#[test]
fn the_examples_of_magics_hold() {
    let mut wrong = Vec::new();
    for magic in magics::all::ALL {
        assert!(!magic.examples.is_empty(), "%{} has no example", magic.name);
        for example in magic.examples {
            let mut runner = Runner::default();
            runner.run(example.setup);
            if let Some(problem) = runner.shows(example.cell, example.shows) {
                wrong.push(format!("%{}: {}: {problem}", magic.name, example.cell));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_wrong_spec_is_noticed() {
    let check = |text: &str| {
        let cell = &cells(&format!("```python\n{text}\n```"))[0];
        cell.compare(1, &Runner::default().run(&cell.text))
    };
    assert!(check("print(1)  # shows: 1").is_none());
    assert!(check("print(1)  # shows: 2").is_some());
    assert!(check("1 / 0").is_some());
    assert!(check("1 / 0  # error: ZeroDivisionError: division").is_none());
    assert!(check("\n1 / 0\n2  # error: ZeroDivisionError: division").is_some());
    assert!(check("1  # error: ZeroDivisionError: division").is_some());
}
