//! `cargo xtask sanitize`: tests of the engine and the language under AddressSanitizer and ThreadSanitizer.
//!
//! The stable toolchain ships their run times, so no other is needed. Builds lie in `target/sanitize/`. With `cfg(sanitized)` each
//! buffer is a block of its own length (`engine/src/cpu/alloc.rs`): in a cache of blocks nothing beyond a buffer would be seen.
//! The standard library comes without their checks. AddressSanitizer needs none there; to ThreadSanitizer the engine's locks show what
//! they order (`engine/src/sync.rs`), and what else it takes for a race because of that stands in `xtask/thread_sanitizer.txt`.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::shell;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// One sanitizer and what is run under it.
struct Sanitizer {
    name: &'static str,
    /// What the compiler needs beside `-Zsanitizer`.
    flags: &'static str,
    /// The variable that its run time reads, and what it says; file names are those of this folder.
    options: (&'static str, &'static str),
    /// Crates and which of the tests in their libraries are run each time: arguments of the test runner.
    tests: &'static [(&'static str, &'static [&'static str])],
}

/// Tests that compare times say nothing here.
const UNTIMED: &[&str] = &["--skip", "fastrun::"];

static ALL: &[Sanitizer] = &[
    Sanitizer {
        name: "address",
        flags: "",
        // Lists that live as long as the process are no leaks.
        options: ("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"),
        tests: &[("engine", UNTIMED), ("frontend-lang", &[])],
    },
    Sanitizer {
        name: "thread",
        flags: "-Cunsafe-allow-abi-mismatch=sanitizer",
        options: ("TSAN_OPTIONS", "suppressions=xtask/thread_sanitizer.txt"),
        tests: &[("engine", UNTIMED)],
    },
];

/// Runs the sanitizers that are named, or both, on the modules that hold unsafe code; with `--full` on all tests of the engine and the
/// language.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        shell::say(&format!("skipped: sanitizers are run on {TARGET}"));
        return Ok(());
    }
    let full = args.iter().any(|it| it == "--full");
    let named: Vec<&String> = args.iter().filter(|it| *it != "--full").collect();
    if let Some(unknown) = named.iter().find(|it| ALL.iter().all(|row| row.name != **it)) {
        bail!(
            "no sanitizer `{unknown}`; there are `address` and `thread`, and `--full` for all tests"
        );
    }
    let wanted = |it: &&Sanitizer| named.is_empty() || named.iter().any(|name| *name == it.name);
    ALL.iter().filter(wanted).try_for_each(|it| if full { it.run_all() } else { it.run() })
}

impl Sanitizer {
    fn run(&self) -> Result<()> {
        self.tests.iter().try_for_each(|(package, which)| self.test(&["--package", package], which))
    }

    fn run_all(&self) -> Result<()> {
        self.test(&["--package", "engine", "--package", "frontend-lang", "--tests"], UNTIMED)
    }

    fn test(&self, what: &[&str], which: &[&str]) -> Result<()> {
        let mut cargo = shell::cargo();
        cargo.args(["test", "--quiet", "--target", TARGET]).args(what);
        if !what.contains(&"--tests") {
            cargo.arg("--lib");
        }
        // What is not ours is compiled in less time, and keeps more of what can be checked.
        cargo.args(["--config", "profile.dev.package.\"*\".opt-level=1", "--"]).args(which);
        let flags = format!("-Zsanitizer={} --cfg sanitized {}", self.name, self.flags);
        cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags.trim_end());
        cargo.env("CARGO_TARGET_DIR", self.target_dir());
        let options =
            self.options.1.replace("xtask/", &format!("{}/xtask/", shell::root().display()));
        // Frames are several times as large.
        cargo.env(self.options.0, options).env("RUST_MIN_STACK", "67108864");
        cargo.env("SANITIZER", self.name);
        shell::say(&format!("{} sanitizer:", self.name));
        shell::run(&mut cargo)
    }

    fn target_dir(&self) -> PathBuf {
        shell::root().join("target").join("sanitize").join(self.name)
    }
}
