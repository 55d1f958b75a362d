//! `%explain`: what an error means, and what to do.

use frontend_lang::explain::{find, list, unknown};

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "explain",
    summary: "Say what an error means, why it comes and what to do.",
    args: &[Arg::Optional { name: "CODE", help: "such as shape::matmul; nothing: list all" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%explain shape::matmul", shows: "Matrices" },
        Example { setup: "", cell: "%explain", shows: "grad::backward" },
        Example { setup: "", cell: "%explain shape::matmull", shows: "error: MagicError" },
    ],
};

fn run(_cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let Some(code) = args.word(0) else {
        return Ok(vec![Artifact::Text(list().trim_end().into())]);
    };
    match find(code) {
        Some(topic) => Ok(vec![Artifact::Markdown(topic.page())]),
        None => Err(MagicError::failed(unknown(code, "%explain"))),
    }
}
