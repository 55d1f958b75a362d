//! `%explain`: what an error means, and what to do.

use frontend_lang::explain::{ALL, find};
use frontend_lang::suggest::nearest;

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
        let lines: Vec<String> =
            ALL.iter().map(|it| format!("{:<20} {}", it.code, it.title)).collect();
        return Ok(vec![Artifact::Text(lines.join("\n"))]);
    };
    match find(code) {
        Some(topic) => Ok(vec![Artifact::Markdown(topic.page())]),
        None => {
            let near = nearest(code, ALL.iter().map(|it| it.code));
            let hint = near.map_or_else(String::new, |it| format!("; did you mean {it}?"));
            Err(MagicError::failed(format!("there is no code {code}{hint}")))
        }
    }
}
