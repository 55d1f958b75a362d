//! The language as a `Handler`: runs cells in a session, and keeps what completion knows up to date.

mod assist;
mod cursor;
mod describe;
mod subject;
mod world;

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use frontend_lang::adapter;
use frontend_lang::session::{CellError, Options};
use magics::Artifact;
use magics::from_value::artifact_of;
use magics::notebook::Notebook;

use crate::display;
use crate::handler::{
    Bundle, Completeness, Execute, Failure, Handler, InterruptFlag, Language, Outcome, Outputs,
    Payload,
};

use assist::SnapshotAssist;
use describe::Describer;
use subject::{Members, Subject};
use world::{Port, World};

/// The language, ready to be started.
pub fn language() -> Language {
    let assist = Arc::new(SnapshotAssist::new(completeness));
    let shared = assist.clone();
    let start = |interrupt| Box::new(Interpreter::new(interrupt, shared)) as Box<dyn Handler>;
    Language { assist, start: Box::new(start) }
}

fn completeness(code: &str) -> Completeness {
    match adapter::completeness(code) {
        adapter::Completeness::Complete => Completeness::Complete,
        adapter::Completeness::Incomplete { indent } => Completeness::Incomplete { indent },
        adapter::Completeness::Invalid => Completeness::Invalid,
    }
}

/// One session on the interpreter thread.
struct Interpreter {
    notebook: Notebook,
    port: Port,
    describer: Describer,
    magics: Arc<Members>,
    assist: Arc<SnapshotAssist>,
}

impl Interpreter {
    fn new(interrupt: InterruptFlag, assist: Arc<SnapshotAssist>) -> Self {
        let port = Port::default();
        let world = World::new(port.clone(), interrupt.clone());
        let mut notebook = Notebook::new(Box::new(world));
        notebook.session.cx.interrupt = interrupt;
        let describer = Describer::default();
        let mut interpreter = Self { notebook, port, describer, magics: all_magics(), assist };
        interpreter.take_snapshot();
        interpreter
    }

    fn take_snapshot(&mut self) {
        let cx = &mut self.notebook.session.cx;
        self.assist.set(self.describer.snapshot(cx, &self.magics));
    }

    fn run(&mut self, code: &str, options: Options, out: &dyn Outputs) -> Outcome {
        let mut shown: HashSet<String> = HashSet::new();
        let mut show = |artifact: Artifact| {
            let id = artifact.display_id();
            // What has an id replaces what this cell showed under it.
            let update = id.is_some_and(|id| !shown.insert(id.to_owned()));
            out.display(&forms(&artifact), id, update);
        };
        let outcome = self.notebook.run_with(code, options, &mut show);
        if !outcome.pages.is_empty() {
            out.payload(Payload::Page(Bundle::plain(outcome.pages.join("\n"))));
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
        let options = Options { cell, silent, ..Options::default() };
        let outcome = self.run(&request.code, options, out.as_ref());
        self.port.close();
        self.take_snapshot();
        outcome
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
}

/// The forms of an artifact.
fn forms(artifact: &Artifact) -> Bundle {
    display::bundle(artifact).into_iter().collect()
}

fn all_magics() -> Arc<Members> {
    let magics = magics::all::ALL.iter().map(|it| {
        let doc = magics::help::of_magic(it);
        (it.name.to_owned(), Arc::new(Subject { kind: "magic", doc, ..Subject::default() }))
    });
    Arc::new(magics.collect())
}

fn failure(error: CellError) -> Failure {
    Failure { ename: error.ename, evalue: error.evalue, traceback: error.traceback }
}
