//! `repr` and `ascii` of strings.

use std::fmt::Write;

use crate::patience;

/// `repr(text)`: quotes as CPython chooses them, escapes for what cannot be shown.
pub fn repr(text: &str) -> String {
    quote(text, is_printable)
}

/// `ascii(text)`: as `repr`, with escapes for everything outside ASCII.
pub fn ascii(text: &str) -> String {
    quote(text, |it| (' '..='~').contains(&it))
}

/// Escapes what is outside ASCII in text that is already a `repr`.
pub fn ascii_of_repr(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in patience::chars(text) {
        if it.is_ascii() { out.push(it) } else { push_escape(&mut out, it) }
    }
    out
}

fn quote(text: &str, shown: impl Fn(char) -> bool) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for it in patience::chars(text) {
        match it {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if it == quote => out.extend(['\\', it]),
            _ if shown(it) => out.push(it),
            _ => push_escape(&mut out, it),
        }
    }
    out.push(quote);
    out
}

fn push_escape(out: &mut String, it: char) {
    let code = it as u32;
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xFF => write!(out, "\\x{code:02x}"),
        0x100..=0xFFFF => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

/// `str.isprintable` of one code point.
pub fn is_printable(it: char) -> bool {
    if it.is_ascii() {
        return (' '..='~').contains(&it);
    }
    if it.is_whitespace() || it.is_control() {
        return false;
    }
    // The standard library escapes what Unicode does not print, and combining marks only in front.
    let mut pair = [b'a', 0, 0, 0, 0];
    let len = it.encode_utf8(&mut pair[1..]).len();
    let pair = std::str::from_utf8(&pair[..=len]).unwrap_or_default();
    pair.escape_debug().nth(1) == Some(it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_like_cpython() {
        let cases = [
            ("a'b", "\"a'b\""),
            ("a\"b", "'a\"b'"),
            ("a'b\"c", "'a\\'b\"c'"),
            ("\0\x1f\x7f\u{80}\u{a0}é", "'\\x00\\x1f\\x7f\\x80\\xa0é'"),
            ("\u{200b}\u{2028}\u{1f600}", "'\\u200b\\u2028\u{1f600}'"),
            ("\\\t\r\n", "'\\\\\\t\\r\\n'"),
            ("\u{378}\u{e0001}\u{301}", "'\\u0378\\U000e0001\u{301}'"),
        ];
        for (text, expected) in cases {
            assert_eq!(repr(text), expected);
        }
        assert_eq!(ascii("é\u{1f600}"), "'\\xe9\\U0001f600'");
    }
}
