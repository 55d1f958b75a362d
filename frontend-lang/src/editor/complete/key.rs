//! Keys of dicts, inside a string that is an index or right after the bracket.

use super::{Asked, Found, Kind};
use crate::editor::site::SiteKind;
use crate::editor::subject::Key;

pub(super) static KIND: Kind = Kind { name: "key", find };

fn find(asked: &Asked<'_>, found: &mut Found) {
    let (of, quote) = match &asked.kind {
        SiteKind::String { quote, of: Some(of) } => (of, quote.as_str()),
        SiteKind::Index { of } => (of, ""),
        _ => return,
    };
    let Some(subject) = asked.subject(of) else { return };
    for (key, leads_to) in subject.entries.iter() {
        let text = match key {
            Key::Text(key) if quote.is_empty() => format!("\"{}\"", escaped(key, "\"")),
            Key::Text(key) => escaped(key, quote),
            Key::Plain(_) if !quote.is_empty() => continue,
            Key::Plain(key) => key.clone(),
        };
        if found.fits(asked.word, &text) {
            let closed = closed(text, quote, asked.after);
            found.push(closed, "key", super::in_short("", leads_to));
        }
    }
}

/// The key with its quote and bracket, as far as they do not stand there.
fn closed(key: String, quote: &str, after: &str) -> String {
    match after.strip_prefix(quote) {
        Some(rest) if quote.is_empty() && rest.starts_with(']') => key,
        Some(_) if quote.is_empty() => key + "]",
        Some(_) => key,
        None if after.starts_with(']') => key + quote,
        None => key + quote + "]",
    }
}

/// The key as it stands between quotes of this kind.
fn escaped(key: &str, quote: &str) -> String {
    let mut text = String::new();
    for it in key.chars() {
        match it {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\\' => text.push_str("\\\\"),
            it if quote.starts_with(it) => text.extend(['\\', it]),
            it => text.push(it),
        }
    }
    text
}
