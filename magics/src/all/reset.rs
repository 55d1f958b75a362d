//! `%reset`: forgets all names.

use crate::args::Args;
use crate::artifact::Artifact;
use crate::notebook::{MagicCx, Settings};
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "reset",
    summary: "Forget every name of the session and what magics have set.",
    args: &[],
    on_cell: OnCell::Refused,
    run,
    examples: &[Example { setup: "x = 1", cell: "%reset", shows: "forgot" }],
};

fn run(cx: &mut MagicCx<'_>, _args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let count = cx.session.names().len();
    cx.session.reset();
    // Who runs the notebook has said whether it is strict.
    *cx.settings = Settings { strict: cx.settings.strict, ..Settings::default() };
    Ok(vec![Artifact::Text(format!("forgot {count} names"))])
}
