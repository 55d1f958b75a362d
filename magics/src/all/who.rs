//! `%who`: the names of the session.

use crate::args::Args;
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "who",
    summary: "List the names of the session.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "loss = 1.5", cell: "%who", shows: "loss" }],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let names: Vec<String> = cx.session.names().into_iter().map(|it| it.name).collect();
    let text = if names.is_empty() { "no names yet".into() } else { names.join("  ") };
    Ok(vec![Artifact::Text(text)])
}
