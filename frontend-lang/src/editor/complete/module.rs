//! Modules after `import` and `from`, one part of the dotted name at a time; also files beside the notebook.

use super::{Asked, Found, Kind};
use crate::editor::library;
use crate::editor::site::SiteKind;
use crate::objects::text::is_identifier;
use crate::vm::import::module_of_file;

pub(super) static KIND: Kind = Kind { name: "module", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let SiteKind::Module { within } = &asked.kind else { return };
    below(asked, within, found);
    let folder = within.replace('.', "/");
    for (name, is_folder) in asked.files.list(&folder) {
        let module = match is_folder {
            true => Some(name.as_str()),
            false => module_of_file(&name),
        };
        let is_wanted = |it: &&str| found.fits(asked.word, it) && is_identifier(it);
        if let Some(module) = module.filter(is_wanted) {
            found.push(module.to_owned(), "module", String::new());
        }
    }
}

/// Adds the modules right below `package`; all outermost ones if it is empty.
pub(super) fn below(asked: &Asked<'_>, package: &str, found: &mut Found) {
    let mut parts: Vec<&str> = library::module_names().filter_map(|it| part(it, package)).collect();
    parts.extend(asked.here.snapshot.modules.keys().filter_map(|it| part(it, package)));
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        let is_private = part.starts_with('_') && !asked.word.starts_with('_');
        if found.fits(asked.word, part) && !is_private {
            found.push(part.to_owned(), "module", String::new());
        }
    }
}

/// The part of a full name that comes right after `package`.
fn part<'a>(name: &'a str, package: &str) -> Option<&'a str> {
    let rest = match package {
        "" => name,
        _ => name.strip_prefix(package)?.strip_prefix('.')?,
    };
    rest.split('.').next()
}
