//! `%seed`: restarts the random numbers.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "seed",
    summary: "Restart the random numbers of tensors from a seed.",
    args: &[Arg::Word { name: "SEED", help: "a whole number" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%seed 7", shows: "seed 7" },
        Example { setup: "", cell: "%seed seven", shows: "error: MagicError" },
    ],
};

fn run(_cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let text = args.word(0).unwrap_or_default();
    let wrong = || MagicError::usage(&MAGIC, format!("`{text}` is not a whole number"));
    let seed: i64 = text.parse().map_err(|_| wrong())?;
    engine::random::seed(seed as u64);
    Ok(vec![Artifact::Text(format!("seed {seed}"))])
}
