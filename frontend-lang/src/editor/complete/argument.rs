//! Parameters that a call may name: `SGD(model.parameters(), lr=`.

use super::{Asked, Found, Kind};
use crate::editor::site::SiteKind;

pub(super) static KIND: Kind = Kind { name: "argument", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let SiteKind::Name { call: Some(call) } = &asked.kind else { return };
    let Some(callee) = asked.subject(&call.callee) else { return };
    // Those before it that are not passed by name have their places.
    let by_place = call.given.saturating_sub(call.named.len());
    for param in callee.params().into_iter().skip(by_place) {
        let is_free = param.can_be_named() && !call.named.contains(&param.name);
        if is_free && found.fits(asked.word, &param.name) {
            // Where the cursor stands before an equals sign, that one is used.
            let equals = if asked.after.trim_start().starts_with('=') { "" } else { "=" };
            found.push(format!("{}{equals}", param.name), "param", param.text());
        }
    }
}
