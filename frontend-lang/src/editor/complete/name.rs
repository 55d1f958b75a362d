//! Names: of the text itself, of the session, those that need no import, and keywords.

use super::{Asked, Found, Kind};
use crate::editor::library;
use crate::editor::site::SiteKind;
use crate::editor::subject::Members;

pub(super) static KIND: Kind = Kind { name: "name", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    if !matches!(asked.kind, SiteKind::Name { .. } | SiteKind::Index { .. }) {
        return;
    }
    // Written and live names in one alphabetical row.
    let mut own: Members = asked.here.snapshot.globals.clone();
    own.extend(asked.here.own.iter().map(|(name, it)| (name.clone(), it.clone())));
    found.members(asked.word, &own);
    found.members(asked.word, library::builtins());
}
