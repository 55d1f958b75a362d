//! `cargo xtask demo`: the quickstart notebook, run by the binary alone.

use anyhow::Result;

use crate::shell;

/// Builds the release binary, runs the quickstart and names the page it wrote.
pub(crate) fn run(_args: &[String]) -> Result<()> {
    let binary = build()?;
    let folder = shell::root().join("target/demo");
    std::fs::create_dir_all(&folder)?;
    let page = folder.join("quickstart.html");
    let mut command = shell::command(binary);
    command
        .args(["run", "notebooks/quickstart.ipynb", "--out"])
        .arg(folder.join("quickstart.ipynb"));
    shell::run(command.arg("--html").arg(&page))?;
    shell::say(&format!("\nThe notebook ran. Open this page in a browser:\n  {}", page.display()));
    Ok(())
}

/// Builds the release binary; gives its path.
pub(crate) fn build() -> Result<std::path::PathBuf> {
    shell::run(shell::cargo().args(["build", "--release", "--package", "kernel"]))?;
    Ok(target_dir().join("release/notegrad"))
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> std::path::PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| shell::root().join("target"), |dir| shell::root().join(dir))
}
