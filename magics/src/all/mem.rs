//! `%mem`: how much memory tensors use.

use engine::cpu::memory::HOST;
use engine::words::size;
use frontend_lang::inspect::tensor_bytes;
use frontend_lang::tensor::in_use;

use crate::args::{Arg, Args};
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "mem",
    summary: "Show how much memory tensors use, which names hold the most, and which lines made the largest.",
    args: &[
        Arg::Switch { name: "--reset-peak", help: "measure the peak anew from now on" },
        Arg::Flag {
            name: "--limit",
            value: "SIZE",
            help: "raise OutOfMemoryError above SIZE, such as 500MB or 2GB; `none` for no limit of our own",
        },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "import torch\nbig = torch.ones(1000, 250)", cell: "%mem", shows: "big" },
        Example {
            setup: "import torch\nmodel = torch.nn.Linear(1000, 500)",
            cell: "%mem",
            shows: "model  2.0 MB",
        },
        Example {
            setup: "import torch\na_name_of_a_tensor_that_is_longer_than_most = [{'x': torch.ones(250)}]",
            cell: "%mem",
            shows: "a_name_of_a_tensor_that_is_longer_than_most  1.0 kB",
        },
        Example {
            setup: "import torch\nx = 1\nw = [torch.ones(1000, 250) for _ in range(3)]",
            cell: "%mem",
            shows: "float32[1000, 250]",
        },
        Example { setup: "", cell: "%mem --limit much", shows: "error: MagicError" },
        Example { setup: "", cell: "%mem --limit none", shows: "in use" },
    ],
};

/// Rows of the table of lines that made tensors.
const MOST_MADE: usize = 10;

/// Names in the table; of more, the rest is one row.
const MOST: usize = 40;

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    if let Some(text) = args.flag("--limit") {
        HOST.set_budget(limit(text)?);
    }
    if args.switch("--reset-peak") {
        HOST.reset_peak();
    }
    let stats = HOST.stats();
    let text = format!(
        "tensors: {} in use, {} at most, limit {}; {} kept for reuse",
        size(stats.live),
        size(stats.peak),
        size(stats.budget),
        size(stats.cached)
    );
    let mut shown = vec![Artifact::Text([text, gpus()].concat())];
    let rows = largest(cx);
    if !rows.is_empty() {
        let head = ["name", "size", "value"].map(String::from).to_vec();
        shown.push(Artifact::Table(Table { head, rows, numeric: vec![1], ..Table::default() }));
    }
    let rows = made();
    if !rows.is_empty() {
        let head = ["tensors over 64 kB", "count", "size", "made by"].map(String::from).to_vec();
        shown.push(Artifact::Table(Table { head, rows, numeric: vec![1, 2], ..Table::default() }));
    }
    Ok(shown)
}

/// A line for each GPU.
fn gpus() -> String {
    let line = |index: usize| {
        let stats = engine::cuda::stats(index as u8).ok()?;
        let [live, peak, limit, kept] =
            [stats.live, stats.peak, stats.budget, stats.cached].map(size);
        Some(format!(
            "\ncuda:{index}: {live} in use, {peak} at most, limit {limit}; {kept} kept for reuse"
        ))
    };
    (0..engine::cuda::devices().len()).filter_map(line).collect()
}

/// The tensors that take the most memory, with the lines that made them, largest first.
fn made() -> Vec<Vec<String>> {
    let row = |it: in_use::InUse| {
        let made = it.made.strip_prefix("made by ").unwrap_or(&it.made).to_owned();
        vec![it.what, it.count.to_string(), size(it.bytes), made]
    };
    in_use::largest(MOST_MADE).into_iter().map(row).collect()
}

/// The names that hold tensors, on their own or in objects and containers, largest first.
fn largest(cx: &mut MagicCx<'_>) -> Vec<Vec<String>> {
    let names = cx.session.names();
    let mut found: Vec<(usize, Vec<String>)> = Vec::new();
    for it in names {
        let Some(value) = cx.session.global(&it.name) else { continue };
        let bytes = tensor_bytes(&value);
        if bytes > 0 {
            let summary = it.summary.lines().next().unwrap_or_default().to_owned();
            found.push((bytes, vec![it.name, size(bytes), summary]));
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.0));
    let more = found.split_off(found.len().min(MOST));
    let mut rows: Vec<Vec<String>> = found.into_iter().map(|it| it.1).collect();
    if !more.is_empty() {
        let bytes = more.iter().map(|it| it.0).sum();
        rows.push(vec![format!("{} more", more.len()), size(bytes), String::new()]);
    }
    rows
}

/// Bytes from `500MB`; 0, the default limit, from `none`.
pub(super) fn limit(text: &str) -> Result<usize, MagicError> {
    let wrong = || {
        let message = format!("`{text}` is not a size; write one such as 500MB or 2GB, or none");
        MagicError::usage(&MAGIC, message)
    };
    if text.eq_ignore_ascii_case("none") {
        return Ok(0);
    }
    let digits = text.trim_end_matches(char::is_alphabetic);
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        _ => return Err(wrong()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
    if number > 0.0 { Ok((number * factor) as usize) } else { Err(wrong()) }
}
