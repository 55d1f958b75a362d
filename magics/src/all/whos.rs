//! `%whos`: the names of the session with type and value.

use crate::args::Args;
use crate::artifact::{Artifact, Table};
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "whos",
    summary: "List the names of the session with type and value.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "loss = 1.5", cell: "%whos", shows: "float" }],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let rows = cx.session.names().into_iter().map(|it| vec![it.name, it.kind, it.summary]);
    let head = ["name", "type", "value"].map(String::from).to_vec();
    Ok(vec![Artifact::Table(Table { head, rows: rows.collect(), ..Table::default() })])
}
