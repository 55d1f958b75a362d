//! `%fastrun`: measures the algorithms of matrix products and convolutions and remembers the fastest.

use std::path::PathBuf;

use engine::fastrun::{self, Choice, Outcome, Strategy};

use super::time::duration;
use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "fastrun",
    summary: "Measure the algorithms that ops can use and take the fastest; choices are kept on disk. Alone: for this cell. \
              on, profile: for all following cells; full: naive algorithms too; heuristic or off: no measuring; \
              reproducible: only algorithms that give the same bits every time; status: what holds now.",
    args: &[
        Arg::Optional {
            name: "MODE",
            help: "on, off, status, profile, full, heuristic or reproducible",
        },
        Arg::Flag {
            name: "--workspace-limit",
            value: "BYTES",
            help: "leave out algorithms that need more scratch",
        },
        Arg::Flag {
            name: "--shared-batch",
            value: "N",
            help: "measure with batch size N and share the choice",
        },
        Arg::Flag { name: "--cache", value: "FILE", help: "where choices are kept" },
    ],
    on_cell: OnCell::ThenRun,
    run,
    examples: &[
        Example { setup: "", cell: "%fastrun status", shows: "heuristic" },
        Example { setup: "", cell: "%fastrun never", shows: "error: MagicError" },
    ],
};

/// Everything is checked first: a line that fails changes nothing.
fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let mode = args.word(0);
    let strategy = strategy(mode, args)?;
    let given = args.flag("--cache").map(PathBuf::from);
    if let Some(path) = &given {
        fastrun::check(path).map_err(|error| MagicError::failed(format!("--cache {error}")))?;
    }
    if given.is_some() || strategy.is_some_and(|it| it.profile) {
        load_cache(given.clone().or_else(|| cache_path(cx)))?;
    }
    if given.is_some() {
        cx.settings.fastrun_cache = given;
    }
    let Some(strategy) = strategy else {
        return Ok(vec![Artifact::Text(status(cx))]);
    };
    let before = fastrun::set_strategy(strategy);
    let Some(mode) = mode else {
        this_cell(cx, before);
        return Ok(Vec::new());
    };
    Ok(vec![Artifact::Text(format!("fast-run: {mode}, from here on"))])
}

/// What a line asks for; `None` for the status alone.
fn strategy(mode: Option<&str>, args: &Args) -> Result<Option<Strategy>, MagicError> {
    let workspace_limit = number(args, "--workspace-limit", 0)?;
    let shared_batch = number(args, "--shared-batch", 1)?;
    let strategy = match mode {
        None | Some("on" | "profile") => Strategy::FAST,
        Some("full") => Strategy::PROFILE,
        Some("off" | "heuristic") => Strategy::HEURISTIC,
        Some("reproducible") => Strategy { reproducible: true, ..fastrun::strategy() },
        Some("status") => return Ok(None),
        Some(other) => {
            let message = format!("there is no mode `{other}`");
            return Err(MagicError::usage(&MAGIC, message));
        }
    };
    Ok(Some(Strategy { workspace_limit, shared_batch, ..strategy }))
}

/// Measures during the rest of the cell, then shows the choices and goes back.
fn this_cell(cx: &mut MagicCx<'_>, before: Strategy) {
    fastrun::take_report();
    if cx.settings.fastrun_before.is_none() {
        cx.settings.fastrun_before = Some(before);
        cx.at_end.push(finish);
    }
}

fn finish(cx: &mut MagicCx<'_>) -> Result<Vec<Artifact>, MagicError> {
    fastrun::set_strategy(cx.settings.fastrun_before.take().unwrap_or_default());
    let choices = fastrun::take_report();
    save(cx)?;
    Ok(vec![Artifact::Table(table(&choices))])
}

/// Saves what the cell has measured, as under `%fastrun on`.
pub(crate) fn keep(cx: &mut MagicCx<'_>) -> Result<Vec<Artifact>, MagicError> {
    if fastrun::n_measured() > cx.settings.fastrun_kept {
        save(cx)?;
    }
    Ok(Vec::new())
}

fn save(cx: &mut MagicCx<'_>) -> Result<(), MagicError> {
    // What cannot be saved is said once.
    cx.settings.fastrun_kept = fastrun::n_measured();
    let Some(path) = cache_path(cx) else { return Ok(()) };
    // The folder of a file that the user names is there.
    if let (None, Some(folder)) = (&cx.settings.fastrun_cache, path.parent()) {
        cx.session.cx.host.make_dir(&folder.to_string_lossy()).map_err(MagicError::failed)?;
    }
    fastrun::save(&path)?;
    Ok(())
}

fn table(choices: &[Choice]) -> Table {
    let row = |it: &Choice| {
        let candidates = it.candidates.iter().map(|(name, outcome)| match outcome {
            Outcome::Seconds(seconds) => format!("{name} {}", duration(*seconds)),
            Outcome::Skipped(why) => format!("{name} ({why})"),
        });
        let source = if it.from_cache { "cache" } else { "measured" };
        vec![
            it.op.to_string(),
            it.signature.clone(),
            candidates.collect::<Vec<_>>().join(", "),
            it.chosen.to_string(),
            format!("{:.2}x", it.gain),
            source.into(),
        ]
    };
    let measured = choices.iter().filter(|it| !it.from_cache).count();
    let head =
        ["op", "operands", "candidates", "chosen", "gain", "from"].map(String::from).to_vec();
    Table {
        caption: format!("{} choices, {measured} of them measured now", choices.len()),
        head,
        rows: choices.iter().map(row).collect(),
        numeric: vec![4],
    }
}

fn status(cx: &MagicCx<'_>) -> String {
    let strategy = fastrun::strategy();
    let kind = match (strategy.profile, strategy.optimized) {
        (false, _) => "heuristic: the first usable algorithm of each op",
        (true, true) => "profile: all algorithms but naive ones are measured",
        (true, false) => "full: all algorithms are measured",
    };
    let reproducible = if strategy.reproducible { ", reproducible only" } else { "" };
    let cache = cache_path(cx).map_or("none".into(), |it| it.display().to_string());
    format!(
        "{kind}{reproducible}; {} timings so far; choices are kept in {cache}",
        fastrun::n_measured()
    )
}

fn number(args: &Args, name: &str, least: usize) -> Result<Option<usize>, MagicError> {
    let Some(text) = args.flag(name) else { return Ok(None) };
    let number = text.parse().ok().filter(|it| *it >= least);
    number.map(Some).ok_or_else(|| {
        let message = format!("{name} takes a whole number of at least {least}, not `{text}`");
        MagicError::usage(&MAGIC, message)
    })
}

fn cache_path(cx: &MagicCx<'_>) -> Option<PathBuf> {
    let own = || cx.session.cx.host.cache_dir().map(|it| PathBuf::from(it).join("fastrun.jsonl"));
    cx.settings.fastrun_cache.clone().or_else(own)
}

/// Reads earlier choices. A missing file is no error.
fn load_cache(path: Option<PathBuf>) -> Result<(), MagicError> {
    match path.filter(|it| it.exists()) {
        Some(path) => fastrun::load(&path).map(|_| ()).map_err(|error| {
            MagicError::failed(format!("{error}; delete {} to measure anew", path.display()))
        }),
        None => Ok(()),
    }
}
