//! `cargo xtask test-cuda | bench-cuda`: on a machine with a GPU. Neither needs a network once the project is built.
//!
//! Where there is no Rust, the tests run from what was built elsewhere: `cargo test --no-run -p engine` names the file, and
//! `NOTEGRAD_EMULATED_GPU=0 FILE ops::gpus` runs it.

use anyhow::Result;

use crate::{demo, shell};

/// Runs every row, gradients and the spec of GPUs on the real one.
pub(crate) fn test(_args: &[String]) -> Result<()> {
    for target in [&["-p", "engine", "ops::gpus"][..], &["-p", "tests", "--test", "cuda"]] {
        let mut command = shell::cargo();
        command.args(["test", "--release"]).args(target).args(["--", "--nocapture"]);
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
    command.args(["tests/bench/run.py", "--only", "cuda,cuda_steps,cuda_nets", "--threads", "1"]).args(rest);
    shell::run(command.env("NOTEGRAD", binary))
}
