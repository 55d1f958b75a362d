//! `notegrad explain`: what an error means, and the pages of all codes.

use std::ffi::OsString;
use std::path::PathBuf;

use frontend_lang::explain::{all, find, list, unknown};
use lexopt::prelude::*;

use crate::cli::{CliResult, say};

/// Runs the subcommand: one code, the list, or with `--pages` a file for each code in a folder.
pub fn run(args: Vec<OsString>) -> CliResult {
    let (mut code, mut pages) = (None, None);
    let mut parser = lexopt::Parser::from_args(args);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("pages") => pages = Some(PathBuf::from(parser.value()?)),
            Value(word) if code.is_none() => code = Some(word.string()?),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if let Some(folder) = pages {
        std::fs::create_dir_all(&folder)?;
        for topic in all() {
            std::fs::write(folder.join(file_name(topic.code)), topic.page())?;
        }
        return Ok(say(&format!("wrote {} pages to {}\n", all().count(), folder.display())));
    }
    let Some(code) = code else {
        return Ok(say(&list()));
    };
    match find(&code) {
        Some(topic) => Ok(say(&topic.page())),
        None => Err(unknown(&code, "notegrad explain").into()),
    }
}

/// `shape-matmul.md`.
pub fn file_name(code: &str) -> String {
    format!("{}.md", code.replace("::", "-"))
}
