//! Names of a module: `from torch import `.

use super::{Asked, Found, Kind, module};
use crate::editor::site::SiteKind;

pub(super) static KIND: Kind = Kind { name: "member", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let SiteKind::Member { module } = &asked.kind else { return };
    if let Some(subject) = asked.here.snapshot.module(module) {
        found.members(asked.word, &subject.members());
    }
    module::below(asked, module, found);
}
