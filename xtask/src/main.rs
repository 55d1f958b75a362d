//! Project tasks: `cargo xtask demo | test | sanitize | bench | test-cuda | bench-cuda | tidy`.
//!
//! Every task starts from a fresh clone with Rust and Python 3 present and sets up the rest itself, inside `target/`.

mod bench;
mod demo;
mod gpu;
mod sanitize;
mod shell;
mod sweeps;
mod test;
mod tidy;
mod venv;

use std::process::ExitCode;

/// One task of the command line.
struct Task {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const TASKS: &[Task] = &[
    Task {
        name: "demo",
        summary: "build, run the quickstart notebook without Jupyter, write its HTML page",
        run: demo::run,
    },
    Task {
        name: "test",
        summary: "set up Jupyter in a venv, then run every check and test; --full: longer sweeps of what is drawn, too",
        run: test::run,
    },
    Task {
        name: "sanitize",
        summary: "tests of unsafe code under AddressSanitizer and ThreadSanitizer",
        run: sanitize::run,
    },
    Task { name: "bench", summary: "measure beside PyTorch and ipykernel", run: bench::run },
    Task { name: "test-cuda", summary: "the tests of GPUs on a real one", run: gpu::test },
    Task { name: "bench-cuda", summary: "measure a GPU beside PyTorch", run: gpu::bench },
    Task {
        name: "tidy",
        summary: "check crate arrows, file sizes and forbidden text",
        run: tidy::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let task = args.first().and_then(|name| TASKS.iter().find(|it| it.name == name));
    let Some(task) = task else {
        shell::say(&usage());
        return ExitCode::from(2);
    };
    match (task.run)(&args[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            shell::say(&format!("xtask {}: {error:#}", task.name));
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let rows = TASKS.iter().map(|it| format!("  {:<8} {}\n", it.name, it.summary));
    format!("usage: cargo xtask TASK\n\n{}", rows.collect::<String>())
}
