//! Python's regular expressions, on the `fancy-regex` crate: translation of the syntax, compiling,
//! and matching by code points.

mod syntax;

use std::cell::OnceCell;

use fancy_regex::{Regex, RegexBuilder};

/// Flags, with Python's numbers.
pub mod flags {
    pub const IGNORECASE: i64 = 2;
    pub const LOCALE: i64 = 4;
    pub const MULTILINE: i64 = 8;
    pub const DOTALL: i64 = 16;
    pub const UNICODE: i64 = 32;
    pub const VERBOSE: i64 = 64;
    pub const ASCII: i64 = 256;
}

const BACKTRACK_LIMIT: usize = 5_000_000;

/// A compiled pattern.
pub struct Pattern {
    pub source: String,
    pub flags: i64,
    /// Names of groups, by number; group 0 has none.
    pub names: Vec<Option<String>>,
    translated: String,
    search: Regex,
    at_start: OnceCell<Option<Regex>>,
    whole: OnceCell<Option<Regex>>,
}

/// Where a match must lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    Anywhere,
    Start,
    Whole,
}

/// Byte ranges of the groups of a match; `None` for a group that took no part.
pub type Spans = Vec<Option<(usize, usize)>>;

impl Pattern {
    /// Compiles `source`; the error is a message for the user.
    pub fn new(source: &str, flags: i64) -> Result<Pattern, String> {
        let (translated, flags) = translate(source, flags);
        let search = build(&translated).map_err(|text| {
            if text.contains("Look-behind assertion without constant size") {
                return "look-behind requires fixed-width pattern".into();
            }
            syntax::problem(source, flags & flags::VERBOSE != 0).unwrap_or(text)
        })?;
        let names = search.capture_names().map(|it| it.map(str::to_owned)).collect();
        Ok(Pattern {
            source: source.to_owned(),
            flags,
            names,
            translated,
            search,
            at_start: OnceCell::new(),
            whole: OnceCell::new(),
        })
    }

    fn regex(&self, anchor: Anchor) -> Option<&Regex> {
        let body = &self.translated;
        match anchor {
            Anchor::Anywhere => Some(&self.search),
            Anchor::Start => {
                self.at_start.get_or_init(|| build(&format!("\\G(?:{body})")).ok()).as_ref()
            }
            Anchor::Whole => {
                self.whole.get_or_init(|| build(&format!("\\G(?:{body})\\z")).ok()).as_ref()
            }
        }
    }

    /// The first match at or after byte `from`.
    pub fn find(&self, text: &str, from: usize, anchor: Anchor) -> Result<Option<Spans>, String> {
        let regex = self.regex(anchor).ok_or("the pattern is too large")?;
        let found = regex.captures_from_pos(text, from).map_err(|it| it.to_string())?;
        Ok(found.map(|it| it.iter().map(|group| group.map(|it| (it.start(), it.end()))).collect()))
    }

    /// The match after one that ended at `last`, by Python's rule for empty matches: they may touch
    /// the match before, unless that was empty too.
    pub fn find_next(
        &self,
        text: &str,
        last: Option<(usize, usize)>,
    ) -> Result<Option<Spans>, String> {
        let Some((start, end)) = last else { return self.find(text, 0, Anchor::Anywhere) };
        let found = self.find(text, end, Anchor::Anywhere)?;
        let is_same = |spans: &Spans| start == end && spans.first() == Some(&Some((end, end)));
        if !found.as_ref().is_some_and(is_same) {
            return Ok(found);
        }
        match text[end..].chars().next() {
            Some(skipped) => self.find(text, end + skipped.len_utf8(), Anchor::Anywhere),
            None => Ok(None),
        }
    }
}

fn build(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    builder.backtrack_limit(BACKTRACK_LIMIT).delegate_size_limit(32 << 20);
    builder.build().map_err(|it| it.to_string())
}

/// Python's syntax to the crate's; comments are left out.
fn translate(source: &str, mut flags: i64) -> (String, i64) {
    flags |= leading_flags(source);
    let mut out = String::from("(?");
    for (flag, letter) in [
        (flags::IGNORECASE, 'i'),
        (flags::MULTILINE, 'm'),
        (flags::DOTALL, 's'),
        (flags::VERBOSE, 'x'),
    ] {
        if flags & flag != 0 {
            out.push(letter);
        }
    }
    if out.len() == 2 {
        out.clear();
    } else {
        out.push(')');
    }
    let mut translator = Translator { rest: source, flags, out };
    translator.run();
    (translator.out, flags)
}

/// Flags that `(?im)` at the start sets.
fn leading_flags(source: &str) -> i64 {
    let Some(inner) = source.strip_prefix("(?") else { return 0 };
    let Some((letters, _)) = inner.split_once(')') else { return 0 };
    let mut found = 0;
    for letter in letters.chars() {
        found |= match letter {
            'i' => flags::IGNORECASE,
            'm' => flags::MULTILINE,
            's' => flags::DOTALL,
            'x' => flags::VERBOSE,
            'a' => flags::ASCII,
            'u' | 'L' => 0,
            _ => return 0,
        };
    }
    found
}

struct Translator<'a> {
    rest: &'a str,
    flags: i64,
    out: String,
}

impl Translator<'_> {
    fn run(&mut self) {
        if leading_flags(self.rest) != 0
            && let Some((_, rest)) = self.rest.split_once(')')
        {
            self.rest = rest;
        }
        while let Some(it) = self.take() {
            match it {
                '\\' => self.escape(false),
                '[' => self.class(),
                '$' if self.flags & flags::MULTILINE == 0 => self.out.push_str("(?=\\n?\\z)"),
                '{' if !is_repeat(self.rest) => self.out.push_str("\\{"),
                '{' if self.rest.starts_with(',') => self.out.push_str("{0"),
                '(' if self.rest.starts_with("?#") => {
                    self.rest = self.rest.split_once(')').map_or("", |it| it.1);
                }
                '#' if self.flags & flags::VERBOSE != 0 => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                }
                _ => self.out.push(it),
            }
        }
    }

    fn take(&mut self) -> Option<char> {
        let it = self.rest.chars().next()?;
        self.rest = &self.rest[it.len_utf8()..];
        Some(it)
    }

    fn escape(&mut self, in_class: bool) {
        let Some(it) = self.take() else {
            self.out.push('\\');
            return;
        };
        let ascii = self.flags & flags::ASCII != 0;
        let wrap = |set: &str| if in_class { set.to_owned() } else { format!("[{set}]") };
        match it {
            'Z' => self.out.push_str("\\z"),
            'd' if ascii => self.out.push_str(&wrap("0-9")),
            'w' if ascii => self.out.push_str(&wrap("a-zA-Z0-9_")),
            's' if ascii => self.out.push_str(&wrap(" \\t\\n\\r\\x0c\\x0b")),
            'D' if ascii => self.out.push_str("[^0-9]"),
            'W' if ascii => self.out.push_str("[^a-zA-Z0-9_]"),
            'S' if ascii => self.out.push_str("[^ \\t\\n\\r\\x0c\\x0b]"),
            'b' if in_class => self.out.push_str("\\x08"),
            '0' => self.octal(),
            '1'..='9' if in_class => self.out.push(it),
            _ if it.is_ascii_alphanumeric() => self.out.extend(['\\', it]),
            '<' | '>' | ' ' | '\'' | '"' | '/' | '%' | '@' | ',' | ';' | ':' | '=' | '!' | '`'
            | '_' => {
                // These mean themselves, and need an escape only where space is ignored.
                if it == ' ' { self.out.push_str("\\x20") } else { self.out.push(it) }
            }
            _ if it.is_ascii_punctuation() => self.out.extend(['\\', it]),
            _ => self.out.push(it),
        }
    }

    fn octal(&mut self) {
        let digits = self.rest.bytes().take(2).take_while(|it| (b'0'..=b'7').contains(it)).count();
        let value = u32::from_str_radix(&self.rest[..digits], 8).unwrap_or(0);
        self.rest = &self.rest[digits..];
        self.out.push_str(&format!("\\x{value:02x}"));
    }

    /// A class in square brackets, where Python knows no nesting and no set operations.
    fn class(&mut self) {
        self.out.push('[');
        if self.rest.starts_with('^') {
            self.take();
            self.out.push('^');
        }
        if self.rest.starts_with(']') {
            self.take();
            self.out.push_str("\\]");
        }
        while let Some(it) = self.take() {
            match it {
                ']' => {
                    self.out.push(']');
                    return;
                }
                '\\' => self.escape(true),
                '[' | '&' | '~' => self.out.extend(['\\', it]),
                '-' if self.rest.starts_with('-') || self.rest.starts_with(']') => {
                    self.out.push_str("\\-");
                }
                ' ' | '#' if self.flags & flags::VERBOSE != 0 => self.out.extend(['\\', it]),
                _ => self.out.push(it),
            }
        }
    }
}

/// True if `rest`, after an opening brace, is a count of repetitions.
fn is_repeat(rest: &str) -> bool {
    let Some((inner, _)) = rest.split_once('}') else { return false };
    let (low, high) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    digits(low) && digits(high) && !(low.is_empty() && high.is_empty())
}

/// `re.escape`.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        if "()[]{}?*+-|^$\\.&~# \t\n\r\x0b\x0c".contains(it) {
            out.push('\\');
        }
        out.push(it);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn mistakes_are_told_in_pythons_words() {
        // What Python 3.11 says.
        for (pattern, says) in [
            ("(", "missing ), unterminated subpattern at position 0"),
            (")", "unbalanced parenthesis at position 0"),
            ("[", "unterminated character set at position 0"),
            ("a**", "multiple repeat at position 2"),
            ("*a", "nothing to repeat at position 0"),
            ("a|*", "nothing to repeat at position 2"),
            ("a???", "multiple repeat at position 3"),
            ("(?P<n", "missing >, unterminated name at position 4"),
            ("\\", "bad escape (end of pattern) at position 0"),
            ("[z-a]", "bad character range z-a at position 1"),
            ("[a-\\d]", "bad character range a-\\d at position 1"),
            ("a{2,1}", "min repeat greater than max repeat at position 2"),
            ("(?P=x)", "unknown group name 'x' at position 4"),
            ("(?z)", "unknown extension ?z at position 1"),
            ("(?P>", "unknown extension ?P> at position 1"),
            ("(?<a", "unknown extension ?<a at position 1"),
            ("(?", "unexpected end of pattern at position 2"),
            ("(?i", "missing -, : or ) at position 3"),
            ("\\1", "invalid group reference 1 at position 1"),
            ("(a)(?(2)b)", "invalid group reference 2 at position 6"),
            ("\\g<1>", "bad escape \\g at position 0"),
            ("\\x1", "incomplete escape \\x1 at position 0"),
            ("\\u12", "incomplete escape \\u12 at position 0"),
            ("\\N", "missing { at position 2"),
            ("(?<=a+)b", "look-behind requires fixed-width pattern"),
        ] {
            assert_eq!(Pattern::new(pattern, 0).err().as_deref(), Some(says), "{pattern}");
        }
    }

    use super::*;

    #[test]
    fn deep_patterns_are_refused() {
        for begin in ["(", "(?:", "(?="] {
            assert!(Pattern::new(&begin.repeat(1_000_000), 0).is_err());
        }
    }

    fn all(source: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::new(source, 0).unwrap();
        let (mut found, mut last) = (Vec::new(), None);
        while let Some(spans) = pattern.find_next(text, last).unwrap() {
            last = spans[0];
            let (start, end) = spans[0].unwrap();
            found.push(text[start..end].to_owned());
        }
        found
    }

    #[test]
    fn reads_python_syntax() {
        assert_eq!(all(r"a{,2}b{}", "aab{} ab{}"), ["aab{}", "ab{}"]);
        assert_eq!(all(r"[[a&&b-]+", "[a&-b"), ["[a&-b"]);
        assert_eq!(all(r"(\w)\1", "hello aab"), ["ll", "aa"]);
        assert_eq!(all(r"\w+(?=!)", "hey you!"), ["you"]);
        assert_eq!(all(r"x*", "abxd"), ["", "", "x", "", ""]);
        assert_eq!(all(r"b$", "ab\n"), ["b"]);
        assert_eq!(all("(?x) a # one\n b", "ab"), ["ab"]);
        assert_eq!(all(r"(?i)AB", "ab"), ["ab"]);
    }
}
