//! `%%writefile`: the text of a cell as a file.

use super::cd::expanded;
use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "writefile",
    summary: "As %%writefile: write the text of the cell into a file. Modules written so can be imported.",
    args: &[
        Arg::Word { name: "FILE", help: "the file to write" },
        Arg::Switch { name: "-a", help: "add to the end of the file" },
        Arg::Switch { name: "--append", help: "the same" },
    ],
    on_cell: OnCell::TakesBody,
    run,
    examples: &[
        Example {
            setup: "%%writefile made.py\ndef double(x):\n    return 2 * x",
            cell: "import made\nmade.double(21)",
            shows: "42",
        },
        Example { setup: "", cell: "%%writefile a.txt\none", shows: "Writing a.txt" },
        Example {
            setup: "%%writefile a.txt\none",
            cell: "%%writefile a.txt\ntwo",
            shows: "Overwriting a.txt",
        },
        Example {
            setup: "%%writefile a.txt\none",
            cell: "%%writefile -a a.txt\ntwo",
            shows: "Appending to a.txt",
        },
        Example { setup: "", cell: "%%writefile no/such/folder\none", shows: "error: MagicError" },
        Example { setup: "", cell: "%writefile a.txt", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let Some(body) = cx.body else {
        let message = "write %%writefile on the first line of the text to be written".into();
        return Err(MagicError::usage(&MAGIC, message));
    };
    let path = expanded(cx, args.word(0).unwrap_or_default());
    let text = format!("{}\n", body.strip_suffix('\n').unwrap_or(body));
    let host = &mut cx.session.cx.host;
    let is_there = host.metadata(&path).is_ok();
    let says = match args.switch("-a") || args.switch("--append") {
        true => {
            host.append_file(&path, text.as_bytes()).map_err(MagicError::failed)?;
            "Appending to"
        }
        false => {
            host.create_file(&path).map_err(MagicError::failed)?;
            host.write_file(&path, text.as_bytes()).map_err(MagicError::failed)?;
            if is_there { "Overwriting" } else { "Writing" }
        }
    };
    Ok(vec![Artifact::Text(format!("{says} {path}"))])
}
