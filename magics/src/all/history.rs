//! `%history`: the cells that ran.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "history",
    summary: "Show the cells of this session, in the order in which they ran.",
    args: &[
        Arg::Switch { name: "-n", help: "with the number of each" },
        Arg::Flag { name: "-l", value: "N", help: "only the last N" },
        Arg::Flag { name: "-g", value: "TEXT", help: "only those that contain TEXT" },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "width = 3", cell: "%history -n", shows: "1: width = 3" },
        Example { setup: "width = 3", cell: "%history -g height", shows: "no cell" },
        Example { setup: "", cell: "%history -l few", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let most = match args.flag("-l") {
        Some(text) => text.parse().map_err(|_| {
            MagicError::usage(&MAGIC, format!("-l takes a whole number, not `{text}`"))
        })?,
        None => usize::MAX,
    };
    // The last one is the cell that asks.
    let earlier = &cx.cells[..cx.cells.len().saturating_sub(1)];
    let sought = args.flag("-g").unwrap_or_default();
    let found = earlier.iter().enumerate().filter(|it| it.1.contains(sought));
    let found: Vec<(usize, &String)> = found.collect();
    let shown = found[found.len().saturating_sub(most)..].iter().map(|(idx, cell)| {
        if args.switch("-n") { format!("{}: {cell}", idx + 1) } else { (*cell).clone() }
    });
    let text = shown.collect::<Vec<_>>().join("\n");
    Ok(vec![Artifact::Text(if text.is_empty() { "no cell to show".into() } else { text })])
}
