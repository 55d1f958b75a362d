//! `%pwd`: the folder that paths start from.

use crate::args::Args;
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "pwd",
    summary: "Show the folder that paths start from; `name = %pwd` keeps it.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%pwd", shows: "/here" },
        Example { setup: "", cell: "here = %pwd\nhere.upper()", shows: "/HERE" },
    ],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let folder = cx.session.cx.host.current_dir().map_err(MagicError::failed)?;
    Ok(vec![Artifact::Text(folder)])
}
