//! A notebook being run: a session of the language plus what magics have set.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::trace::Options as TraceOptions;
use frontend_lang::check::Level;
use frontend_lang::host::Host;
use frontend_lang::session::{CellError, Options as RunOptions, Session};
use frontend_lang::value::Value;

use crate::args::Args;
use crate::artifact::{Artifact, Help};
use crate::calls::{Calls, Lent};
use crate::split::{Part, split};
use crate::{Magic, MagicError, OnCell, elsewhere, find, from_value, help};

/// Runs cells one after the other.
pub struct Notebook {
    /// The language.
    pub session: Session,
    /// What magics have set for all following cells.
    pub settings: Settings,
    /// The cells that ran, for `%history`.
    cells: Vec<String>,
    /// Magics that code asks for.
    calls: Rc<Calls>,
}

/// What magics have set for all following cells.
pub struct Settings {
    /// Whether cells are checked before they run.
    pub check: Level,
    /// Whether what other kernels do is an error; else it is left out with a remark.
    pub strict: bool,
    /// The folder that `%cd -` goes back to.
    pub folder_before: Option<String>,
    /// `%trace on`: cells are traced unless they say otherwise.
    pub trace: Option<TraceOptions>,
    /// Functions under `%trace f`, by name.
    pub traced: BTreeMap<String, Value>,
    /// Where `%fastrun` keeps its choices, when not in the host's cache folder.
    pub fastrun_cache: Option<PathBuf>,
    /// The strategy to go back to after a cell under `%fastrun`.
    pub fastrun_before: Option<engine::fastrun::Strategy>,
    /// How many timings of `%fastrun on` are in the file already.
    pub fastrun_kept: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            check: Level::On,
            strict: false,
            folder_before: None,
            trace: Default::default(),
            traced: Default::default(),
            fastrun_cache: Default::default(),
            fastrun_before: Default::default(),
            fastrun_kept: Default::default(),
        }
    }
}

/// What a magic sees.
pub struct MagicCx<'a> {
    /// The language; its host is the door to files and clocks.
    pub session: &'a mut Session,
    /// What holds for all following cells.
    pub settings: &'a mut Settings,
    /// How the rest of this cell will run.
    pub options: &'a mut RunOptions,
    /// The cells that ran so far, this one at the end.
    pub cells: &'a [String],
    /// How many lines of the cell stand above the magic.
    pub above: usize,
    /// The text below `%%name`.
    pub body: Option<&'a str>,
    /// Help for the pager.
    pub pages: &'a mut Vec<Help>,
    /// What is to be done when the cell has ended, also after an error.
    pub at_end: &'a mut Vec<AtEnd>,
}

/// Work after the cell.
pub type AtEnd = fn(&mut MagicCx<'_>) -> Result<Vec<Artifact>, MagicError>;

/// What one cell gathers while it runs.
#[derive(Default)]
struct Running {
    options: RunOptions,
    outcome: Outcome,
    at_end: Vec<AtEnd>,
}

/// A magic as it is written in a cell.
struct Asked<'a> {
    magic: &'static Magic,
    /// What follows its name.
    rest: &'a str,
    /// How many lines stand above it.
    above: usize,
    /// What stands below `%%name`.
    body: Option<&'a str>,
}

/// How a cell ended.
#[derive(Default)]
pub struct Outcome {
    /// The value of the last expression.
    pub result: Option<Artifact>,
    /// What ended the cell before its end.
    pub error: Option<CellError>,
    /// Help texts for the pager.
    pub pages: Vec<Help>,
}

impl Notebook {
    /// A new notebook over `host`.
    pub fn new(host: Box<dyn Host>) -> Self {
        let mut session = Session::new(host);
        let calls = Rc::<Calls>::default();
        session.cx.shell = Some(calls.clone());
        Self { session, settings: Settings::default(), cells: Vec::new(), calls }
    }

    /// Set by another thread to interrupt the running cell.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.session.interrupt_handle()
    }

    /// Runs a cell. What magics show goes to `show` as it is made; what code shows goes to the host.
    pub fn run(&mut self, text: &str, show: &mut dyn FnMut(Artifact)) -> Outcome {
        self.run_with(text, RunOptions::default(), show)
    }

    /// The same for a cell with a number of its own, or one that leaves no trace in the session.
    pub fn run_with(
        &mut self,
        text: &str,
        options: RunOptions,
        show: &mut dyn FnMut(Artifact),
    ) -> Outcome {
        // A cell that ended in a panic has left it there.
        self.take_back(&mut Running::default());
        let (trace, check) = (self.settings.trace.clone(), self.settings.check);
        let mut options = RunOptions { trace, check, ..options };
        if !options.silent {
            self.cells.push(text.into());
            let number = *options.cell.get_or_insert(self.cells.len());
            self.session.begin_cell(number, text);
        }
        let mut running = Running { options, ..Running::default() };
        for part in split(text) {
            running.outcome.result = None;
            let res = self.part(part, &mut running, show);
            running.fail(res);
            if running.outcome.error.is_some() {
                break;
            }
        }
        running.at_end.push(crate::all::fastrun::keep);
        for work in std::mem::take(&mut running.at_end) {
            let res = work(&mut self.magic_cx(&mut running));
            running.fail(res.map(|shown| shown.into_iter().for_each(&mut *show)));
        }
        frontend_lang::builtins::modules::pyplot::show_pending(&mut self.session.cx);
        running.outcome
    }

    fn part(
        &mut self,
        part: Part,
        running: &mut Running,
        show: &mut dyn FnMut(Artifact),
    ) -> Result<(), MagicError> {
        match part {
            Part::Code(code) => self.code(&code, running, show),
            Part::Help { name, detailed } => {
                running.outcome.pages.push(help::describe(&mut self.session, &name, detailed)?);
                Ok(())
            }
            Part::Shell { line } => {
                show(self.settings.leave_out(&line, elsewhere::of_command(&line))?);
                Ok(())
            }
            Part::Line { above, name, rest } => match elsewhere::find(&name) {
                Some(row) => {
                    show(self.settings.leave_out(&format!("%{name}"), row.says)?);
                    Ok(())
                }
                None => {
                    let asked = Asked { magic: known(&name)?, rest: &rest, above, body: None };
                    self.magic(&asked, running, show)
                }
            },
            Part::Cell { above, name, rest, body } => {
                let code = || format!("{}{body}", "\n".repeat(above + 1));
                if let Some(row) = elsewhere::find(&name) {
                    show(self.settings.leave_out(&format!("%%{name}"), row.says)?);
                    return match row.on_cell {
                        OnCell::ThenRun => self.code(&code(), running, show),
                        _ => Ok(()),
                    };
                }
                let magic = known(&name)?;
                if magic.on_cell == OnCell::Refused {
                    let message =
                        format!("there is no %%{name}; write %{name} on a line of its own");
                    return Err(MagicError::usage(magic, message));
                }
                let asked = Asked { magic, rest: &rest, above, body: Some(&body) };
                self.magic(&asked, running, show).map_err(MagicError::on_cell)?;
                match magic.on_cell {
                    OnCell::ThenRun => self.code(&code(), running, show),
                    _ => Ok(()),
                }
            }
        }
    }

    fn code(
        &mut self,
        code: &str,
        running: &mut Running,
        show: &mut dyn FnMut(Artifact),
    ) -> Result<(), MagicError> {
        let options = running.options.clone();
        self.lend(running);
        let res = self.session.run_cell(code, &options);
        self.take_back(running).into_iter().for_each(show);
        if let Some(error) = res.error {
            return Err(MagicError::Raised(Box::new(error)));
        }
        if let Some(value) = res.value.filter(|it| !it.is_none()) {
            let text = self.session.repr(&value).map_err(|it| MagicError::Raised(Box::new(it)))?;
            let rich = self.session.rich_form(&value);
            let shown = rich.as_ref().unwrap_or(&value);
            running.outcome.result = Some(from_value::artifact_of(shown, &text));
        }
        Ok(())
    }

    /// Puts what magics work on where code finds it that asks for them.
    fn lend(&mut self, running: &mut Running) {
        let options = RunOptions { silent: true, ..running.options.clone() };
        self.calls.lend(Lent {
            settings: std::mem::take(&mut self.settings),
            options,
            cells: std::mem::take(&mut self.cells),
            ..Lent::default()
        });
    }

    /// Takes it back; gives what is to be shown.
    fn take_back(&mut self, running: &mut Running) -> Vec<Artifact> {
        let Some(lent) = self.calls.take_back() else { return Vec::new() };
        (self.settings, self.cells) = (lent.settings, lent.cells);
        running.options = RunOptions { silent: running.options.silent, ..lent.options };
        running.outcome.pages.extend(lent.pages);
        running.at_end.extend(lent.at_end);
        lent.shown
    }

    fn magic(
        &mut self,
        asked: &Asked<'_>,
        running: &mut Running,
        show: &mut dyn FnMut(Artifact),
    ) -> Result<(), MagicError> {
        let args = Args::parse(asked.magic, asked.rest)?;
        let mut cx = self.magic_cx(running);
        (cx.above, cx.body) = (asked.above, asked.body);
        let shown = (asked.magic.run)(&mut cx, &args)?;
        shown.into_iter().for_each(show);
        Ok(())
    }

    fn magic_cx<'a>(&'a mut self, running: &'a mut Running) -> MagicCx<'a> {
        MagicCx {
            session: &mut self.session,
            settings: &mut self.settings,
            options: &mut running.options,
            cells: &self.cells,
            above: 0,
            body: None,
            pages: &mut running.outcome.pages,
            at_end: &mut running.at_end,
        }
    }
}

impl Running {
    /// Keeps the first failure as the error of the cell.
    fn fail(&mut self, res: Result<(), MagicError>) {
        let error = match res {
            Ok(()) => return,
            Err(MagicError::Raised(error)) => *error,
            Err(error) => magic_failed(&error),
        };
        self.outcome.error.get_or_insert(error);
    }
}

impl MagicCx<'_> {
    /// The code that a magic is to run, its line or the cell below it, on the lines of the cell on which it stands.
    pub fn code(&self, args: &Args) -> String {
        let (above, code) = match self.body {
            Some(body) => (self.above + 1, body),
            None => (self.above, args.line()),
        };
        if code.trim().is_empty() { String::new() } else { "\n".repeat(above) + code }
    }

    /// Runs code that stands in a magic's line; gives its value.
    pub fn eval(&mut self, code: &str) -> Result<Option<Value>, MagicError> {
        let options = RunOptions { check: Level::Off, ..self.options.clone() };
        let res = self.session.run_cell(code, &options);
        match res.error {
            Some(error) => Err(MagicError::Raised(Box::new(error))),
            None => Ok(res.value),
        }
    }

    /// Runs code `count` times, in a function.
    pub fn repeat(&mut self, code: &str, count: usize) -> Result<(), MagicError> {
        let options = RunOptions { repeat: Some(count), check: Level::Off, ..self.options.clone() };
        match self.session.run_cell(code, &options).error {
            Some(error) => Err(MagicError::Raised(Box::new(error))),
            None => Ok(()),
        }
    }

    /// The value of a global name, or an error with near names.
    pub fn global(&mut self, name: &str) -> Result<Value, MagicError> {
        self.session.global(name).ok_or_else(|| {
            let names = self.session.names();
            let near =
                frontend_lang::suggest::nearest(name, names.iter().map(|it| it.name.as_str()));
            let hint = near.map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
            MagicError::failed(format!("there is no `{name}` in this session{hint}"))
        })
    }
}

pub(crate) fn known(name: &str) -> Result<&'static Magic, MagicError> {
    find(name).ok_or_else(|| {
        let near =
            || frontend_lang::suggest::nearest(name, crate::all::ALL.iter().map(|it| it.name));
        let hint = match (elsewhere::find(name), near()) {
            (Some(row), _) => row.says.into(),
            (None, Some(near)) => format!("did you mean %{near}?"),
            (None, None) => "%lsmagic lists all".into(),
        };
        MagicError::failed(format!("there is no magic %{name}; {hint}"))
    })
}

/// A magic's failure as the error of the cell.
fn magic_failed(error: &MagicError) -> CellError {
    let text = error.to_string();
    CellError {
        ename: "MagicError".into(),
        evalue: text.lines().next().unwrap_or_default().into(),
        traceback: text.lines().map(str::to_string).collect(),
        plain: text,
    }
}
