//! `%trace`: compiles cells and functions into static graphs.

use engine::passes::{EXACT, RELAXED};
use engine::rewrite::run::Log;
use engine::trace::Options;
use engine::{lower, passes};
use frontend_lang::trace::{TracedFn, WithoutHost, notice};
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::graph_view::{self, Stage};
use crate::notebook::MagicCx;
use crate::tensor_names::TensorNames;
use crate::traced::{self, Named, Subject};
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "trace",
    summary: "Compile this cell, all following cells (on, off) or functions into static graphs. In a cell, the body of each \
              loop is one traced step, of loops inside each other that which has the work; without a loop, the whole cell is. `status` lists what was recorded, \
              `show` draws it: `show NAME` a function, `show 3` cell 3, `show 3:2` its loop at line 2, `show` what ran last.",
    args: &[
        Arg::Rest {
            name: "WHAT",
            help: "on, off, status, show [NAME|CELL|CELL:LINE], or names of functions; nothing: this cell",
        },
        Arg::Switch { name: "--symbolic", help: "build the graph without running the body's ops" },
        Arg::Switch {
            name: "--capture-as-const",
            help: "captured tensors become constants of the graph",
        },
        Arg::Switch {
            name: "--without-host",
            help: "of functions: what prevents a run without the body is an error at its line",
        },
        Arg::Switch {
            name: "--check",
            help: "compare each call with eager execution; the first op that differs is an error at its line",
        },
        Arg::Switch { name: "--always", help: "trace also what is quicker as it was written" },
        Arg::Switch {
            name: "--relaxed",
            help: "also what rounds otherwise than eager code: attention by hand as one kernel, batch norm folded into constant weights; status names it",
        },
        Arg::Flag {
            name: "--opt-level",
            value: "N",
            help: "0 no passes, 1 tidy, 2 all passes, 3 also fusion, 4 as --relaxed",
        },
        Arg::Flag {
            name: "--stage",
            value: "STAGE",
            help: "of show: raw, optimized, plan or code",
        },
        Arg::Flag {
            name: "--depth",
            value: "N",
            help: "of show: modules, and ops that consist of others, are one box where they are inside N - 1 others; 0: none is",
        },
    ],
    on_cell: OnCell::ThenRun,
    run,
    examples: &[
        Example { setup: "def f(x):\n    return x * 2", cell: "%trace f", shows: "f" },
        Example { setup: "", cell: "%trace on", shows: "cells are traced" },
        Example {
            setup: "def f(x):\n    return x * 2",
            cell: "%trace f --without-host",
            shows: "f is traced",
        },
        Example {
            setup: "def f(x):\n    return x * 2",
            cell: "%trace f --check",
            shows: "f is traced",
        },
        Example {
            setup: "def f(x):\n    return x * 2",
            cell: "%trace f --relaxed",
            shows: "f is traced",
        },
        Example { setup: "", cell: "%trace --relaxed --opt-level 2", shows: "error: MagicError" },
        Example { setup: "", cell: "%trace --without-host", shows: "error: MagicError" },
        Example { setup: "", cell: "%trace status --depth 2", shows: "error: MagicError" },
        Example { setup: "", cell: "%trace missing", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let options = options(args)?;
    let without_host = match args.switch("--without-host") {
        true => WithoutHost::Always,
        false => WithoutHost::IfPossible,
    };
    let words: Vec<&str> = args.words_from(0).iter().map(String::as_str).collect();
    if words.first() != Some(&"show") {
        only_of_show(args)?;
    }
    match words.as_slice() {
        [] | ["on"] if without_host == WithoutHost::Always => Err(MagicError::usage(
            &MAGIC,
            "--without-host is for functions, not cells: put the step into a function and name it"
                .into(),
        )),
        [] => {
            cx.options.trace = Some(options);
            Ok(Vec::new())
        }
        ["on"] => {
            cx.settings.trace = Some(options.clone());
            cx.options.trace = Some(options);
            Ok(vec![Artifact::Text("cells are traced from here on; %trace off ends it".into())])
        }
        ["off"] => {
            cx.settings.trace = None;
            cx.options.trace = None;
            Ok(vec![Artifact::Text("cells run eagerly from here on".into())])
        }
        ["status"] => Ok(vec![status(cx)]),
        ["show", rest @ ..] if rest.len() < 2 => {
            let stage = args.flag("--stage").unwrap_or("optimized");
            show(cx, rest.first().copied(), stage, depth(args)?)
        }
        names => names.iter().map(|name| wrap(cx, name, &options, without_host)).collect(),
    }
}

/// Refuses what says how a graph is shown, where none is.
fn only_of_show(args: &Args) -> Result<(), MagicError> {
    match ["--stage", "--depth"].into_iter().find(|name| args.flag(name).is_some()) {
        None => Ok(()),
        Some(name) => Err(MagicError::usage(
            &MAGIC,
            format!("{name} is for %trace show: write %trace show NAME {name} ..."),
        )),
    }
}

fn options(args: &Args) -> Result<Options, MagicError> {
    let opt_level = match (args.flag("--opt-level"), args.switch("--relaxed")) {
        (None, false) => Options::default().opt_level,
        (None, true) => RELAXED,
        (Some(_), true) => {
            let message = "--relaxed is --opt-level 4: write one of them".into();
            return Err(MagicError::usage(&MAGIC, message));
        }
        (Some(text), false) => text.parse().ok().filter(|it| *it <= RELAXED).ok_or_else(|| {
            MagicError::usage(&MAGIC, format!("--opt-level takes 0 to {RELAXED}, not `{text}`"))
        })?,
    };
    Ok(Options {
        symbolic: args.switch("--symbolic"),
        capture_as_const: args.switch("--capture-as-const"),
        always: args.switch("--always"),
        check: args.switch("--check"),
        opt_level,
        ..Options::default()
    })
}

fn wrap(
    cx: &mut MagicCx<'_>,
    name: &str,
    options: &Options,
    without_host: WithoutHost,
) -> Result<Artifact, MagicError> {
    let value = cx.global(name)?;
    let func = match value.downcast::<TracedFn>() {
        Some(traced) => traced.func().clone(),
        None => value,
    };
    if !cx.session.cx.is_callable(&func) {
        return Err(MagicError::failed(format!(
            "`{name}` is not a function; %trace takes functions"
        )));
    }
    let traced = Value::object(TracedFn::new(func, options.clone(), without_host));
    cx.session.set_global(name, traced.clone());
    cx.settings.traced.insert(name.into(), traced);
    Ok(Artifact::Text(format!("{name} is traced from its next call on")))
}

/// The first column of the status that holds words again.
const BEHIND_NUMBERS: usize = 9;

fn status(cx: &mut MagicCx<'_>) -> Artifact {
    let subjects = traced::all(cx);
    let mut rows: Vec<Vec<String>> = subjects.iter().map(status_row).collect();
    let mut head = [
        "traced",
        "calls",
        "branches",
        "ops recorded",
        "ops replayed",
        "compile ms",
        "launches",
        "arena kB",
        "without body",
        "what prevents that",
        "last notice",
    ]
    .map(String::from)
    .to_vec();
    if subjects.iter().any(|it| it.traced.options().level() > EXACT) {
        head.insert(BEHIND_NUMBERS, "rounds otherwise by".into());
        let rows = rows.iter_mut().zip(&subjects);
        rows.for_each(|(row, subject)| row.insert(BEHIND_NUMBERS, relaxed_by(subject)));
    }
    let caption = match cx.settings.trace {
        Some(_) => "Cells are traced.",
        None => "Cells run eagerly unless they begin with %trace.",
    };
    let numeric = (1..BEHIND_NUMBERS).collect();
    Artifact::Table(Table { caption: caption.into(), head, rows, numeric })
}

/// The passes behind which results are rounded in another way than by eager code.
fn relaxed_by(subject: &Subject) -> String {
    match subject.traced.stats().relaxed.as_slice() {
        [] => "nothing".into(),
        passes => passes.join(", "),
    }
}

fn status_row(subject: &Subject) -> Vec<String> {
    let stats = subject.traced.stats();
    let compiled = subject.traced.latest().map(|it| it.compiled).unwrap_or_default();
    vec![
        subject.title.clone(),
        (stats.calls + subject.eager).to_string(),
        stats.branches.to_string(),
        stats.recorded.to_string(),
        stats.replayed.to_string(),
        format!("{:.1}", stats.compile_seconds * 1e3),
        if compiled.segments == 0 { "none yet".into() } else { compiled.launches.to_string() },
        format!("{:.1}", compiled.arena_bytes as f64 / 1e3),
        subject.alone.to_string(),
        subject.prevented.clone(),
        stats.departure.as_ref().map(notice::summary).unwrap_or_default(),
    ]
}

/// To which depth parts are opened.
fn depth(args: &Args) -> Result<Option<usize>, MagicError> {
    let Some(text) = args.flag("--depth") else { return Ok(None) };
    let depth = text.parse().map_err(|_| {
        MagicError::usage(&MAGIC, format!("--depth takes a number from 0 on, not `{text}`"))
    })?;
    Ok(Some(depth))
}

fn show(
    cx: &mut MagicCx<'_>,
    word: Option<&str>,
    stage: &str,
    depth: Option<usize>,
) -> Result<Vec<Artifact>, MagicError> {
    let stages = [("raw", Stage::Raw), ("optimized", Stage::Optimized), ("plan", Stage::Plan)];
    let found = stages.into_iter().find(|it| it.0 == stage);
    if found.is_none() && stage != "code" {
        let message = format!("there is no stage `{stage}`; stages: raw, optimized, plan, code");
        return Err(MagicError::usage(&MAGIC, message));
    }
    let subjects = traced::find(cx, word)?;
    let Some(stage) = found else {
        return subjects.iter().map(|it| Ok(Artifact::Text(code(it)?))).collect();
    };
    let names = TensorNames::gather(&mut cx.session.cx);
    let shown = subjects.iter().map(|it| pictures(it, &names, stage, depth));
    Ok(shown.collect::<Result<Vec<_>, _>>()?.concat())
}

/// What the launches of elementwise ops compute, as CUDA C.
fn code(subject: &Subject) -> Result<String, MagicError> {
    let opt_level = subject.traced.options().level();
    let graph = passes::optimize(subject.traced.latest()?.graph, opt_level, &mut Log::default())?;
    let text = lower::compile(&graph, opt_level >= 3)?.cuda_text();
    Ok(format!("// {}\n{text}", subject.title))
}

fn pictures(
    subject: &Subject,
    names: &TensorNames,
    (name, stage): (&str, Stage),
    depth: Option<usize>,
) -> Result<Vec<Artifact>, MagicError> {
    let latest = subject.traced.latest()?;
    let named = Named::of(subject, &latest, names);
    let calls = match (latest.n_calls, subject.traced.stats().calls) {
        (1, 1) => "1 call".into(),
        (n_calls, all) if n_calls == all => format!("{all} calls"),
        (n_calls, all) => format!("the path of {n_calls} of {all} calls"),
    };
    let title = format!("{} ({name}), {calls}", subject.title);
    let opt_level = if stage == Stage::Raw { 0 } else { subject.traced.options().level() };
    let graph = passes::optimize(latest.graph, opt_level, &mut Log::default())?;
    let drawn = graph_view::drawing(&graph, title, &named, names, (stage, depth));
    let mut shown = vec![Artifact::Graph(drawn)];
    if stage == Stage::Plan {
        shown.push(Artifact::Text(lower::compile(&graph, opt_level >= 3)?.to_string()));
    }
    Ok(shown)
}
