//! `cargo xtask bench`: measures beside the peers that are importable, in one run, and prints ratios.

use anyhow::Result;

use crate::{demo, shell};

/// Runs the benchmark script. `--python P` names an interpreter that has PyTorch and ipykernel; the default is `python3`.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let binary = demo::build()?;
    let (python, rest) = match args {
        [flag, python, rest @ ..] if flag == "--python" => (python.as_str(), rest),
        rest => ("python3", rest),
    };
    let mut command = shell::command(python);
    command.arg("tests/bench/run.py").args(rest);
    shell::run(command.env("NOTEGRAD", binary))
}
