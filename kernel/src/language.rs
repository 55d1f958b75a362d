//! The language as a `Handler`: runs cells in a session, and keeps what completion knows up to date.

mod assist;
mod files;
mod world;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use frontend_lang::editor;
use frontend_lang::editor::describe::Describer;
use frontend_lang::session::{CellError, Options};
use magics::Artifact;
use magics::from_value::artifact_of;
use magics::notebook::{Notebook, Settings};

use crate::display;
use crate::handler::{
    Bundle, Execute, Failure, Handler, InterruptFlag, Language, Outcome, Outputs, Payload,
};

use assist::SnapshotAssist;
use world::{Port, World};

/// The language, ready to be started.
pub fn language() -> Language {
    language_with(Settings::default)
}

/// The same, where what other kernels do is an error.
pub fn strict() -> Language {
    language_with(|| Settings { strict: true, ..Settings::default() })
}

fn language_with(settings: fn() -> Settings) -> Language {
    let assist = Arc::new(SnapshotAssist::default());
    // Nobody waits for it; what is asked before it is done is read on the spot.
    let _ = thread::Builder::new().name("library".to_owned()).spawn(editor::warm_up);
    let shared = assist.clone();
    let start = move |interrupt| {
        let mut interpreter = Interpreter::new(interrupt, shared);
        interpreter.notebook.settings = settings();
        Box::new(interpreter) as Box<dyn Handler>
    };
    Language { assist, start: Box::new(start) }
}

/// One session on the interpreter thread.
struct Interpreter {
    notebook: Notebook,
    port: Port,
    describer: Describer,
    assist: Arc<SnapshotAssist>,
}

impl Interpreter {
    fn new(interrupt: InterruptFlag, assist: Arc<SnapshotAssist>) -> Self {
        let port = Port::default();
        let world = World::new(port.clone(), interrupt.clone());
        let mut notebook = Notebook::new(Box::new(world));
        notebook.session.cx.interrupt = interrupt;
        let describer = Describer::default();
        let mut interpreter = Self { notebook, port, describer, assist };
        interpreter.take_snapshot();
        interpreter
    }

    fn take_snapshot(&mut self) {
        self.assist.set(self.describer.snapshot(&mut self.notebook.session));
    }

    /// `exit` and `quit` alone are calls, unless the session has given these names to something else.
    fn called<'a>(&mut self, code: &'a str) -> &'a str {
        match code.trim() {
            "exit" if self.notebook.session.global("exit").is_none() => "exit()",
            "quit" if self.notebook.session.global("quit").is_none() => "quit()",
            _ => code,
        }
    }

    fn run(&mut self, code: &str, options: Options, out: &dyn Outputs) -> Outcome {
        let mut shown: HashSet<String> = HashSet::new();
        let mut show = |artifact: Artifact| {
            if matches!(artifact, Artifact::Notice(_)) {
                return out.notice(&forms(&artifact));
            }
            let id = artifact.display_id();
            // What has an id replaces what this cell showed under it.
            let update = id.is_some_and(|id| !shown.insert(id.to_owned()));
            out.display(&forms(&artifact), id, update);
        };
        let outcome = self.notebook.run_with(code, options, &mut show);
        if !outcome.pages.is_empty() {
            let pages = outcome.pages.into_iter().reduce(|mut all, more| {
                all.sections.extend(more.sections);
                all
            });
            pages.into_iter().for_each(|it| out.payload(Payload::Page(forms(&Artifact::Help(it)))));
        }
        match outcome.error {
            Some(error) => Outcome::Failed(failure(error)),
            None => Outcome::Done(outcome.result.as_ref().map(forms)),
        }
    }
}

impl Handler for Interpreter {
    fn execute(&mut self, request: &Execute, out: &Rc<dyn Outputs>) -> Outcome {
        let cell = request.store_history.then_some(request.execution_count as usize);
        let silent = request.silent || !request.store_history;
        self.port.open(out);
        self.assist.begin(&request.code);
        let options = Options { cell, silent, ..Options::default() };
        let code = self.called(&request.code);
        let outcome = self.run(code, options, out.as_ref());
        self.port.close();
        self.take_snapshot();
        if request.is_console() { end_console(outcome, out.as_ref()) } else { outcome }
    }

    fn evaluate(&mut self, expression: &str, out: &Rc<dyn Outputs>) -> Result<Bundle, Failure> {
        self.port.open(out);
        let options = Options { silent: true, ..Options::default() };
        let result = self.notebook.session.run_cell(expression, &options);
        let cx = &mut self.notebook.session.cx;
        let shown = match (result.error, result.value) {
            (Some(error), _) => Err(failure(error)),
            (None, None) => Ok(Bundle::plain("None")),
            (None, Some(value)) => match cx.repr(&value) {
                Ok(text) => Ok(forms(&artifact_of(&value, &text))),
                Err(raised) => Err(failure(cx.cell_error(&raised))),
            },
        };
        self.port.close();
        shown
    }

    fn tidy(&mut self) {
        self.notebook.session.tidy();
    }
}

/// In a console `SystemExit` is no error: it ends the console, which shows its message if it has one.
fn end_console(outcome: Outcome, out: &dyn Outputs) -> Outcome {
    match outcome {
        Outcome::Failed(it) if it.ename == "SystemExit" => {
            if !it.evalue.is_empty() && it.evalue.parse::<i64>().is_err() {
                out.stderr(&format!("{}\n", it.evalue));
            }
            out.payload(Payload::Exit);
            Outcome::Done(None)
        }
        outcome => outcome,
    }
}

/// The forms of an artifact.
fn forms(artifact: &Artifact) -> Bundle {
    display::bundle(artifact).into_iter().collect()
}

fn failure(error: CellError) -> Failure {
    Failure { ename: error.ename, evalue: error.evalue, traceback: error.traceback }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Terminal;

    #[test]
    fn programs_are_left_out_unless_the_session_is_strict() {
        let ran = |language: Language| {
            let mut handler = (language.start)(InterruptFlag::default());
            let request = Execute { code: "!ls\n1 + 1".to_owned(), ..Execute::default() };
            let out: Rc<dyn Outputs> = Rc::new(Terminal::default());
            handler.execute(&request, &out)
        };
        assert!(matches!(ran(language()), Outcome::Done(Some(value)) if value.text() == "2"));
        assert!(
            matches!(ran(strict()), Outcome::Failed(error) if error.evalue.starts_with("!ls cannot run"))
        );
    }
}
