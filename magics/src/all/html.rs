//! `%%html`: shows the cell as HTML.

use crate::args::Args;
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "html",
    summary: "Show the text of the cell as HTML.",
    args: &[],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[Example { setup: "", cell: "%%html\n<b>bold</b>", shows: "bold" }],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let body =
        cx.body.ok_or_else(|| MagicError::usage(&MAGIC, "write %%html with text below".into()))?;
    Ok(vec![Artifact::Html(body.into())])
}
