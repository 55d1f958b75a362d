//! `name?`: what a name is.

use frontend_lang::editor::describe::Describer;
use frontend_lang::editor::help::{Help, help};
use frontend_lang::editor::inspect::help_on_text;
use frontend_lang::editor::{Snapshot, Subject};
use frontend_lang::session::Session;

use crate::notebook::known;
use crate::{Magic, MagicError, find, usage};

/// Characters of a value's text that are shown.
const SHOWN: usize = 4000;

/// Help for a dotted name or a magic; `detailed` adds the source where there is one.
pub fn describe(session: &mut Session, name: &str, detailed: bool) -> Result<Help, MagicError> {
    let bare = name.trim_start_matches('%');
    if let Some(magic) = find(bare).filter(|_| name.starts_with('%')) {
        return Ok(of_magic(magic));
    }
    if name.starts_with('%') {
        known(bare)?;
    }
    let detail = u8::from(detailed);
    let Some(value) = session.lookup(name) else {
        let on_text = || help_on_text(name, detail, &Snapshot::default());
        return match find(name) {
            Some(magic) => Ok(of_magic(magic)),
            None => on_text()
                .ok_or_else(|| MagicError::failed(format!("nothing is known about `{name}`"))),
        };
    };
    let mut subject = Subject::clone(&Describer::default().one(session, name, &value));
    if subject.kind == "instance" {
        let text = session.repr(&value).map_err(|it| MagicError::Raised(Box::new(it)))?;
        subject.shows = match text.char_indices().nth(SHOWN) {
            Some((at, _)) => format!("{}...", &text[..at]),
            None => text,
        };
    }
    let own = name.rsplit('.').next().unwrap_or(name);
    Ok(help(&subject, own, detail))
}

/// What is said of a magic that is not there, as running it would.
pub fn of_no_magic(error: &MagicError) -> Help {
    let mut help = Help::default();
    help.add("Help", error.to_string(), false);
    help
}

/// Usage, summary and arguments of a magic.
pub fn of_magic(magic: &Magic) -> Help {
    let mut help = Help::default();
    help.add("Usage", usage(magic), true);
    help.add("Help", magic.summary, false);
    let args = magic.args.iter().map(|it| {
        let (name, help) = it.help();
        format!("{name:<14} {help}")
    });
    help.add("Arguments", args.collect::<Vec<_>>().join("\n"), true);
    if let Some(first) = magic.examples.first() {
        help.add("Example", first.cell, true);
    }
    help
}
