//! `notegrad load-and-run`: loads a model file, runs it, times it, and checks the test cases that it holds.
//!
//! Each of `--thread N` threads loads and runs the model on its own; what a thread does is in `session`.

mod inputs;
mod options;
mod report;
mod session;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;
use std::thread;

use serde_json::json;

use crate::cli::{CliResult, say};
use crate::signals;
use engine::{cpu::pool, fastrun};

use options::Options;
use report::Printer;
use session::Run;

pub use options::USAGE;

/// Stack of a thread that loads and runs, in bytes.
const STACK: usize = 64 << 20;

/// Loads and runs; status 1 if the model cannot be used or an output is not what its test case expects.
pub fn run(args: Vec<OsString>) -> CliResult {
    let options = Options::parse(args)?;
    signals::on_interrupt(|| std::process::exit(130));
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        // A panic is reported as an error below, and the reader of damaged models turns its own into errors.
        panic::set_hook(Box::new(|_| {}));
    }
    if let Some(threads) = options.multithread {
        pool::set_threads(threads);
    }
    let printer = Printer { prefix: String::new(), is_quiet: options.json };
    let version = env!("CARGO_PKG_VERSION");
    printer.line(&format!("notegrad load-and-run:\nusing Notegrad {version}\n"));
    load_policy(&options, &printer)?;
    let runs = run_threads(&options)?;
    if let Some(path) = &options.policy {
        let count = fastrun::save(path)?;
        printer.line(&format!("fast-run cache: {count} entries in {}", path.display()));
    }
    finish(&options, &printer, &runs)
}

fn load_policy(options: &Options, printer: &Printer) -> Result<(), String> {
    let Some(path) = options.policy.as_ref().filter(|it| it.exists()) else { return Ok(()) };
    match fastrun::load(path) {
        Ok(count) => {
            printer.line(&format!("fast-run cache: {count} entries from {}", path.display()));
            Ok(())
        }
        // What is measured now takes the place of a damaged file.
        Err(error) if options.is_fast || options.is_full => {
            printer.warn(&format!("{}: {error}; it will be replaced", path.display()));
            Ok(())
        }
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn run_threads(options: &Options) -> Result<Vec<Run>, String> {
    let one = |idx: usize| {
        let prefix = if options.threads > 1 { format!("[{idx}] ") } else { String::new() };
        session::run(options, &Printer { prefix, is_quiet: options.json })
    };
    thread::scope(|scope| {
        let mut started = Vec::new();
        for idx in 0..options.threads {
            let builder = thread::Builder::new().stack_size(STACK);
            let handle = builder.spawn_scoped(scope, move || one(idx));
            started.push(handle.map_err(|error| format!("cannot start thread {idx}: {error}"))?);
        }
        let results: Vec<_> = started.into_iter().map(thread::ScopedJoinHandle::join).collect();
        results.into_iter().map(|it| it.unwrap_or_else(|cause| Err(panicked(&*cause)))).collect()
    })
}

fn panicked(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("the model cannot be run, for a defect of this program: {text}")
}

fn finish(options: &Options, printer: &Printer, runs: &[Run]) -> CliResult {
    let throughput: f64 = runs.iter().map(Run::throughput).sum();
    if runs.len() > 1 {
        let n = runs.len();
        printer.line(&format!("=== {n} threads: throughput={throughput:.3} runs/s"));
    }
    let mismatches: Vec<&str> =
        runs.iter().flat_map(|it| &it.tests).flat_map(|it| it.mismatch.as_deref()).collect();
    if options.json {
        let line = json!({
            "model": options.model.to_string_lossy(),
            "ok": mismatches.is_empty(),
            "mismatches": mismatches,
            "throughput_per_s": throughput,
            "runs": runs.iter().map(Run::json).collect::<Vec<_>>(),
        });
        say(&format!("{line}\n"));
    }
    match mismatches.first() {
        None => Ok(ExitCode::SUCCESS),
        Some(first) if mismatches.len() == 1 => Err((*first).into()),
        Some(first) => Err(format!("{first} (and {} more)", mismatches.len() - 1).into()),
    }
}
