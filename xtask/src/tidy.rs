//! `cargo xtask tidy`: the checks of `tests/tests/workspace.rs`, on their own.

use anyhow::Result;

use crate::shell;

/// Runs the workspace checks.
pub(crate) fn run(_args: &[String]) -> Result<()> {
    shell::run(shell::cargo().args([
        "test",
        "--quiet",
        "--package",
        "tests",
        "--test",
        "workspace",
    ]))
}
