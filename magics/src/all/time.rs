//! `%time`: how long one run takes.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::from_value;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "time",
    summary: "Run a line, or with %%time the cell, and say how long it took.",
    args: &[Arg::Line { name: "CODE", help: "the line to run" }],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[Example { setup: "", cell: "%time 1 + 1", shows: "Wall time" }],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let code = cx.code(args);
    let start = cx.session.cx.host.monotonic();
    let value = cx.eval(&code)?;
    let seconds = cx.session.cx.host.monotonic() - start;
    let mut shown = vec![Artifact::Text(format!("Wall time: {}", duration(seconds)))];
    if let Some(value) = value.filter(|it| !it.is_none()) {
        let text = cx.session.repr(&value).map_err(|it| MagicError::Raised(Box::new(it)))?;
        shown.push(from_value::artifact_of(&value, &text));
    }
    Ok(shown)
}

/// Three digits with the unit that fits: `12.3 ms`.
pub(super) fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        it if it < 1e-6 => (it * 1e9, "ns"),
        it if it < 1e-3 => (it * 1e6, "µs"),
        it if it < 1.0 => (it * 1e3, "ms"),
        it => (it, "s"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}
