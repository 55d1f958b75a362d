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
    /// Tests that are run each time beside those in the libraries.
    tests: &'static [&'static str],
    /// Tests that are not run, by parts of their names, and those that only `--full` runs.
    skipped: (&'static [&'static str], &'static [&'static str]),
}

/// All tests of both crates, and only building what would run.
const FULL: &str = "--full";
const BUILD: &str = "--no-run";
const OPTIONS: &[&str] = &[FULL, BUILD];

/// Tests that compare times say nothing here.
const TIMED: &[&str] = &["fastrun::"];

/// Walks over all rows, and over many elements: long, and one thread for the most part.
const WALKS: &[&str] = &["ops::walk", "oracle::", "meanings::", "ops::prologues"];

static ALL: &[Sanitizer] = &[
    Sanitizer {
        name: "address",
        flags: "",
        // Lists that live as long as the process are no leaks.
        options: ("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1"),
        tests: &[],
        skipped: (TIMED, &[]),
    },
    Sanitizer {
        name: "thread",
        flags: "-Cunsafe-allow-abi-mismatch=sanitizer",
        options: ("TSAN_OPTIONS", "suppressions=xtask/thread_sanitizer.txt"),
        // Where the language has threads beside it, and is stopped by another one.
        tests: &["long_copies", "prefetch"],
        skipped: (TIMED, WALKS),
    },
];

/// Runs the sanitizers that are named, or both, on the engine's and the language's libraries, where unsafe code is tested; with `--full` on
/// all tests of both; `--no-run` builds them.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        shell::say(&format!("skipped: sanitizers are run on {TARGET}"));
        return Ok(());
    }
    let (options, named): (Vec<&str>, Vec<&str>) =
        args.iter().map(String::as_str).partition(|it| OPTIONS.contains(it));
    if let Some(unknown) = named.iter().find(|it| ALL.iter().all(|row| row.name != **it)) {
        bail!(
            "no sanitizer `{unknown}`; there are `address` and `thread`, and {FULL} for all tests, {BUILD} to build them alone"
        );
    }
    let wanted = |it: &&Sanitizer| named.is_empty() || named.contains(&it.name);
    ALL.iter().filter(wanted).try_for_each(|it| it.run(&options))
}

impl Sanitizer {
    /// Both crates are built at once: while one is read, code is made of the other.
    fn run(&self, options: &[&str]) -> Result<()> {
        let full = options.contains(&FULL);
        let mut cargo = shell::cargo();
        cargo.args(["test", "--quiet", "--target", TARGET]);
        cargo.args(["--package", "engine", "--package", "frontend-lang"]);
        cargo.arg(if full { "--tests" } else { "--lib" });
        if !full {
            cargo.args(self.tests.iter().flat_map(|it| ["--test", it]));
        }
        cargo.args(options.iter().filter(|it| **it == BUILD));
        // What is not ours is compiled in less time, and keeps more of what can be checked.
        cargo.args(["--config", "profile.dev.package.\"*\".opt-level=1", "--"]);
        let (never, at_length) = self.skipped;
        let skipped = never.iter().chain(at_length.iter().filter(|_| !full));
        cargo.args(skipped.flat_map(|it| ["--skip", it]));
        let flags = format!("-Zsanitizer={} --cfg sanitized {}", self.name, self.flags);
        cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags.trim_end());
        cargo.env("CARGO_TARGET_DIR", self.target_dir());
        let (variable, said) = self.options;
        let said = said.replace("xtask/", &format!("{}/xtask/", shell::root().display()));
        // Frames are several times as large.
        cargo.env(variable, said).env("RUST_MIN_STACK", "67108864");
        cargo.env("SANITIZER", self.name);
        shell::say(&format!("{} sanitizer:", self.name));
        shell::run(&mut cargo)
    }

    fn target_dir(&self) -> PathBuf {
        shell::root().join("target").join("sanitize").join(self.name)
    }
}
