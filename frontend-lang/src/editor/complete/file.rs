//! Names of files inside strings.

use super::{Asked, Found, Kind};
use crate::editor::Files;
use crate::editor::site::SiteKind;

pub(super) static KIND: Kind = Kind { name: "file", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let SiteKind::String { quote, .. } = &asked.kind else { return };
    // Keys come first, and a long text is no path.
    if quote.len() > 1 || asked.word.contains('\n') || !found.matches.is_empty() {
        return;
    }
    let (start, paths) = paths(asked.word, asked.files, found.ignores_case);
    if !paths.is_empty() {
        found.start += start;
        paths.into_iter().for_each(|it| found.push(it, "path", String::new()));
    }
}

/// Where the last part of a path begins, and the names that it may become; folders end with a slash.
pub fn paths(path: &str, files: &dyn Files, ignores_case: bool) -> (usize, Vec<String>) {
    let start = path.rfind('/').map_or(0, |it| it + 1);
    let (folder, word) = path.split_at(start);
    let fits = |name: &str| match ignores_case {
        false => name.starts_with(word),
        true => name.to_lowercase().starts_with(&word.to_lowercase()),
    };
    let is_shown = |name: &str| word.starts_with('.') || !name.starts_with('.');
    let all = files.list(folder).into_iter().filter(|it| is_shown(&it.0) && fits(&it.0));
    let slashed = |(name, is_folder): (String, bool)| if is_folder { name + "/" } else { name };
    (start, all.map(slashed).collect())
}
