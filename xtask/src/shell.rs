//! Running other programs and telling the user what runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}

/// Writes a line for the user.
#[expect(clippy::print_stdout, reason = "a task's output is for the terminal")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

/// A command that runs in the workspace's root.
pub(crate) fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(root());
    command
}

/// The `cargo` that started this task.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from))
}

/// Runs a command with its output shown; fails when it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = describe(command);
    say(&format!("$ {line}"));
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Whether a program can be started with `--version`.
pub(crate) fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null()).status().is_ok_and(|it| it.success())
}

fn describe(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let args = command.get_args().map(|it| it.to_string_lossy().into_owned());
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}
