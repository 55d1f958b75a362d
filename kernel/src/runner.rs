//! Runs a notebook or a source file without Jupyter and writes what came of it.
//!
//! Knows cells and outputs, not the language: the handler that serves Jupyter runs here as well.

mod outputs;
mod parameters;
mod report;

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use engine::atomic_file;
use magics::split;
use notebooks::{Cell, CellKind, Notebook};
pub use outputs::Echo;
use outputs::Log;
use report::Report;

use crate::display::ansi;
use crate::handler::{Execute, Failure, Handler, InterruptFlag, Outcome, Outputs};
use crate::html_page;

/// What to run and where to write.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// A notebook (`.ipynb`), else a source file.
    pub input: PathBuf,
    /// The executed notebook goes here.
    pub out: Option<PathBuf>,
    /// A page that stands alone goes here.
    pub html: Option<PathBuf>,
    /// Names and values that replace those of the cell tagged `parameters`.
    pub set: Vec<(String, String)>,
    /// Whether cells behind one that fails run, too.
    pub keep_going: bool,
    /// The longest that one cell may run.
    pub timeout: Option<Duration>,
    /// Set to end the running cell; the one that the handler was started with.
    pub interrupt: InterruptFlag,
}

/// Runs the cells in order up to the first that fails, or all of them, and writes the files that were asked for in
/// either case. Returns the exit status: 0 only when all went well.
///
/// With no file to write, what the cells show is echoed as plain text. Failures and the names of written
/// files go to `stderr`.
pub fn run(
    options: &RunOptions,
    handler: &mut dyn Handler,
    echo: Echo,
    stderr: &mut dyn Write,
) -> u8 {
    let mut notebook = match prepare(options) {
        Ok(notebook) => notebook,
        Err(message) => return fail(stderr, &message),
    };
    let is_echoed = options.out.is_none() && options.html.is_none();
    let log = Rc::new(Log::new(std::mem::take(&mut notebook.cells), is_echoed.then_some(echo)));
    let ran = run_cells(&log, options, handler, stderr);
    let mut status = ran.map_or_else(|message| fail(stderr, &message), |()| 0);
    notebook.cells = log.take_cells();
    for written in write_files(&notebook, options) {
        match written {
            Ok(path) => drop(writeln!(stderr, "wrote {}", path.display())),
            Err(message) => status = fail(stderr, &message),
        }
    }
    status
}

fn fail(stderr: &mut dyn Write, message: &str) -> u8 {
    // Nobody is left to tell when the terminal is gone.
    drop(writeln!(stderr, "{message}"));
    1
}

/// Reads the file, drops the outputs of earlier runs and puts in the parameters.
fn prepare(options: &RunOptions) -> Result<Notebook, String> {
    let path = &options.input;
    let mut notebook = if path.extension().is_some_and(|it| it == "ipynb") {
        Notebook::read(path).map_err(|error| error.to_string())?
    } else {
        let source =
            notebooks::read_text(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut notebook = notebooks::from_source(&source);
        if path.extension().is_some_and(|it| it == "py") {
            let code = notebook.cells.iter_mut().filter(|it| it.kind == CellKind::Code);
            code.for_each(|it| it.source = split::uncommented(&it.source));
        }
        notebook
    };
    notebook.strip();
    parameters::inject(&mut notebook, &options.set)?;
    Ok(notebook)
}

fn run_cells(
    log: &Rc<Log>,
    options: &RunOptions,
    handler: &mut dyn Handler,
    stderr: &mut dyn Write,
) -> Result<(), String> {
    let mut count = 0;
    let mut report = Report::default();
    for cell_idx in 0..log.len() {
        let Some((request, may_fail)) = log.with_cell(cell_idx, |cell| {
            let is_run = cell.kind == CellKind::Code && !cell.source.trim().is_empty();
            is_run.then(|| (request(cell, count + 1), cell.has_tag("raises-exception")))
        }) else {
            continue;
        };
        count += 1;
        log.begin(cell_idx, count);
        let ran = run_cell(&request, options, handler, log);
        log.end();
        let Err(failure) = ran else {
            report.ran();
            continue;
        };
        if ends_program(options, &failure) {
            report.ran();
            break;
        }
        log.fail(&failure);
        if may_fail {
            report.ran();
            continue;
        }
        let words = told(&options.input, cell_idx, &failure);
        if !options.keep_going {
            return Err(words);
        }
        fail(stderr, &words);
        report.failed(cell_idx + 1, &request.code, &failure);
    }
    if report.n_failed() > 0 {
        return Err(report.text().trim_end().to_owned());
    }
    if options.keep_going {
        drop(stderr.write_all(report.text().as_bytes()));
    }
    Ok(())
}

/// Whether a program has asked for its end, and had no failure to tell: `sys.exit()`. A cell of a notebook that does so has failed.
fn ends_program(options: &RunOptions, failure: &Failure) -> bool {
    let is_notebook = options.input.extension().is_some_and(|it| it == "ipynb");
    let is_well = matches!(failure.evalue.as_str(), "" | "None" | "0");
    !is_notebook && failure.ename == "SystemExit" && is_well
}

fn request(cell: &Cell, count: u32) -> Execute {
    Execute {
        code: cell.source.clone(),
        execution_count: count,
        store_history: true,
        cell_id: Some(cell.id.clone()),
        ..Execute::default()
    }
}

/// Runs one cell; a panic becomes a failure, and so does a cell that runs too long.
fn run_cell(
    request: &Execute,
    options: &RunOptions,
    handler: &mut dyn Handler,
    log: &Rc<Log>,
) -> Result<(), Failure> {
    let out: Rc<dyn Outputs> = Rc::<Log>::clone(log);
    let watchdog =
        options.timeout.map(|limit| Watchdog::start(limit, Arc::clone(&options.interrupt)));
    let ran = catch_unwind(AssertUnwindSafe(|| handler.execute(request, &out)));
    let ran = ran.unwrap_or_else(|panic| {
        Outcome::Failed(Failure::new("InternalError", panic_message(&*panic)))
    });
    let too_long = watchdog.is_some_and(Watchdog::stop);
    match ran {
        Outcome::Done(value) => {
            value.iter().for_each(|bundle| log.result(bundle));
            Ok(())
        }
        Outcome::Failed(_) if too_long => {
            let limit = options.timeout.unwrap_or_default().as_secs_f64();
            Err(Failure::new(
                "TimeoutError",
                format!("the cell ran longer than {limit} s (--timeout)"),
            ))
        }
        Outcome::Failed(failure) => Err(failure),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(panic.downcast_ref::<&str>().copied());
    format!("a bug in the kernel: {}", text.unwrap_or("it panicked"))
}

fn message(failure: &Failure) -> String {
    format!("{}: {}", failure.ename, failure.evalue)
}

fn told(path: &Path, cell_idx: usize, failure: &Failure) -> String {
    let trace = if failure.traceback.is_empty() {
        message(failure)
    } else {
        ansi::strip(&failure.traceback.join("\n"))
    };
    format!("{}: cell {} failed\n{trace}", path.display(), cell_idx + 1)
}

fn write_files<'a>(notebook: &Notebook, options: &'a RunOptions) -> Vec<Result<&'a Path, String>> {
    let out = options.out.as_deref().map(|path| {
        write(path, &notebook.to_json())?;
        Ok(path)
    });
    let html = options.html.as_deref().map(|path| {
        let stem =
            options.input.file_stem().map_or(String::new(), |it| it.to_string_lossy().into_owned());
        let page = html_page::render(notebook, &stem);
        write(path, &page)?;
        Ok(path)
    });
    out.into_iter().chain(html).collect()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let written = atomic_file::write(path, text.as_bytes());
    written.map_err(|error| format!("{}: {error}", path.display()))
}

/// Sets the interrupt flag when the time is over.
struct Watchdog {
    stop: Sender<()>,
    thread: JoinHandle<bool>,
    interrupt: InterruptFlag,
}

impl Watchdog {
    fn start(limit: Duration, interrupt: InterruptFlag) -> Self {
        let (stop, stopped) = channel::<()>();
        let flag = Arc::clone(&interrupt);
        let thread = std::thread::spawn(move || {
            let is_over = stopped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
            flag.fetch_or(is_over, Ordering::SeqCst);
            is_over
        });
        Self { stop, thread, interrupt }
    }

    /// Ends the watch; says whether the time was over.
    fn stop(self) -> bool {
        drop(self.stop);
        let is_over = self.thread.join().unwrap_or(false);
        if is_over {
            self.interrupt.store(false, Ordering::SeqCst);
        }
        is_over
    }
}

#[cfg(test)]
mod tests;
