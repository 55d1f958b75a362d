//! PyTorch's own files: what it wrote (`tests/torch_files`, `tests/expected/generate_torch_files.py`) is read as it reads it, what is
//! written here is read by Python's own pickle, and damaged files are refused in words.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use frontend_lang::host::{Record, Recording};
use frontend_lang::session::{Options, Session};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("torch_files")
}

/// A session beside PyTorch's files.
fn session() -> (Session, Rc<Record>) {
    let record = Rc::new(Record::default());
    for entry in std::fs::read_dir(folder()).expect("the folder of files").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        record.files.borrow_mut().insert(name, std::fs::read(entry.path()).expect("its bytes"));
    }
    (Session::new(Box::new(Recording { record: record.clone() })), record)
}

/// What a cell prints, and its error.
fn run(session: &mut Session, record: &Record, code: &str) -> String {
    record.stdout.borrow_mut().clear();
    let error = session.run_cell(code, &Options::default()).error;
    let error = error.map(|it| format!("{}: {}", it.ename, it.evalue)).unwrap_or_default();
    format!("{}{error}", record.stdout.borrow())
}

const IMPORTS: &str = "import torch\nfrom torch import nn\nimport numpy as np\n";

#[test]
fn what_pytorch_wrote_is_read() {
    let program = std::fs::read_to_string(folder().join("reading.py")).expect("the program");
    let expected = std::fs::read_to_string(folder().join("reading.out")).expect("its output");
    let (mut session, record) = session();
    let printed = run(&mut session, &record, &format!("{IMPORTS}{program}"));
    for (at, (here, there)) in printed.lines().zip(expected.lines()).enumerate() {
        assert_eq!(here, there, "line {} of what is printed", at + 1);
    }
    assert_eq!(printed.trim_end(), expected.trim_end());
}

#[test]
fn classes_of_programs_are_refused_by_name() {
    let (mut session, record) = session();
    run(&mut session, &record, IMPORTS);
    for (file, name) in [
        ("namespace.pt", "argparse.Namespace"),
        ("whole.pt", "torch.nn.modules.container.Sequential"),
    ] {
        let told = run(&mut session, &record, &format!("torch.load({file:?})"));
        let start = format!("ValueError: {file} holds {name}, a class or function of the program");
        assert!(told.starts_with(&start), "{told}");
    }
}

/// Every file, cut off at each length and with each byte changed, is read or refused; nothing panics.
#[test]
fn damaged_files_are_refused() {
    let (mut session, record) = session();
    run(&mut session, &record, IMPORTS);
    run(
        &mut session,
        &record,
        "def attempt(name):\n    try:\n        torch.load(name, weights_only=False)\n        print('read')\n    \
         except Exception as e:\n        print(type(e).__name__, e)",
    );
    let files: Vec<String> =
        record.files.borrow().keys().filter(|it| it.ends_with(".pt")).cloned().collect();
    assert!(files.len() >= 6, "{files:?}");
    for name in files {
        let whole = record.files.borrow()[&name].clone();
        let mut refused = 0;
        for at in (0..whole.len()).step_by(3) {
            let mut changed = whole.clone();
            changed[at] ^= 1 << (at / 3 % 8);
            for bytes in [whole[..at].to_vec(), changed] {
                record.files.borrow_mut().insert("damaged.pt".into(), bytes);
                let told = run(&mut session, &record, "attempt('damaged.pt')");
                assert!(
                    !told.is_empty() && !told.contains("internal"),
                    "{name}, byte {at}: {told}"
                );
                refused += usize::from(told.trim() != "read");
            }
        }
        assert!(refused > whole.len() / 3, "{name}: {refused} of {}", whole.len());
    }
}

/// What is written, in words that Python's reader of it prints as well.
const WRITTEN: &str = r#"
base = torch.arange(6.0).view(2, 3)
shared = [1]
content = {
    "numbers": [1, -1, 255, 256, 65536, -(2**31), 2**40, -9223372036854775807 - 1, 0.1, float("inf"), True, None, 1 + 2j],
    "texts": ["", "a", "ä€𝄞", "x" * 300],
    "nested": ({"a": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}, {3}),
    "shared": [shared, shared],
    "tensors": [base, torch.tensor(True), torch.arange(3).to(torch.bfloat16), nn.Parameter(torch.ones(2)), torch.zeros(0, 2)],
    "kinds": [torch.float16, torch.Size([2]), torch.device("cpu"), torch.arange(2).to(torch.uint16), np.arange(3.0, dtype=np.float32), np.float64(0.5)],
}
torch.save(content, "written.pt")
again = torch.load("written.pt")
print({name: again[name] for name in ["numbers", "texts", "nested"]} == {name: content[name] for name in ["numbers", "texts", "nested"]})
print(again["shared"][0] is again["shared"][1])
for a, b in zip(again["tensors"], content["tensors"]):
    print(type(a) is type(b), a.dtype == b.dtype, torch.equal(a, b), a.requires_grad == b.requires_grad)
print(again["kinds"])
"#;

#[test]
fn what_is_written_is_read_here_and_by_pickle() {
    let (mut session, record) = session();
    let printed = run(&mut session, &record, &format!("{IMPORTS}{WRITTEN}"));
    let same = "True True True True\n".repeat(5);
    let kinds = "[torch.float16, torch.Size([2]), device(type='cpu'), tensor([0, 1], dtype=torch.uint16), \
                 array([0., 1., 2.], dtype=float32), np.float64(0.5)]";
    assert_eq!(printed.trim_end(), format!("True\nTrue\n{same}{kinds}"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("written.pt");
    std::fs::write(&path, &record.files.borrow()["written.pt"]).expect("the file");
    let reader = self::folder().join("written.py");
    let Ok(output) = Command::new("python3").arg(reader).arg(&path).output() else { return };
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = std::fs::read_to_string(self::folder().join("written.out")).expect("its output");
    assert_eq!(printed, expected, "{}", String::from_utf8_lossy(&output.stderr));
}
