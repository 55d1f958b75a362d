//! `%passes`: the pipeline of graph passes.

use crate::args::Args;
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "passes",
    summary: "List the graph passes in the order in which they run.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "", cell: "%passes", shows: "fold" }],
};

fn run(_cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let row = |it: &&engine::rewrite::Pass| {
        vec![it.name.to_string(), it.level.to_string(), it.doc.to_string()]
    };
    let rows = engine::passes::ALL.iter().map(row).collect();
    let head = ["pass", "from opt level", "what it does"].map(String::from).to_vec();
    Ok(vec![Artifact::Table(Table { head, rows, numeric: vec![1], ..Table::default() })])
}
