//! Python's string functions on plain text. Positions are code points.

use crate::objects::{quote, search};
use crate::patience;

/// What `str.split()` without a separator treats as space.
pub fn is_space(it: char) -> bool {
    it.is_whitespace() || ('\x1c'..='\x1f').contains(&it)
}

/// The byte position of code point number `at`; past the end it is the length.
pub fn byte_at(text: &str, at: usize) -> usize {
    if text.is_ascii() {
        return at.min(text.len());
    }
    text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte)
}

/// `text.split(None, limit)`; a negative limit is none.
pub fn split_space(text: &str, limit: i64) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        patience::tick();
        if limit >= 0 && parts.len() as i64 == limit {
            parts.push(rest);
            break;
        }
        let end = rest.find(is_space).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(is_space);
    }
    parts
}

/// `text.rsplit(None, limit)`.
pub fn rsplit_space(text: &str, limit: i64) -> Vec<&str> {
    if limit < 0 {
        return split_space(text, limit);
    }
    let mut parts = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        patience::tick();
        if parts.len() as i64 == limit {
            parts.push(rest);
            break;
        }
        let last_space = rest.char_indices().rev().find(|(_, it)| is_space(*it));
        let start = last_space.map_or(0, |(at, it)| at + it.len_utf8());
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(is_space);
    }
    parts.reverse();
    parts
}

/// `text.split(separator, limit)`; the separator is not empty.
pub fn split<'a>(text: &'a str, separator: &str, limit: i64) -> Vec<&'a str> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut from = 0;
    for at in search::places(text, separator).take(most) {
        parts.push(&text[from..at]);
        from = at + separator.len();
    }
    parts.push(&text[from..]);
    parts
}

/// `text.rsplit(separator, limit)`; the separator is not empty.
pub fn rsplit<'a>(text: &'a str, separator: &str, limit: i64) -> Vec<&'a str> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    let mut end = text.len();
    for at in search::places_from_end(text, separator).take(most) {
        parts.push(&text[at + separator.len()..end]);
        end = at;
    }
    parts.push(&text[..end]);
    parts.reverse();
    parts
}

/// `text.splitlines(keep)`.
pub fn split_lines(text: &str, keep: bool) -> Vec<&str> {
    let ends = |it: char| {
        matches!(
            it,
            '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    };
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        patience::tick();
        let Some((at, it)) =
            rest.char_indices().inspect(|_| patience::tick()).find(|(_, it)| ends(*it))
        else {
            lines.push(rest);
            break;
        };
        let len = if rest[at..].starts_with("\r\n") { 2 } else { it.len_utf8() };
        lines.push(&rest[..if keep { at + len } else { at }]);
        rest = &rest[at + len..];
    }
    lines
}

/// `text.replace(old, new, count)`; a negative count replaces all.
pub fn replace(text: &str, old: &str, new: &str, count: i64) -> String {
    let most = usize::try_from(count).unwrap_or(usize::MAX);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for at in search::places(text, old).take(most) {
        patience::push(&mut out, &text[from..at]);
        out.push_str(new);
        from = at + old.len();
    }
    patience::push(&mut out, &text[from..]);
    out
}

/// `text.upper()`.
pub fn upper(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    patience::each_piece(text, |piece| out.push_str(&piece.to_uppercase()));
    out
}

/// `text.lower()`; what becomes of a sigma depends on what stands around it.
pub fn lower(text: &str) -> String {
    if text.contains('Σ') {
        return text.to_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    patience::each_piece(text, |piece| out.push_str(&piece.to_lowercase()));
    out
}

/// `text.title()`: letters after something that is no letter become title case.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for it in patience::chars(text) {
        if inside {
            out.extend(it.to_lowercase())
        } else {
            push_title(&mut out, it)
        }
        inside = is_cased(it);
    }
    out
}

/// `text.capitalize()`.
pub fn capitalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    if let Some(first) = chars.next() {
        push_title(&mut out, first);
    }
    // Lowering the whole text keeps the rule for a final sigma.
    out.push_str(&chars.as_str().to_lowercase());
    out
}

fn push_title(out: &mut String, it: char) {
    let mut upper = it.to_uppercase();
    out.extend(upper.next());
    out.extend(upper.flat_map(char::to_lowercase));
}

/// `text.swapcase()`.
pub fn swap_case(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in patience::chars(text) {
        match it {
            _ if it.is_uppercase() => out.extend(it.to_lowercase()),
            _ if it.is_lowercase() => out.extend(it.to_uppercase()),
            _ => out.push(it),
        }
    }
    out
}

/// `text.casefold()`, by way of upper case; the dotless i keeps its own.
pub fn case_fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for it in patience::chars(text) {
        match it {
            'ı' => out.push(it),
            'İ' => out.push_str("i\u{307}"),
            _ => it.to_uppercase().for_each(|it| out.extend(it.to_lowercase())),
        }
    }
    out
}

fn is_cased(it: char) -> bool {
    it.is_uppercase() || it.is_lowercase() || is_title(it)
}

fn is_title(it: char) -> bool {
    matches!(it, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1f88}'..='\u{1f8f}' | '\u{1f98}'..='\u{1f9f}'
        | '\u{1fa8}'..='\u{1faf}' | '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
}

/// `text.expandtabs(size)`.
pub fn expand_tabs(text: &str, size: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for it in patience::chars(text) {
        match it {
            '\t' if size == 0 => {}
            '\t' => {
                let spaces = size - column % size;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\n' | '\r' => {
                out.push(it);
                column = 0;
            }
            _ => {
                out.push(it);
                column += 1;
            }
        }
    }
    out
}

/// `text.zfill(width)`.
pub fn zero_fill(text: &str, width: usize) -> String {
    let len = text.chars().count();
    if len >= width {
        return text.to_owned();
    }
    let (sign, digits) = match text.chars().next() {
        Some('+' | '-') => text.split_at(1),
        _ => ("", text),
    };
    let mut out = String::with_capacity(text.len() + width - len);
    out.push_str(sign);
    out.extend(patience::repeated('0', width - len));
    out.push_str(digits);
    out
}

/// `text.center(width, fill)`, with CPython's choice of the side that gets the odd one.
pub fn center(text: &str, width: usize, fill: char) -> String {
    let len = text.chars().count();
    if len >= width {
        return text.to_owned();
    }
    let total = width - len;
    let left = total / 2 + (total & width & 1);
    let mut out: String = patience::repeated(fill, left).collect();
    out.push_str(text);
    out.extend(patience::repeated(fill, total - left));
    out
}

/// The value of a decimal digit of any script.
pub fn digit_value(it: char) -> Option<u32> {
    // First digits of the runs of ten with general category Nd.
    const ZEROS: [u32; 66] = [
        0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
        0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
        0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0,
        0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0,
        0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0,
        0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
    ];
    let code = it as u32;
    let run = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    Some(code - ZEROS[run]).filter(|value| *value < 10)
}

/// `isdigit` of one code point: decimal digits, superscripts and circled digits.
pub fn is_digit(it: char) -> bool {
    digit_value(it).is_some()
        || matches!(it, '²' | '³' | '¹' | '\u{1369}'..='\u{1371}' | '\u{19da}' | '\u{2070}'
            | '\u{2074}'..='\u{2079}' | '\u{2080}'..='\u{2089}' | '\u{2460}'..='\u{2468}'
            | '\u{2474}'..='\u{247c}' | '\u{2488}'..='\u{2490}' | '\u{24ea}' | '\u{24f5}'..='\u{24fd}'
            | '\u{24ff}' | '\u{2776}'..='\u{277e}' | '\u{2780}'..='\u{2788}' | '\u{278a}'..='\u{2792}')
}

/// A test of all code points, false for empty text.
pub fn all(text: &str, test: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && patience::chars(text).all(test)
}

/// `isalpha` of one code point.
pub fn is_alpha(it: char) -> bool {
    it.is_alphabetic()
}

/// `isalnum` of one code point.
pub fn is_alnum(it: char) -> bool {
    it.is_alphanumeric() || is_digit(it)
}

/// `text.isupper()`.
pub fn is_upper(text: &str) -> bool {
    patience::chars(text).any(char::is_uppercase)
        && !patience::chars(text).any(|it| it.is_lowercase() || is_title(it))
}

/// `text.islower()`.
pub fn is_lower(text: &str) -> bool {
    patience::chars(text).any(char::is_lowercase)
        && !patience::chars(text).any(|it| it.is_uppercase() || is_title(it))
}

/// `text.istitle()`.
pub fn is_title_case(text: &str) -> bool {
    let (mut inside, mut any) = (false, false);
    for it in patience::chars(text) {
        if it.is_uppercase() || is_title(it) {
            if inside {
                return false;
            }
            any = true;
        } else if it.is_lowercase() && !inside {
            return false;
        }
        inside = is_cased(it);
    }
    any
}

/// `text.isidentifier()`.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = |it: char| it == '_' || it.is_alphabetic();
    chars.next().is_some_and(starts)
        && chars.all(|it| starts(it) || digit_value(it).is_some() || is_mark(it))
}

fn is_mark(it: char) -> bool {
    !it.is_ascii() && !it.is_alphanumeric() && quote::is_printable(it) && it.is_alphabetic()
        || ('\u{300}'..='\u{36f}').contains(&it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_like_cpython() {
        assert_eq!(split_space("  a b  c ", -1), ["a", "b", "c"]);
        assert_eq!(split_space("  a b  c ", 1), ["a", "b  c "]);
        assert_eq!(split_space(" a ", 0), ["a "]);
        assert_eq!(rsplit_space("  a b  c ", 1), ["  a b", "c"]);
        assert_eq!(rsplit_space("  a b  c ", 0), ["  a b  c"]);
        assert_eq!(split("a,,b", ",", 1), ["a", ",b"]);
        assert_eq!(rsplit("a,,b", ",", 1), ["a,", "b"]);
        assert_eq!(split_lines("a\r\nb\n\nc", false), ["a", "b", "", "c"]);
        assert_eq!(split_lines("a\r\nb\n", true), ["a\r\n", "b\n"]);
    }

    #[test]
    fn changes_case_like_cpython() {
        assert_eq!(title("they're bill's 3rd ﬁne"), "They'Re Bill'S 3Rd Fine");
        assert_eq!(capitalize("ßa ΑΣ"), "Ssa ας");
        assert_eq!(swap_case("aBß"), "AbSS");
        assert_eq!(case_fold("Straße İı"), "strasse i\u{307}ı");
        assert!(is_upper("A1") && !is_upper("1") && !is_upper("Aa"));
        assert!(is_title_case("A Bc 1D") && !is_title_case("aB") && !is_title_case(""));
    }

    #[test]
    fn fills_like_cpython() {
        assert_eq!(center("a", 4, '*'), "*a**");
        assert_eq!(center("ab", 5, '*'), "**ab*");
        assert_eq!(zero_fill("-5", 4), "-005");
        assert_eq!(expand_tabs("a\tb\n\tc", 4), "a   b\n    c");
    }

    #[test]
    fn knows_digits_of_other_scripts() {
        assert_eq!(digit_value('٣'), Some(3));
        assert_eq!(digit_value('²'), None);
        assert!(is_digit('²') && !is_digit('½'));
    }
}
