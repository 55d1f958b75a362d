//! A small runner stands in for the language.

use std::cell::RefCell;

use serde_json::Value;

use super::*;
use crate::handler::Bundle;

/// Runs one command per line.
struct Toy {
    interrupt: InterruptFlag,
    seen: Vec<String>,
}

impl Handler for Toy {
    fn execute(&mut self, request: &Execute, out: &Rc<dyn Outputs>) -> Outcome {
        self.seen.push(request.code.clone());
        let mut value = None;
        for line in request.code.lines() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "print" => out.stdout(&format!("{rest}\n")),
                "warn" => out.stderr(rest),
                "notice" => out.notice(&Bundle::plain(rest)),
                "show" => out.display(&Bundle::plain(rest), Some("bar"), false),
                "update" => out.display(&Bundle::plain(rest), Some("bar"), true),
                "value" => value = Some(Bundle::plain(rest)),
                "clear" => out.clear_output(rest == "wait"),
                "fail" => return Outcome::Failed(Failure::new("ValueError", rest)),
                "exit" => return Outcome::Failed(Failure::new("SystemExit", rest)),
                "panic" => panic!("{rest}"),
                "loop" => {
                    while !self.interrupt.load(Ordering::SeqCst) {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    return Outcome::Failed(Failure::new("KeyboardInterrupt", ""));
                }
                _ => {}
            }
        }
        Outcome::Done(value)
    }

    fn evaluate(&mut self, _: &str, _: &Rc<dyn Outputs>) -> Result<Bundle, Failure> {
        Ok(Bundle::default())
    }
}

/// A terminal that can be read afterwards.
#[derive(Clone, Default)]
struct Screen(Rc<RefCell<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What a run left behind.
struct Ran {
    status: u8,
    stdout: String,
    stderr: String,
    notebook: Option<Notebook>,
    html: String,
    seen: Vec<String>,
}

fn run_source(source: &str, write: bool, change: impl FnOnce(&mut RunOptions)) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("toy.ng");
    std::fs::write(&input, source).unwrap();
    let (out, html) = (folder.path().join("out.ipynb"), folder.path().join("out.html"));
    let mut options = RunOptions { input, ..RunOptions::default() };
    if write {
        (options.out, options.html) = (Some(out.clone()), Some(html.clone()));
    }
    change(&mut options);
    let mut toy = Toy { interrupt: Arc::clone(&options.interrupt), seen: Vec::new() };
    let (screen, mut errors) = (Screen::default(), Screen::default());
    let echo = Echo { stdout: Box::new(screen.clone()), stderr: Box::new(errors.clone()) };
    let status = run(&options, &mut toy, echo, &mut errors);
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes).unwrap().replace(folder.path().to_str().unwrap(), "")
    };
    Ran {
        status,
        stdout: text(screen.0.take()),
        stderr: text(errors.0.take()),
        notebook: Notebook::read(&out).ok(),
        html: std::fs::read_to_string(&html).unwrap_or_default(),
        seen: toy.seen,
    }
}

/// The outputs of each cell, briefly.
fn check(source: &str, expected: &[&str]) {
    let ran = run_source(source, true, |_| {});
    let brief = |output: &Value| {
        let text = output["text"]
            .as_str()
            .or(output["data"]["text/plain"].as_str())
            .or(output["ename"].as_str());
        format!("{} {:?}", output["output_type"].as_str().unwrap(), text.unwrap())
    };
    let cells = ran.notebook.unwrap().cells;
    let shown: Vec<_> = cells
        .iter()
        .map(|cell| cell.outputs.iter().map(brief).collect::<Vec<_>>().join("; "))
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn collects_outputs_in_order() {
    check(
        "print a\nprint b\nwarn c\nvalue 3",
        &["stream \"a\\nb\\n\"; stream \"c\"; execute_result \"3\""],
    );
    check("print a\nfail b", &["stream \"a\\n\"; error \"ValueError\""]);
}

#[test]
fn updates_replace_also_in_earlier_cells() {
    check(
        "# %%\nshow 1\nupdate 2\n# %%\nupdate 3\nprint x",
        &["display_data \"3\"", "stream \"x\\n\""],
    );
}

#[test]
fn clears_now_or_with_the_next_output() {
    check("print a\nclear\nprint b", &["stream \"b\\n\""]);
    check("print a\nclear wait", &["stream \"a\\n\""]);
    check("print a\nclear wait\nvalue 1", &["execute_result \"1\""]);
    check("show 1\nclear\nupdate 2\nshow 3", &["display_data \"3\""]);
}

#[test]
fn stops_at_the_first_failure_and_writes_what_it_has() {
    let ran = run_source("# %%\nprint a\n# %%\nfail b\n# %%\nprint c", true, |_| {});
    assert_eq!(ran.status, 1);
    assert_eq!(
        ran.stderr,
        "/toy.ng: cell 2 failed\nValueError: b\nwrote /out.ipynb\nwrote /out.html\n"
    );
    let counts: Vec<_> =
        ran.notebook.unwrap().cells.iter().map(|cell| cell.execution_count).collect();
    assert_eq!(counts, [Some(1), Some(2), None]);
    assert!(ran.html.contains("ValueError: b"));
}

#[test]
fn a_program_that_ends_itself_has_not_failed() {
    let ran = run_source("# %%\nprint a\n# %%\nexit 0\n# %%\nprint c", false, |_| {});
    assert_eq!((ran.status, ran.stderr.as_str(), ran.seen.len()), (0, "", 2));
    let ran = run_source("exit 3\n# %%\nprint c", false, |_| {});
    assert_eq!(ran.status, 1);
    assert_eq!(ran.stderr, "/toy.ng: cell 1 failed\nSystemExit: 3\n");
}

#[test]
fn keeps_going_when_asked_and_tells_what_failed() {
    let source = "# %%\nprint a\n# %%\n# load\nfail b\n# %%\nprint c\n# %%\nfail d";
    let ran = run_source(source, true, |options| options.keep_going = true);
    assert_eq!((ran.status, ran.seen.len()), (1, 4));
    assert_eq!(
        ran.stderr,
        "/toy.ng: cell 2 failed\nValueError: b\n/toy.ng: cell 4 failed\nValueError: d\n\
         4 cells ran, 2 failed\n  cell 2: fail b\n      ValueError: b\n  cell 4: fail d\n      ValueError: d\n\
         wrote /out.ipynb\nwrote /out.html\n"
    );
    let cells = ran.notebook.unwrap().cells;
    let errors = cells.iter().filter(|it| it.outputs.iter().any(|it| it["output_type"] == "error"));
    assert_eq!(errors.count(), 2);
    assert!(ran.html.contains("ValueError: b") && ran.html.contains("ValueError: d"));
    let ran = run_source("print a", false, |options| options.keep_going = true);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, "1 cell ran, 0 failed\n"));
}

#[test]
fn magics_in_comments_of_python_files_run() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("q.py");
    std::fs::write(&input, "# %% [markdown]\n# %trace\n# %%\n# %trace\nprint a\n").unwrap();
    let ran = run_source("", false, |options| options.input = input.clone());
    assert_eq!(ran.seen, ["%trace\nprint a"]);
    let input = folder.path().join("q.ng");
    std::fs::write(&input, "# %trace\nprint a\n").unwrap();
    let ran = run_source("", false, |options| options.input = input.clone());
    assert_eq!(ran.seen, ["# %trace\nprint a"]);
}

#[test]
fn goes_on_after_a_failure_that_is_expected() {
    let ran = run_source("# %% tags=[\"raises-exception\"]\nfail b\n# %%\nprint c", true, |_| {});
    assert_eq!((ran.status, ran.seen.len()), (0, 2));
}

#[test]
fn echoes_plain_text_when_nothing_is_written() {
    let ran = run_source("print a\nshow 1%\nupdate 100%\nvalue 3", false, |_| {});
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (0, "a\n3\n100%\n", ""));
}

#[test]
fn remarks_are_displays_of_the_notebook_and_go_to_stderr() {
    let source = "print a\nnotice b\nprint c";
    let ran = run_source(source, false, |_| {});
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("a\nc\n", "b\n"));
    check(source, &["stream \"a\\n\"; display_data \"b\"; stream \"c\\n\""]);
    let ran = run_source("print a\nwarn b", false, |_| {});
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("a\n", "b"));
}

#[test]
fn ends_cells_that_run_too_long() {
    let ran = run_source("loop", true, |options| options.timeout = Some(Duration::from_millis(30)));
    assert_eq!(ran.status, 1);
    assert!(
        ran.stderr.contains("TimeoutError: the cell ran longer than 0.03 s (--timeout)"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_panic_fails_the_cell() {
    let ran = run_source("panic oh", true, |_| {});
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("InternalError: a bug in the kernel: oh"), "{}", ran.stderr);
}

#[test]
fn parameters_run_before_the_rest() {
    let ran = run_source("print a", true, |options| options.set = vec![("n".into(), "3".into())]);
    assert_eq!(ran.seen, ["# Parameters\nn = 3", "print a"]);
}

#[test]
fn says_what_cannot_be_read_or_written() {
    let ran = run_source("", true, |options| options.input = "/no/such.ipynb".into());
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.starts_with("/no/such.ipynb: "), "{}", ran.stderr);
    let ran = run_source("", true, |options| options.out = Some("/no/such/out.ipynb".into()));
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.starts_with("/no/such/out.ipynb: "), "{}", ran.stderr);
}

#[test]
fn keeps_a_bounded_amount_of_text() {
    let line = format!("print {}\n", "x".repeat(1 << 20));
    let cells = run_source(&line.repeat(20), true, |_| {}).notebook.unwrap().cells;
    let text = cells[0].outputs[0]["text"].as_str().unwrap();
    assert!(text.len() < 10 << 20 && text.ends_with("... further output is left out\n"));
}
