//! A session: cells run one after another over the same names.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::apply::anomaly;
use engine::trace::Options as TraceOptions;
use rustc_hash::FxHashSet;

use crate::adapter;
use crate::ast::{Module, Range};
use crate::builtins::NG_MODULES;
use crate::builtins::modules::{pyplot, random};
use crate::bytecode::Code;
use crate::check::time::{self, QUICK};
use crate::check::{Level, Verdict};
use crate::compile::compile;
use crate::cx::Cx;
use crate::cycles;
use crate::diagnostic::Diagnostic;
pub use crate::editor::is_complete::Completeness;
use crate::editor::is_complete::completeness;
use crate::editor::places::{Places, bindings};
use crate::error::{INDENTATION_ERROR, Raised, SYNTAX_ERROR};
use crate::host::Host;
use crate::memory;
use crate::native::{NativeType, Res};
use crate::objects::class::{type_name, type_of};
use crate::objects::function::Func;
use crate::objects::module::Globals;
use crate::objects::trash;
use crate::past::{Past, is_own};
use crate::repeat_cell;
use crate::resolve::resolve;
use crate::shown::Notice;
use crate::site;
use crate::source::{SourceId, Span};
use crate::sym::Sym;
use crate::trace::CellStep;
use crate::trace_cell;
use crate::unmade::Why;
use crate::value::Value;
use crate::vm::frame::{Exit, Frame, FrameKind};

/// What is said below an error that the check found, before how long the cell would have run until then.
const REFUSED: &str = "Found before the cell ran: nothing of it has happened";

/// A running session.
pub struct Session {
    pub cx: Cx,
    cell: usize,
    /// Lints that are not shown.
    pub quiet_lints: FxHashSet<String>,
    /// Where names were bound last.
    pub(crate) places: Places,
    /// Lints that were shown, with the code they were about.
    shown_lints: FxHashSet<(&'static str, String)>,
    /// Earlier cells and their values.
    pub(crate) past: Past,
}

/// How a cell is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The number to show as `In[n]`; counted up from 1 if missing.
    pub cell: Option<usize>,
    /// Leaves `_` and the counter alone.
    pub silent: bool,
    /// Whether the cell is checked before it runs: see [`crate::check`].
    pub check: Level,
    /// Compiles the cell into static graphs: see [`crate::trace_cell`].
    pub trace: Option<TraceOptions>,
    /// Runs the cell so many times: see [`crate::repeat_cell`].
    pub repeat: Option<usize>,
}

/// What running a cell gave.
pub struct CellResult {
    /// The value of the last expression, unless it ends with `;` or is `None`.
    pub value: Option<Value>,
    pub error: Option<CellError>,
    pub cell: usize,
}

/// An error as Jupyter shows it.
#[derive(Clone, Debug)]
pub struct CellError {
    pub ename: String,
    pub evalue: String,
    /// Lines with ANSI colours.
    pub traceback: Vec<String>,
    /// The same without colours.
    pub plain: String,
}

/// A name of the session, as plain data.
#[derive(Clone, Debug, PartialEq)]
pub struct NameInfo {
    pub name: String,
    pub kind: String,
    pub summary: String,
}

/// Whether gradients were recorded when a cell began: a panic, which ends no `with` block, leaves it so.
struct GradMode(bool);

impl Drop for GradMode {
    fn drop(&mut self) {
        if std::thread::panicking() {
            engine::autograd::set_enabled(self.0);
        }
    }
}

impl Session {
    /// A new session over `host`.
    pub fn new(host: Box<dyn Host>) -> Session {
        let cx = Cx::new(host);
        cx.globals.set(Sym::NAME, Value::str("__main__"));
        Session {
            cx,
            cell: 0,
            quiet_lints: FxHashSet::default(),
            places: Places::default(),
            shown_lints: FxHashSet::default(),
            past: Past::default(),
        }
    }

    /// Set it from another thread to stop the running cell.
    pub fn interrupt_handle(&self) -> Arc<AtomicBool> {
        self.cx.interrupt.clone()
    }

    /// A cell with this text is about to run as `In[number]`, in one piece or several.
    pub fn begin_cell(&mut self, number: usize, text: &str) {
        self.past.begin(&mut self.cx, number, text);
    }

    /// Runs one cell.
    pub fn run_cell(&mut self, code: &str, options: &Options) -> CellResult {
        let outer = self.cx.steps.begin_cell(options.trace.as_ref());
        let result = self.run_in_steps(code, options);
        for (name, before) in self.cx.steps.end_cell(outer) {
            self.cx.globals.set(name, before);
        }
        result
    }

    /// The same where its steps have begun.
    fn run_in_steps(&mut self, code: &str, options: &Options) -> CellResult {
        let cell = options.cell.unwrap_or(self.cell + 1);
        if !options.silent {
            self.cell = cell;
        }
        let _watching = engine::cpu::interrupt::watch(self.cx.interrupt.clone());
        let _grad_mode = GradMode(engine::autograd::enabled());
        memory::set_limit(self.cx.memory_limit);
        let source = self.add_cell(cell, code);
        let globals = self.cx.globals.clone();
        let mut steps = Vec::new();
        let mut bound = Vec::new();
        let mut rewrite = |module: &mut Module| {
            bound = bindings(module);
            if options.trace.is_some() {
                steps = trace_cell::add_steps(module);
            }
            if let Some(count) = options.repeat {
                repeat_cell::repeat(module, count);
            }
        };
        let compiled = self.cx.compile_rewritten(source, &globals, true, &mut rewrite);
        self.cx.unmade.forget(&bound);
        self.past.provide(&mut self.cx, code);
        let steps = self.cx.provide_steps(source, &globals, &steps);
        self.cx.steps.bind(&globals, steps);
        let result = match compiled {
            Ok(code) => match self.cx.check_before(&code, options.check) {
                Some(verdict) if !verdict.lets_run(options.check) => {
                    self.cx.unmade.note(&self.cx.globals, &bound, source, Why::Refused);
                    return self.refuse(verdict, cell);
                }
                _ => {
                    self.show_findings();
                    random::begin(&mut self.cx);
                    let result = self.cx.run_cell_code(code);
                    self.cx.show_python_figures(result.as_ref().ok());
                    result
                }
            },
            Err(diagnostics) => {
                let bound = adapter::names_bound(code);
                self.cx.unmade.note(&self.cx.globals, &bound, source, Why::NoProgram);
                let error = self.syntax_error(&diagnostics);
                return CellResult { value: None, error: Some(error), cell };
            }
        };
        if let Err(raised) = &result {
            let why = Why::Failed(raised.class().name.to_string());
            self.cx.unmade.note(&self.cx.globals, &bound, source, why);
        }
        self.note_places(source, &bound, result.as_ref().err());
        let result = match result {
            Ok(value) => self.finish(value, code, options, cell),
            Err(raised) => {
                let error = self.cx.cell_error(&raised);
                CellResult { value: None, error: Some(error), cell }
            }
        };
        if options.check == Level::Off {
            self.cx.findings.clear();
        }
        self.show_findings();
        self.cx.close_abandoned();
        self.cx.write_rest();
        cycles::collect_after_cell();
        self.cx.close_abandoned();
        result
    }

    /// Does what could wait until the cell had been answered.
    pub fn tidy(&mut self) {
        trash::empty();
    }

    /// The text of a cell as a source; old ones that nobody asks for go.
    fn add_cell(&mut self, number: usize, code: &str) -> SourceId {
        let sources = &mut self.cx.sources;
        sources.forget_old(|| self.places.values().map(|it| it.source).collect());
        sources.add(format!("In[{number}]"), code.to_owned())
    }

    /// What is wrong with a cell before any of it runs: its grammar and names, and, if `level` says so, what a check finds.
    pub fn look_at(&mut self, code: &str, level: Level) -> Option<CellError> {
        memory::set_limit(self.cx.memory_limit);
        let source = self.add_cell(self.cell + 1, code);
        let globals = self.cx.globals.clone();
        match self.cx.compile_source(source, &globals, true) {
            Ok(code) => {
                let verdict = self.cx.check_before(&code, level)?;
                Some(self.cx.cell_error(&verdict.raised))
            }
            Err(diagnostics) => Some(self.syntax_error(&diagnostics)),
        }
    }

    /// Notes where a cell bound names; if it failed, as far as it came.
    fn note_places(&mut self, source: SourceId, bound: &[(Sym, Range)], raised: Option<&Raised>) {
        let failed = raised.and_then(|it| it.marks().iter().rfind(|it| it.span.source == source));
        let end = failed.map_or(u32::MAX, |it| it.span.start);
        for (name, range) in bound.iter().filter(|it| it.1.start <= end) {
            let (start, end) = (range.start, range.end);
            self.places.insert(*name, Span { source, start, end });
        }
    }

    /// The steps of traced cells, by cell and line.
    pub fn traced_steps(&self) -> Vec<CellStep> {
        self.cx.steps.seen()
    }

    /// Shows each silent mistake once.
    fn show_findings(&mut self) {
        for found in std::mem::take(&mut self.cx.findings) {
            let line = self.cx.sources.text(found.labels[0].span).to_owned();
            let quiet = self.quiet_lints.contains(found.code);
            if quiet || !self.shown_lints.insert((found.code, line)) {
                continue;
            }
            let mut notice = found.notice(&self.cx.sources);
            let meant = format!("\n(`# ok: {}` on the line says that it is meant.)", found.code);
            notice.text.push_str(&meant);
            self.cx.host.notice(&notice);
        }
    }

    /// The result of a cell that the check has found to fail, and that has not run.
    fn refuse(&mut self, verdict: Verdict, cell: usize) -> CellResult {
        self.cx.findings.clear();
        let mut error = self.cx.cell_error(&verdict.raised);
        let why = match verdict.seconds {
            it if it < QUICK => ".".into(),
            it => format!(", for it would have run {} until then.", time::words(it)),
        };
        let refused = format!("{REFUSED}{why} (`%check off` runs cells unchecked.)");
        error.plain.push('\n');
        error.plain.push_str(&refused);
        error.traceback.push(refused);
        CellResult { value: None, error: Some(error), cell }
    }

    fn finish(&mut self, value: Value, code: &str, options: &Options, cell: usize) -> CellResult {
        let hidden = ends_with_semicolon(code) || pyplot::is_drawn(&value);
        if value.is_none() {
            return CellResult { value: None, error: None, cell };
        }
        if !hidden {
            pyplot::shown_as_result(&value);
        }
        if !options.silent && !hidden {
            self.past.end(&mut self.cx, cell, &value);
        }
        CellResult { value: if hidden { None } else { Some(value) }, error: None, cell }
    }

    fn syntax_error(&self, diagnostics: &[Diagnostic]) -> CellError {
        let first = &diagnostics[0];
        let indentation = first.message.contains("ndent");
        let row: &'static NativeType = if indentation { &INDENTATION_ERROR } else { &SYNTAX_ERROR };
        let render = |color| -> Vec<String> {
            diagnostics.iter().map(|it| it.render(&self.cx.sources, color)).collect()
        };
        let place = self.cx.sources.get(first.labels[0].span.source).map(|it| {
            let (line, _) = it.line_column(first.labels[0].span.start);
            format!(" ({}, line {line})", it.name)
        });
        CellError {
            ename: row.name.into(),
            evalue: format!("{}{}", first.message, place.unwrap_or_default()),
            traceback: render(true),
            plain: render(false).join("\n"),
        }
    }

    /// The names of the session, with type and a short summary.
    pub fn names(&mut self) -> Vec<NameInfo> {
        let entries = self.cx.globals.entries();
        let is_shown = |name: &str| !name.starts_with("__") && !is_own(name);
        let shown = entries.into_iter().filter(|(name, _)| is_shown(name.as_str()));
        shown
            .map(|(name, value)| NameInfo {
                name: name.to_string(),
                kind: type_name(&value).to_owned(),
                summary: self.cx.summary(&value),
            })
            .collect()
    }

    /// Says whether `code` can run, or needs more lines.
    pub fn is_complete(&self, code: &str) -> Completeness {
        completeness(code)
    }
}

impl Cx {
    /// Parses, resolves and compiles a source.
    pub(crate) fn compile_source(
        &mut self,
        source: SourceId,
        globals: &Rc<Globals>,
        wants_value: bool,
    ) -> Result<Rc<Code>, Vec<Diagnostic>> {
        self.compile_rewritten(source, globals, wants_value, &mut |_| {})
    }

    /// As [`Cx::compile_source`]; `rewrite` may change the tree before names are resolved.
    pub(crate) fn compile_rewritten(
        &mut self,
        source: SourceId,
        globals: &Rc<Globals>,
        wants_value: bool,
        rewrite: &mut dyn FnMut(&mut Module),
    ) -> Result<Rc<Code>, Vec<Diagnostic>> {
        let Some(text) = self.sources.get(source) else { return Err(Vec::new()) };
        let is_ours = NG_MODULES.iter().any(|(known, _)| *known == text.name);
        let lines = (!is_ours).then(|| text.lines().clone());
        let text = text.text.clone();
        let (mut module, diagnostics) = adapter::parse(&text, source);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        rewrite(&mut module);
        let scopes = resolve(&module, source);
        if !scopes.diagnostics.is_empty() {
            return Err(scopes.diagnostics);
        }
        let source = (source, self.sources.hold(source));
        compile(&module, &scopes, source, lines.as_ref(), globals, &self.builtins, wants_value)
    }

    /// Runs the code of a cell; whether the first NaN is looked for is the session's, not the thread's. What was found and was no
    /// error is told at its end.
    fn run_cell_code(&mut self, code: Rc<Code>) -> Res {
        let before = anomaly::set_watch(self.anomalies);
        let result = self.run_code(code);
        self.anomalies = anomaly::set_watch(before);
        if let Some(found) = anomaly::take_noted() {
            let found = site::with_place(&found);
            self.host.notice(&Notice::line(format!(
                "detect_anomaly: {found} (`%config anomaly on` stops there)"
            )));
        }
        result
    }

    /// Runs the code of a cell or module.
    pub(crate) fn run_code(&mut self, code: Rc<Code>) -> Res {
        let base = self.machine.stack.len();
        self.machine.stack.resize(base + code.locals.len(), Value::Unbound);
        self.machine.frames.push(Frame {
            func: Rc::new(Func::plain(code)),
            ip: 0,
            base,
            return_to: base,
            blocks: self.machine.blocks.len(),
            handled: self.machine.handled.len(),
            kind: FrameKind::Entry,
        });
        let floor = self.machine.frames.len() - 1;
        match self.run(floor)? {
            Exit::Return(value) | Exit::Yield(value) => Ok(value),
        }
    }

    /// A few words about a value, without running user code.
    pub fn summary(&mut self, value: &Value) -> String {
        let text = match value {
            Value::List(it) => format!("{} items", it.items.borrow().len()),
            Value::Tuple(it) => format!("{} items", it.len()),
            Value::Dict(it) => format!("{} entries", it.len()),
            Value::Set(it) => format!("{} items", it.len()),
            Value::Instance(_) if crate::array::scalar::dtype_of(value).is_some() => {
                crate::array::scalar::text(value)
            }
            Value::Instance(it) => format!("{} object", it.class.name),
            Value::Func(it) => match it.clone().signature(self) {
                Ok(signature) => format!("{}{signature}", it.code.name),
                Err(_) => it.code.name.to_string(),
            },
            Value::Module(it) => it.doc.lines().next().unwrap_or("").to_owned(),
            Value::Object(_) | Value::Iter(_) | Value::Generator(_) | Value::Method(_) => {
                type_of(value).name.to_string()
            }
            _ => self.repr(value).unwrap_or_default(),
        };
        let line = text.lines().next().unwrap_or("");
        match line.char_indices().nth(80) {
            Some((at, _)) => format!("{}...", &line[..at]),
            None => line.to_owned(),
        }
    }

    /// What Jupyter shows of an exception that left a cell.
    pub fn cell_error(&mut self, raised: &Raised) -> CellError {
        let ename = raised.class().name.to_string();
        let evalue = self.str(raised.value()).unwrap_or_else(|_| "<exception str() failed>".into());
        let evalue = crate::traceback::bounded(evalue);
        let mut shown = crate::traceback::render(self, raised);
        let plain = shown.1.join("\n");
        shown.0.retain(|it| !it.is_empty());
        CellError { ename, evalue, traceback: shown.0, plain }
    }
}

/// True if the last line of code ends with `;`, comments aside.
fn ends_with_semicolon(code: &str) -> bool {
    let last = code.lines().rev().map(str::trim).find(|it| !it.is_empty() && !it.starts_with('#'));
    let Some(last) = last else { return false };
    last.ends_with(';') || last.rsplit_once('#').is_some_and(|(code, _)| code.trim().ends_with(';'))
}
