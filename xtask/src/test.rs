//! `cargo xtask test`: everything that must hold, in the order in which failures are cheapest to find.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{demo, shell, sweeps, venv};

/// Runs format, lints, Rust tests, docs, then the Jupyter tests against an installed kernel; with `--full` also the longer sweeps.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if let Some(unknown) = args.iter().find(|it| *it != "--full") {
        bail!("no option `{unknown}`; there is `--full`, for longer sweeps of what is drawn");
    }
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))?;
    let deny = ["--", "--deny", "warnings"];
    shell::run(
        shell::cargo().args(["clippy", "--workspace", "--all-targets", "--quiet"]).args(deny),
    )?;
    rust_tests()?;
    let mut doc = shell::cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--quiet"]).env("RUSTDOCFLAGS", "-D warnings");
    shell::run(&mut doc)?;
    jupyter_tests()?;
    if args.is_empty() { Ok(()) } else { sweeps::run(&with_nvrtc) }
}

/// With NVRTC of the venv, which has to take all kernels of GPUs that the tests run on the emulated one.
fn rust_tests() -> Result<()> {
    let mut test = shell::cargo();
    test.args(["test", "--workspace", "--quiet"]);
    with_nvrtc(&mut test)?;
    shell::run(&mut test)
}

fn with_nvrtc(test: &mut Command) -> Result<()> {
    if std::env::var_os("NOTEGRAD_CUDA").is_none() {
        test.env("NOTEGRAD_CUDA", venv::packages(&venv::ensure()?)?.join("nvidia/cu13"));
    }
    Ok(())
}

fn jupyter_tests() -> Result<()> {
    let binary = demo::build()?;
    let venv = venv::ensure()?;
    shell::run(shell::command(&binary).args(["install", "--prefix"]).arg(&venv))?;
    let mut pytest = shell::command(venv::bin(&venv, "python"));
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/jupyter"]);
    shell::run(pytest.env("NOTEGRAD", &binary))
}
