//! `cargo xtask test-cuda | bench-cuda`: on a machine with a GPU. Neither needs a network once the project is built.
//!
//! Where there is no Rust, the tests run from what was built elsewhere: `cargo test --no-run -p engine` names the file, and
//! `NOTEGRAD_EMULATED_GPU=0 FILE ops::gpu` runs it.

use anyhow::Result;

use crate::{demo, shell};

/// Tests of GPUs. Those of plans and traces run one after the other: what a kernel refuses is told to whoever waits next.
const TESTS: &[(&[&str], &[&str])] = &[
    (&["-p", "engine", "ops::gpu"], &["--nocapture"]),
    (&["-p", "engine", "gpu_tests"], &["--test-threads=1"]),
    (&["-p", "tests", "--test", "cuda"], &["--nocapture"]),
    (&["-p", "tests", "--test", "trace_cells", "gpu"], &["--include-ignored", "--test-threads=1"]),
    (&["-p", "tests", "--test", "trace_programs", "gpu"], &["--test-threads=1"]),
];

/// Runs every row, gradients, plans, traces and the spec of GPUs on the real one.
pub(crate) fn test(_args: &[String]) -> Result<()> {
    for (target, options) in TESTS {
        let mut command = shell::cargo();
        command.args(["test", "--release"]).args(*target).arg("--").args(*options);
        shell::run(command.env("NOTEGRAD_EMULATED_GPU", "0"))?;
    }
    Ok(())
}

/// Measures beside the PyTorch of `python3`, or of the interpreter behind `--python`.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    let binary = demo::build()?;
    let (python, rest) = match args {
        [flag, python, rest @ ..] if flag == "--python" => (python.as_str(), rest),
        rest => ("python3", rest),
    };
    let mut command = shell::command(python);
    command
        .args(["tests/bench/run.py", "--only", "cuda,cuda_steps,cuda_nets", "--threads", "1"])
        .args(rest);
    shell::run(command.env("NOTEGRAD", binary))
}
