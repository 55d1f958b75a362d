//! Runs every line of `tests/numpy/programs.py` and compares what it prints with what NumPy printed
//! (`tests/expected/generate_numpy_programs.py`). Texts are the same but for spaces at the ends of lines.

use std::path::Path;
use std::rc::Rc;

use frontend_lang::check::Level;
use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const SETUP: &str =
    "import numpy as np\na = np.arange(6).reshape(2, 3); x = np.array([3.0, 1.0, 2.0])\n";

/// One session for all programs: each begins with the same names.
struct Programs {
    record: Rc<Record>,
    session: Session,
}

impl Programs {
    fn new() -> Programs {
        let record = Rc::new(Record::default());
        let session = Session::new(Box::new(Recording { record: record.clone() }));
        Programs { record, session }
    }

    /// What cells print, up to an error, and its words.
    fn printed_by(&mut self, cells: &[&str], check: Level) -> String {
        self.record.stdout.borrow_mut().clear();
        let run = |cell: &&str| {
            self.session.run_cell(cell, &Options { check, ..Options::default() }).error
        };
        let error = cells.iter().find_map(run);
        let mut out = self.record.stdout.borrow().clone();
        if let Some(error) = error {
            let name = match error.ename.as_str() {
                "AxisError" | "LinAlgError" => "ValueError",
                other => other,
            };
            out.push_str(&format!("{name}: {}\n", error.evalue));
        }
        out
    }
}

/// Programs, and what NumPy printed.
fn expected() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("numpy/programs.out");
    let text = std::fs::read_to_string(path).expect("what NumPy printed");
    let blocks = text.split(">>> ").skip(1).filter_map(|it| it.split_once('\n'));
    let only = std::env::var("PROGRAM").unwrap_or_default();
    let blocks = blocks.filter(|it| it.0.contains(&only));
    blocks.map(|(program, text)| (program.to_owned(), text.to_owned())).collect()
}

fn trimmed(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Compares what `run` prints for each program with what NumPy printed.
fn compare(programs: &[(String, String)], mut run: impl FnMut(&mut Programs, &str) -> String) {
    let mut here = Programs::new();
    let mut wrong = Vec::new();
    for (program, text) in programs {
        let printed = run(&mut here, program);
        if trimmed(&printed) != trimmed(text) {
            wrong.push(format!("{program}\nNumPy:\n{text}here:\n{printed}"));
        }
    }
    assert!(!programs.is_empty(), "no programs");
    let count = programs.len();
    assert!(wrong.is_empty(), "{} of {count} differ\n\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_print_what_numpy_prints() {
    compare(&expected(), |here, program| {
        here.printed_by(&[&format!("{SETUP}{program}")], Level::Off)
    });
}

#[test]
fn the_check_has_no_false_alarms() {
    compare(&expected(), |here, program| {
        here.printed_by(&[&format!("{SETUP}{program}")], Level::Strict)
    });
}

/// The check before running sees the values of earlier cells then.
#[test]
fn statements_in_cells_of_their_own_print_the_same() {
    let is_block =
        |program: &str| ["for ", "if ", "while ", "with "].iter().any(|it| program.starts_with(it));
    let mut programs = expected();
    programs.retain(|it| !is_block(&it.0));
    compare(&programs, |here, program| {
        let cells: Vec<&str> = std::iter::once(SETUP).chain(program.split("; ")).collect();
        here.printed_by(&cells, Level::On)
    });
}

#[test]
fn mistakes_of_shape_are_found_before_the_cell_runs() {
    let mut here = Programs::new();
    for mistake in
        ["a @ np.ones(2)", "a + np.ones(4)", "np.concatenate([x, a])", "a.reshape(4, 2)", "a[:, 3]"]
    {
        let cell = format!("{SETUP}print('ran'); {mistake}");
        let printed = here.printed_by(&[&cell], Level::Early);
        let is_error = printed.starts_with("ValueError") || printed.starts_with("IndexError");
        assert!(is_error, "{mistake}: {printed}");
    }
}
