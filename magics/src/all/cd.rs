//! `%cd`: the folder that paths start from.

use crate::args::{Arg, Args};
use crate::artifact::Artifact;
use crate::notebook::MagicCx;
use crate::{Example, Magic, MagicError, OnCell};

pub(super) static MAGIC: Magic = Magic {
    name: "cd",
    summary: "Go to another folder: files, imports and completion start from there.",
    args: &[
        Arg::Optional { name: "FOLDER", help: "`-` for the one before, `~` or nothing for yours" },
        Arg::Switch { name: "-q", help: "without saying where that is" },
    ],
    on_cell: OnCell::Refused,
    run,
    examples: &[
        Example {
            setup: "import os\nos.mkdir('data')\nx = open('data/a.txt', 'w').write('seven')",
            cell: "%cd data\nprint(open('a.txt').read())",
            shows: "seven",
        },
        Example {
            setup: "import os\nos.mkdir('data')\n%cd -q data",
            cell: "%cd -",
            shows: "/here",
        },
        Example { setup: "", cell: "%cd nowhere", shows: "error: MagicError" },
    ],
};

fn run(cx: &mut MagicCx<'_>, args: &Args) -> Result<Vec<Artifact>, MagicError> {
    let asked = match args.word(0).unwrap_or("~") {
        "-" => cx.settings.folder_before.clone().ok_or_else(|| {
            MagicError::failed("there is no folder before this one: no %cd has run yet")
        })?,
        path => expanded(cx, path),
    };
    let language = &mut cx.session.cx;
    let before = language.host.current_dir().map_err(MagicError::failed)?;
    language.change_folder(&asked).map_err(MagicError::failed)?;
    let now = language.host.current_dir().map_err(MagicError::failed)?;
    cx.settings.folder_before = Some(before);
    Ok(if args.switch("-q") { Vec::new() } else { vec![Artifact::Text(now)] })
}

/// A path with the user's folder in place of `~`.
pub(super) fn expanded(cx: &MagicCx<'_>, path: &str) -> String {
    let rest = path.strip_prefix('~').filter(|it| it.is_empty() || it.starts_with('/'));
    let environment = cx.session.cx.host.environment();
    let home = environment.into_iter().find(|it| it.0 == "HOME").map(|it| it.1);
    match (rest, home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => path.to_owned(),
    }
}
