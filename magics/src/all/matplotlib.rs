//! `%matplotlib`: accepted because notebooks begin with it; plots are always drawn in the notebook.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "matplotlib",
    summary: "Nothing to choose: plots are always drawn in the notebook.",
    args: &[Arg::Optional { name: "BACKEND", help: "`inline`; windows cannot be opened here" }],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example { setup: "", cell: "%matplotlib inline\n1 + 1", shows: "2" },
        Example {
            setup: "",
            cell: "%matplotlib qt\n1 + 1",
            shows: "%matplotlib qt is left out: plots are always drawn in the notebook",
        },
        Example {
            setup: "%config Notegrad.strict = 'on'",
            cell: "%matplotlib qt",
            shows: "error: MagicError",
        },
    ],
};

/// What means "in the notebook" to other kernels.
const INLINE: &[&str] = &["inline", "notebook", "widget", "ipympl"];

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    match args.word(0) {
        Some(backend) if INLINE.contains(&backend) => Ok(Vec::new()),
        Some(backend) => {
            let says = "plots are always drawn in the notebook; leave the line out";
            Ok(vec![cx.settings.leave_out(&format!("%matplotlib {backend}"), says)?])
        }
        None => Ok(vec![Artifact::Text("plots are drawn in the notebook".into())]),
    }
}
