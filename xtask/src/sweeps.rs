//! The longer sweeps of `cargo xtask test --full`: what tests draw at random, more of it and from other seeds, and the fuzz targets.

use anyhow::Result;

use crate::shell;

/// A test whose cases are drawn.
struct Sweep {
    /// Which one: arguments of `cargo test --workspace`.
    test: &'static [&'static str],
    /// The variable that it reads its seed from; none where it goes through all seeds up to a number.
    seed: Option<&'static str>,
    /// The variable that says how much is drawn, and how much that is here.
    count: (&'static str, &'static str),
}

/// Those that every run of the tests has, with a small part of these counts.
static ALL: &[Sweep] = &[
    Sweep {
        test: &["--lib", "passes_and_plans_keep_what_random_graphs_mean"],
        seed: Some("NOTEGRAD_SEED"),
        count: ("NOTEGRAD_GRAPHS", "3000"),
    },
    Sweep { test: &["--lib", "other_sizes_give"], seed: None, count: ("NOTEGRAD_SIZES", "12") },
    Sweep {
        test: &["--test", "trace_programs"],
        seed: Some("SEED"),
        count: ("TRACE_PROGRAMS", "1000"),
    },
    Sweep {
        test: &["--test", "trace_cells", "--", "--include-ignored"],
        seed: Some("SEED"),
        count: ("TRACE_CELLS", "600"),
    },
    Sweep {
        test: &["--test", "cpython"],
        seed: Some("NOTEGRAD_SEED"),
        count: ("NOTEGRAD_PROGRAMS", "10000"),
    },
    Sweep {
        test: &["--test", "check"],
        seed: Some("NOTEGRAD_SEED"),
        count: ("NOTEGRAD_PROGRAMS", "2000"),
    },
    Sweep {
        test: &["--test", "any_arguments"],
        seed: Some("SEED"),
        count: ("ANY_ARGUMENTS", "20"),
    },
];

/// Seeds that no other run draws from.
const SEEDS: &[&str] = &["11", "12"];

/// Targets in `fuzz/`, each for some minutes.
const TARGETS: &[&str] = &["check", "model_file", "parse", "run", "torch_file", "wire"];

/// Runs all of them; `set` is what the tests need besides.
pub(crate) fn run(set: &dyn Fn(&mut std::process::Command) -> Result<()>) -> Result<()> {
    for sweep in ALL {
        for seed in if sweep.seed.is_some() { SEEDS } else { &SEEDS[..1] } {
            let mut test = shell::cargo();
            test.args(["test", "--workspace", "--quiet"]).args(sweep.test);
            set(&mut test)?;
            let variables = sweep.seed.map(|it| (it, *seed)).into_iter().chain([sweep.count]);
            let words: Vec<String> = variables
                .map(|(name, value)| {
                    test.env(name, value);
                    format!("{name}={value}")
                })
                .collect();
            shell::say(&words.join(" "));
            shell::run(&mut test)?;
        }
    }
    fuzz()
}

fn fuzz() -> Result<()> {
    let mut version = shell::cargo();
    version.args(["fuzz", "--version"]).stdout(std::process::Stdio::null());
    let is_there =
        version.stderr(std::process::Stdio::null()).status().is_ok_and(|it| it.success());
    if !is_there {
        shell::say(
            "skipped: no fuzz targets are run; `cargo install cargo-fuzz` gives what they need",
        );
        return Ok(());
    }
    shell::run(shell::command("python3").arg("fuzz/corpus.py"))?;
    for target in TARGETS {
        let mut fuzz = shell::cargo();
        fuzz.current_dir(shell::root().join("fuzz")).env("RUSTC_BOOTSTRAP", "1");
        fuzz.args(["fuzz", "run", "--sanitizer", "none", target, "--", "-max_total_time=300"]);
        shell::run(fuzz.args(["-timeout=10", "-rss_limit_mb=1500"]))?;
    }
    Ok(())
}
