//! `%%markdown`: shows the cell as Markdown.

use crate::args::Args;
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "markdown",
    summary: "Show the text of the cell as Markdown.",
    args: &[],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[Example { setup: "", cell: "%%markdown\n**bold**", shows: "**bold**" }],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let body = cx
        .body
        .ok_or_else(|| MagicError::usage(&MAGIC, "write %%markdown with text below".into()))?;
    Ok(vec![Artifact::Markdown(body.into())])
}
