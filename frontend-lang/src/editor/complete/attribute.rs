//! What may follow a dot: attributes of values and classes, names of modules.

use super::{Asked, Found, Kind};
use crate::editor::site::SiteKind;

pub(super) static KIND: Kind = Kind { name: "attribute", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let SiteKind::Attribute { of } = &asked.kind else { return };
    if let Some(subject) = asked.subject(of) {
        found.members(asked.word, &subject.members());
    }
}
