//! `%lsmagic`: all magics.

use super::ALL;
use crate::args::Args;
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell, usage};

pub(super) static MAGIC: Magic = Magic {
    name: "lsmagic",
    summary: "List all magics.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "", cell: "%lsmagic", shows: "%dump" }],
};

fn run(_cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let rows = ALL.iter().map(|it| vec![usage(it), it.summary.to_string()]).collect();
    let head = ["usage", "what it does"].map(String::from).to_vec();
    Ok(vec![Artifact::Table(Table { head, rows, ..Table::default() })])
}
