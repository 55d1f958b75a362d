//! Runs every line of `tests/numpy/programs.py` and compares what it prints with what NumPy printed
//! (`tests/expected/generate_numpy_programs.py`). Texts are the same but for spaces at the ends of lines.

use std::path::Path;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const SETUP: &str =
    "import numpy as np\na = np.arange(6).reshape(2, 3); x = np.array([3.0, 1.0, 2.0])\n";

fn printed_by(program: &str) -> String {
    let record = Rc::new(Record::default());
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(&format!("{SETUP}{program}"), &Options::default());
    let mut out = record.stdout.borrow().clone();
    if let Some(error) = result.error {
        let name = match error.ename.as_str() {
            "AxisError" | "LinAlgError" => "ValueError",
            other => other,
        };
        out.push_str(&format!("{name}: {}\n", error.evalue));
    }
    out
}

fn trimmed(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

#[test]
fn programs_print_what_numpy_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("numpy/programs.out");
    let expected = std::fs::read_to_string(path).expect("what NumPy printed");
    let only = std::env::var("PROGRAM").unwrap_or_default();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for block in expected.split(">>> ").skip(1) {
        let (program, text) = block.split_once('\n').expect("a program and its text");
        if !program.contains(&only) {
            continue;
        }
        count += 1;
        let printed = printed_by(program);
        if trimmed(&printed) != trimmed(text) {
            wrong.push(format!("{program}\nNumPy:\n{text}here:\n{printed}"));
        }
    }
    assert!(count > 0, "no programs");
    assert!(wrong.is_empty(), "{} of {count} differ\n\n{}", wrong.len(), wrong.join("\n"));
}
