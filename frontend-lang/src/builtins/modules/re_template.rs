//! Replacements of `re.sub` and `Match.expand`: `\1`, `\g<1>`, `\g<name>` and escapes.

use super::re::failed;
use crate::native::*;
use crate::objects::pattern::{Pattern, Spans};

/// The template with the match's groups filled in; a group that took no part is empty.
///
/// A mistake in the template is a `re.error`, a name that no group has an `IndexError`.
pub(super) fn expand(
    pattern: &Pattern,
    template: &str,
    text: &str,
    spans: &Spans,
) -> Result<String, Raised> {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // Where the backslash stands.
        let place = template.chars().count() - rest.chars().count() - 1;
        let group = |number: usize| spans[number].map_or("", |(start, end)| &text[start..end]);
        if let Some(named) = rest.strip_prefix('g') {
            let (name, after) = name_of(named, place + 2)?;
            out.push_str(group(number_of(pattern, name, place + 3)?));
            rest = after;
        } else if let Some((code, after)) = octal(rest, place)? {
            out.push(code);
            rest = after;
        } else if rest.starts_with(|it: char| it.is_ascii_digit()) {
            let len = 1 + usize::from(rest[1..].starts_with(|it: char| it.is_ascii_digit()));
            out.push_str(group(number_of(pattern, &rest[..len], place + 1)?));
            rest = &rest[len..];
        } else {
            rest = escape(rest, place, &mut out)?;
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands between `<` and `>`, and what follows.
fn name_of(named: &str, at: usize) -> Result<(&str, &str), Raised> {
    let named = named.strip_prefix('<');
    let named = named.ok_or_else(|| failed(format!("missing < at position {at}")))?;
    let inner = at + 1;
    match named.split_once('>') {
        None | Some(("", _)) if named.is_empty() || named.starts_with('>') => {
            Err(failed(format!("missing group name at position {inner}")))
        }
        None => Err(failed(format!("missing >, unterminated name at position {inner}"))),
        Some(parts) => Ok(parts),
    }
}

/// The number of the group that a template names.
fn number_of(pattern: &Pattern, name: &str, at: usize) -> Result<usize, Raised> {
    if name.bytes().all(|it| it.is_ascii_digit()) {
        let number = name.parse().ok().filter(|it| *it < pattern.names.len());
        return number
            .ok_or_else(|| failed(format!("invalid group reference {name} at position {at}")));
    }
    let is_name = |it: char| it == '_' || it.is_alphanumeric();
    if !name.chars().all(is_name) || name.starts_with(|it: char| it.is_ascii_digit()) {
        return Err(failed(format!(
            "bad character in group name {} at position {at}",
            crate::objects::quote::repr(name)
        )));
    }
    let number = pattern.names.iter().position(|it| it.as_deref() == Some(name));
    number.ok_or_else(|| index_error(format!("unknown group name '{name}'")))
}

/// A character by its octal code: `\0`, `\012`, `\101`; other digits are a group's number.
fn octal(rest: &str, place: usize) -> Result<Option<(char, &str)>, Raised> {
    let digits = rest.bytes().take(3).take_while(|it| matches!(it, b'0'..=b'7')).count();
    if digits < 3 && !rest.starts_with('0') {
        return Ok(None);
    }
    let code = &rest[..digits];
    let value = u32::from_str_radix(code, 8).ok().filter(|it| *it <= 0o377);
    let char = value.and_then(char::from_u32).ok_or_else(|| {
        failed(format!("octal escape value \\{code} outside of range 0-0o377 at position {place}"))
    })?;
    Ok(Some((char, &rest[digits..])))
}

/// Takes an escape that is neither group nor number; what no letter escapes stands for itself.
fn escape<'a>(rest: &'a str, place: usize, out: &mut String) -> Result<&'a str, Raised> {
    let Some(it) = rest.chars().next() else {
        return Err(failed(format!("bad escape (end of pattern) at position {place}")));
    };
    match it {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'a' => out.push('\x07'),
        'b' => out.push('\x08'),
        'f' => out.push('\x0c'),
        'v' => out.push('\x0b'),
        '\\' => out.push('\\'),
        _ if it.is_ascii_alphabetic() => {
            return Err(failed(format!("bad escape \\{it} at position {place}")));
        }
        _ => out.extend(['\\', it]),
    }
    Ok(&rest[it.len_utf8()..])
}
