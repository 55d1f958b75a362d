//! Editor services for cells that may hold magics: what is a magic line is answered from the rows, the rest by the language.

use frontend_lang::editor::complete::{Completion, Completions, complete as complete_code};
use frontend_lang::editor::help::Help;
use frontend_lang::editor::inspect::{inspect as inspect_code, question};
use frontend_lang::editor::{self, Files, Snapshot};

use crate::args::Arg;
use crate::notebook::known;
use crate::{Magic, OnCell, all, find, help, usage};

/// What could stand at byte `at` of a cell.
pub fn complete(text: &str, at: usize, snapshot: &Snapshot, files: &dyn Files) -> Completions {
    if is_data(text, at) {
        return Completions { matches: Vec::new(), start: at };
    }
    let Some(start) = editor::command(&text[..at]) else {
        return complete_code(text, at, snapshot, files);
    };
    let line = &text[start..at];
    let Some(written) = line.strip_prefix('%') else {
        return Completions { matches: Vec::new(), start: at };
    };
    let Some((name, rest)) = written.split_once(char::is_whitespace) else {
        return Completions { matches: names(written), start };
    };
    match find(name.trim_start_matches('%')) {
        Some(magic) => argument(magic, rest, at, snapshot, files),
        None => Completions { matches: Vec::new(), start: at },
    }
}

/// Help on what stands at byte `at` of a cell; `detail` 1 asks for the source as well.
pub fn inspect(text: &str, at: usize, detail: u8, snapshot: &Snapshot) -> Option<Help> {
    let from = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let to = text[at..].find('\n').map_or(text.len(), |it| at + it);
    let line = &text[from..to];
    let bare = line.trim().trim_matches('?').trim_start_matches('%');
    let is_command = line.trim().trim_start_matches('?').starts_with('%')
        && (question(line.trim().trim_start_matches(['%', '?'])).is_some()
            || editor::command(&text[..to]).is_some());
    if !is_command {
        return inspect_code(text, at, detail, snapshot);
    }
    let (name, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
    let magic = match known(name) {
        Ok(magic) => magic,
        Err(error) => return Some(help::of_no_magic(&error)),
    };
    let begin = to - rest.len();
    if takes_code(magic) && at > begin {
        return inspect_code(rest, at - begin, detail, snapshot);
    }
    Some(help::of_magic(magic))
}

/// Whether a place is in the body of a `%%magic` that takes it as data.
fn is_data(text: &str, at: usize) -> bool {
    let trimmed = text.trim_start();
    let Some(written) = trimmed.strip_prefix("%%") else { return false };
    let name = written.split(|it: char| it.is_whitespace()).next().unwrap_or_default();
    let head = text.len() - trimmed.len() + trimmed.find('\n').unwrap_or(trimmed.len());
    at > head && find(name).is_some_and(|it| it.on_cell == OnCell::TakesBody && !takes_code(it))
}

/// Whether what follows its name is code.
fn takes_code(magic: &Magic) -> bool {
    magic.args.iter().any(|it| matches!(it, Arg::Line { .. }))
}

/// Magics whose names begin like `written`, which may have a second `%`.
fn names(written: &str) -> Vec<Completion> {
    let (signs, word) = match written.strip_prefix('%') {
        Some(word) => ("%%", word),
        None => ("%", written),
    };
    let has_form = |it: &&&Magic| signs == "%" || it.on_cell != OnCell::Refused;
    let fitting = all::ALL.iter().filter(|it| it.name.starts_with(word)).filter(has_form);
    fitting
        .map(|it| Completion {
            text: format!("{signs}{}", it.name),
            kind: "magic",
            signature: usage(it),
        })
        .collect()
}

/// An argument of a magic: options, names, files, or code.
fn argument(
    magic: &'static Magic,
    rest: &str,
    at: usize,
    snapshot: &Snapshot,
    files: &dyn Files,
) -> Completions {
    let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
    let before: Vec<&str> = rest[..rest.len() - word.len()].split_whitespace().collect();
    let start = at - word.len();
    if word.starts_with('-') {
        return Completions { matches: options(magic, word, &before), start };
    }
    if takes_code(magic) {
        let found = complete_code(rest, rest.len(), snapshot, files);
        return Completions { start: at - rest.len() + found.start, ..found };
    }
    let wanted = match before.last().and_then(|it| flag(magic, it)) {
        Some(value) => Some(value),
        None => positional(magic, &before),
    };
    let word = word.trim_start_matches(['"', '\'']);
    let start = at - word.len();
    match wanted {
        Some("FILE" | "PATH" | "FOLDER") => {
            let (skipped, paths) = editor::paths(word, files, false);
            let path = |text| Completion { text, kind: "path", signature: String::new() };
            Completions { matches: paths.into_iter().map(path).collect(), start: start + skipped }
        }
        Some("NAME" | "WHAT") => {
            let public = snapshot.globals.iter().filter(|it| !it.0.starts_with('_'));
            let fitting = public.filter(|it| it.0.starts_with(word));
            let name = |(name, it): (&String, &std::sync::Arc<editor::Subject>)| Completion {
                text: name.clone(),
                kind: it.kind,
                signature: it.signature(name),
            };
            Completions { matches: fitting.map(name).collect(), start }
        }
        // The first word of nothing yet: options are all there is to offer.
        _ if word.is_empty() => Completions { matches: options(magic, "", &before), start },
        _ => Completions { matches: Vec::new(), start: at },
    }
}

/// Options that begin like `word` and are not given yet.
fn options(magic: &Magic, word: &str, before: &[&str]) -> Vec<Completion> {
    let named = magic.args.iter().filter(|it| matches!(it, Arg::Flag { .. } | Arg::Switch { .. }));
    let free = named.filter(|it| it.help().0.starts_with(word) && !before.contains(&it.help().0));
    free.map(|it| Completion {
        text: it.help().0.to_owned(),
        kind: "option",
        signature: format!("{} {}", it.usage(), it.help().1),
    })
    .collect()
}

/// What the value of a flag is, if `word` is a flag that takes one.
fn flag(magic: &Magic, word: &str) -> Option<&'static str> {
    magic.args.iter().find_map(|it| match it {
        Arg::Flag { name, value, .. } if *name == word => Some(*value),
        _ => None,
    })
}

/// What the next word is, after these.
fn positional(magic: &Magic, before: &[&str]) -> Option<&'static str> {
    let mut count = 0;
    let mut words = before.iter();
    while let Some(word) = words.next() {
        if flag(magic, word).is_some() {
            words.next();
        } else if !word.starts_with('-') {
            count += 1;
        }
    }
    let mut declared = magic.args.iter().filter_map(|it| match it {
        Arg::Word { name, .. } | Arg::Optional { name, .. } => Some((*name, false)),
        Arg::Rest { name, .. } => Some((*name, true)),
        _ => None,
    });
    declared.clone().nth(count).or_else(|| declared.find(|it| it.1)).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder;

    impl Files for Folder {
        fn list(&self, folder: &str) -> Vec<(String, bool)> {
            match folder {
                "" => vec![
                    ("models".into(), true),
                    ("mnist.csv".into(), false),
                    (".git".into(), true),
                ],
                "models/" => vec![("a.ngm".into(), false)],
                _ => Vec::new(),
            }
        }
    }

    fn check(text: &str, word: &str, expected: &[&str]) {
        let mut snapshot = Snapshot::default();
        for name in ["model", "step"] {
            snapshot.globals.insert(name.into(), Subject::of("function").into());
        }
        let found = complete(text, text.len(), &snapshot, &Folder);
        let texts: Vec<&str> = found.matches.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((&text[found.start..], texts), (word, expected.to_vec()), "{text}");
    }

    use frontend_lang::editor::Subject;

    #[test]
    fn names_of_magics() {
        check("%tr", "%tr", &["%trace"]);
        check("x = 1\n%lsm", "%lsm", &["%lsmagic"]);
        check("%%ht", "%%ht", &["%%html"]);
        check("%%ls", "%%ls", &[]);
        check("%nosuch ", "", &[]);
    }

    #[test]
    fn arguments_of_magics() {
        check("%trace --sym", "--sym", &["--symbolic"]);
        check("%dump st", "st", &["step"]);
        check("%dump step m", "m", &["models/", "mnist.csv"]);
        check("%dump step models/", "", &["a.ngm"]);
        check("%dump --user-info text step m", "m", &["models/", "mnist.csv"]);
        check("%run mn", "mn", &["mnist.csv"]);
        check("%timeit mod", "mod", &["model"]);
        check("%%timeit\nmod", "mod", &["model"]);
        check("%%html\n<b>mod", "", &[]);
    }

    #[test]
    fn help_on_magics() {
        let help = |text: &str, at| inspect(text, at, 0, &Snapshot::default()).map(|it| it.plain());
        assert!(help("%trace", 3).unwrap().contains("%trace"));
        assert!(help("%trace?", 7).unwrap().contains("%trace"));
        assert!(help("%pip?", 3).unwrap().contains("nothing is installed"));
        assert!(help("%trac?", 3).unwrap().contains("did you mean %trace?"));
        assert!(help("?%trace", 2).unwrap().contains("%trace"));
        assert!(help("%time print(1)", 9).unwrap().starts_with("Signature: print("));
        assert!(help("x\n%time", 4).unwrap().contains("%time"));
        assert_eq!(help("10 %trace", 9), None);
    }
}
