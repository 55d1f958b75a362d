//! `%run`: runs a file of the language in this session.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "run",
    summary: "Run a file in this session; its names stay.",
    args: &[Arg::Word { name: "FILE", help: "a text file with code of the language" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "", cell: "%run missing.ng", shows: "error: MagicError" }],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let path = args.word(0).unwrap_or_default();
    let bytes = cx.session.cx.host.read_file(path).map_err(MagicError::failed)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| MagicError::failed(format!("{path} is not text; %run takes UTF-8 files")))?;
    cx.eval(&text)?;
    Ok(Vec::new())
}
