//! Files that an earlier version has written (`tests/models`) are opened, and models give what PyTorch gives for the same weights
//! (`tests/expected/generate_old_models.py`).

use std::path::{Path, PathBuf};
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

const TOLERANCE: f64 = 2e-6;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).expect("a file of the folder")
}

/// What a cell prints that has the files of the folder beside it.
fn ran(code: &str) -> String {
    let record = Rc::new(Record::default());
    for entry in std::fs::read_dir(folder()).expect("the folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = std::fs::read(entry.path()).expect("its bytes");
        record.files.borrow_mut().insert(name, bytes);
    }
    let mut session = Session::new(Box::new(Recording { record: record.clone() }));
    let result = session.run_cell(code, &Options::default());
    let error = result.error.map(|it| it.plain).unwrap_or_default();
    format!("{}{error}", record.stdout.borrow())
}

/// Whether two texts have the same words, numbers within the tolerance.
fn agree(a: &str, b: &str) -> bool {
    let number = |word: &str| word.trim_matches(['[', ']', ',', '(', ')']).parse::<f64>().ok();
    let near = |pair: (&str, &str)| match (number(pair.0), number(pair.1)) {
        (Some(a), Some(b)) => (a - b).abs() <= TOLERANCE * (1.0 + a.abs()),
        _ => pair.0 == pair.1,
    };
    let words = |it: &str| it.replace("tensor(", "tensor( ");
    let (a, b) = (words(a), words(b));
    let (a, b) = (a.split_whitespace(), b.split_whitespace());
    a.clone().count() == b.clone().count() && a.zip(b).all(near)
}

#[track_caller]
fn check(name: &str) {
    let open = format!(
        "from notegrad.jit import load\nmodel = load('{name}.ngm')\nassert max(model.check()) < 1e-6, model.check()\n"
    );
    let program = [&text("weights.py"), &text(&format!("{name}.py")), &open, &text("print.py")];
    let printed = ran(&program.map(String::as_str).concat());
    let expected = text(&format!("{name}.out"));
    assert!(agree(&expected, &printed), "PyTorch: {expected}\nhere: {printed}");
}

#[test]
fn a_classifier_gives_what_pytorch_gives() {
    check("classifier");
}

#[test]
fn a_convolutional_net_gives_what_pytorch_gives() {
    check("images");
}

#[test]
fn a_recurrent_net_with_attention_gives_what_pytorch_gives() {
    check("sequence");
}

#[test]
fn a_fast_run_cache_is_taken() {
    assert_eq!(engine::fastrun::load(&folder().join("choices.jsonl")), Ok(3));
}

#[test]
fn numbers_that_differ_are_noticed() {
    assert!(agree("tensor([1.0, 2.0])", "tensor([1.0000001, 2.0])"));
    assert!(!agree("tensor([1.0, 2.0])", "tensor([1.001, 2.0])"));
    assert!(!agree("tensor([1.0, 2.0])", "tensor([1.0])"));
}
