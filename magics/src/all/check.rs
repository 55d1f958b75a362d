//! `%check`: whether cells are checked before they run.

use frontend_lang::check::{Level, lint, memory};

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "check",
    summary: "Check cells before they run: wrong shapes, unknown names and the like are shown before anything long has run; a cell \
              that is quick runs as far as its mistake. `early` runs nothing of such a cell, `strict` counts its own `raise` and \
              `assert` too. As %%check it holds for one cell.",
    args: &[
        Arg::Optional {
            name: "LEVEL",
            help: "on, early, strict or off; cost: what the latest took, and the memory that its cell needs; nothing: say which it is",
        },
        Arg::Rest { name: "LINT", help: "after `quiet`: warnings that are not to be shown" },
    ],
    on_cell: OnCell::ThenRun,
    run,
    examples: &[
        Example { setup: "", cell: "%check", shows: "check: on" },
        Example { setup: "", cell: "%check off", shows: "check: off" },
        Example {
            setup: "",
            cell: "%%check strict\nassert 1 == 2",
            shows: "error: AssertionError",
        },
        Example { setup: "", cell: "%check quiet float-eq", shows: "not shown: float-eq" },
        Example { setup: "", cell: "%check quiet memory::cell", shows: "not shown: memory::cell" },
        Example { setup: "x = [1]", cell: "%check cost", shows: "operations" },
        Example { setup: "", cell: "%check maybe", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let level = match args.word(0) {
        None => return Ok(vec![said(cx.settings.check)]),
        Some("on") => Level::On,
        Some("early") => Level::Early,
        Some("off") => Level::Off,
        Some("strict") => Level::Strict,
        Some("cost") => return Ok(vec![cost(cx)]),
        Some("quiet") => return quiet(cx, args.words_from(1)),
        Some(other) => {
            let message = format!("`{other}` is none of on, early, strict, off, cost and quiet");
            return Err(MagicError::usage(&MAGIC, message));
        }
    };
    cx.options.check = level;
    if cx.body.is_some() {
        return Ok(Vec::new());
    }
    cx.settings.check = level;
    Ok(vec![said(level)])
}

/// Silences lints by name.
fn quiet(cx: &mut MagicCx<'_>, names: &[String]) -> Result<Vec<Artifact>, MagicError> {
    for name in names {
        if lint::find(name).is_none() && name != memory::CODE {
            let mut known: Vec<&str> = lint::ALL.iter().map(|it| it.name).collect();
            known.push(memory::CODE);
            let message = format!("there is no warning `{name}`; there are {}", known.join(", "));
            return Err(MagicError::usage(&MAGIC, message));
        }
        cx.session.quiet_lints.insert(name.clone());
    }
    Ok(vec![Artifact::Text(format!("not shown: {}", names.join(", ")))])
}

/// What the check of the latest cell took.
fn cost(cx: &MagicCx<'_>) -> Artifact {
    let cost = cx.session.cx.check_cost;
    let milliseconds = cost.seconds * 1e3;
    let memory = cost.memory;
    let about = if memory.whole { "about" } else { "at least" };
    let (most, before) = (memory::size(memory.peak), memory::size(memory.before));
    let line = memory.place.and_then(|it| {
        let source = cx.session.cx.sources.get(it.source)?;
        Some(format!(" at {}:{}", source.name, source.line_column(it.start).0))
    });
    Artifact::Text(format!(
        "the latest check took {milliseconds:.2} ms: {} operations, {} copies\n\
         tensors of the cell: {about} {most} at a time{}, {before} of it before",
        cost.steps,
        cost.copied,
        line.unwrap_or_default()
    ))
}

fn said(level: Level) -> Artifact {
    let name = match level {
        Level::Off => "off",
        Level::On => "on",
        Level::Early => "early",
        Level::Strict => "strict",
    };
    Artifact::Text(format!("check: {name}"))
}
