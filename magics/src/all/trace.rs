//! `%trace`: compiles cells and functions into static graphs.

use engine::trace::Options;
use frontend_lang::trace::{TracedFn, notice};
use frontend_lang::value::Value;

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::graph_view;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "trace",
    summary: "Compile this cell, all following cells (on, off) or functions into static graphs. In a cell, the body of each \
              innermost loop is one traced step; without a loop, the whole cell is. `status` and `show NAME` look at what \
              was recorded.",
    args: &[
        Arg::Rest {
            name: "WHAT",
            help: "on, off, status, show NAME, or names of functions; nothing: this cell",
        },
        Arg::Switch { name: "--symbolic", help: "build the graph without running the body's ops" },
        Arg::Switch {
            name: "--capture-as-const",
            help: "captured tensors become constants of the graph",
        },
        Arg::Flag {
            name: "--opt-level",
            value: "N",
            help: "0 no passes, 1 tidy, 2 all passes, 3 also fusion",
        },
        Arg::Flag { name: "--stage", value: "STAGE", help: "of show: raw, optimized or plan" },
    ],
    on_cell: OnCell::ThenRun,
    run,
    examples: &[
        Example { setup: "def f(x):\n    return x * 2", cell: "%trace f", shows: "f" },
        Example { setup: "", cell: "%trace on", shows: "cells are traced" },
        Example { setup: "", cell: "%trace missing", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let options = options(args)?;
    let words: Vec<&str> = args.words_from(0).iter().map(String::as_str).collect();
    match words.as_slice() {
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
        ["show", name] => show(cx, name, args.flag("--stage").unwrap_or("optimized")),
        names => names.iter().map(|name| wrap(cx, name, &options)).collect(),
    }
}

fn options(args: &Args) -> Result<Options, MagicError> {
    let opt_level = match args.flag("--opt-level") {
        None => Options::default().opt_level,
        Some(text) => text.parse().ok().filter(|it| *it <= 3).ok_or_else(|| {
            MagicError::usage(&MAGIC, format!("--opt-level takes 0 to 3, not `{text}`"))
        })?,
    };
    Ok(Options {
        symbolic: args.switch("--symbolic"),
        capture_as_const: args.switch("--capture-as-const"),
        opt_level,
        ..Options::default()
    })
}

fn wrap(cx: &mut MagicCx<'_>, name: &str, options: &Options) -> Result<Artifact, MagicError> {
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
    let traced = Value::object(TracedFn::new(func, options.clone()));
    cx.session.set_global(name, traced.clone());
    cx.settings.traced.insert(name.into(), traced);
    Ok(Artifact::Text(format!("{name} is traced from its next call on")))
}

/// Every traced function among the global names.
fn traced_names(cx: &mut MagicCx<'_>) -> Vec<(String, Value)> {
    let names: Vec<String> = cx.session.names().into_iter().map(|it| it.name).collect();
    let found =
        names.into_iter().filter_map(|name| Some((name.clone(), cx.session.global(&name)?)));
    found.filter(|it| it.1.downcast::<TracedFn>().is_some()).collect()
}

fn status(cx: &mut MagicCx<'_>) -> Artifact {
    let row = |(name, value): &(String, Value)| {
        let stats = value.downcast::<TracedFn>().map(|it| it.traced().stats()).unwrap_or_default();
        vec![
            name.clone(),
            stats.calls.to_string(),
            stats.branches.to_string(),
            stats.recorded.to_string(),
            stats.replayed.to_string(),
            format!("{:.1}", stats.compile_seconds * 1e3),
            stats.departure.as_ref().map(notice::summary).unwrap_or_default(),
        ]
    };
    let rows = traced_names(cx).iter().map(row).collect();
    let head = [
        "function",
        "calls",
        "branches",
        "ops recorded",
        "ops replayed",
        "compile ms",
        "last notice",
    ];
    let caption = match cx.settings.trace {
        Some(_) => "Cells are traced.",
        None => "Cells run eagerly unless they begin with %trace.",
    };
    Artifact::Table(Table {
        caption: caption.into(),
        head: head.map(String::from).to_vec(),
        rows,
        numeric: vec![1, 2, 3, 4, 5],
    })
}

fn show(cx: &mut MagicCx<'_>, name: &str, stage: &str) -> Result<Vec<Artifact>, MagicError> {
    let value = cx.global(name)?;
    let traced = value.downcast::<TracedFn>().ok_or_else(|| {
        MagicError::failed(format!("`{name}` is not traced; run `%trace {name}` and call it first"))
    })?;
    let recorded = traced.traced();
    let n_args = traced.last_call().map_or(0, |it| it.tensors.len());
    let title = format!("{name} ({stage})");
    let graph = match stage {
        "raw" => recorded.graph(0)?,
        "optimized" => recorded.optimized(0)?.0,
        "plan" => return Ok(vec![Artifact::Text(recorded.plan(0)?.to_string())]),
        other => {
            let message = format!("there is no stage `{other}`; stages: raw, optimized, plan");
            return Err(MagicError::usage(&MAGIC, message));
        }
    };
    Ok(vec![Artifact::Graph(graph_view::drawing(&graph, title, n_args))])
}
