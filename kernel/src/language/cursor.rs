//! What stands at the cursor, found in the text alone: code under edit seldom parses.

/// What could be completed at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Context<'a> {
    /// Inside a string or a comment.
    Text,
    /// A magic at the start of a line, so far `word`.
    Magic { word: &'a str },
    /// A module after `import` or `from`, so far `word`.
    Module { word: &'a str },
    /// A name of a module: `from module import word`.
    Member { module: &'a str, word: &'a str },
    /// An attribute of a dotted name.
    Attribute { of: &'a str, word: &'a str },
    /// An attribute of an expression that is not a name.
    OfExpression,
    /// A name; inside the brackets of a call, also a parameter of `callee`.
    Name { word: &'a str, callee: Option<&'a str> },
}

/// The context at the end of `before`.
pub(super) fn context(before: &str) -> Context<'_> {
    if in_text(before) {
        return Context::Text;
    }
    let path = tail(before, |it| is_word(it) || it == '.');
    let word = tail(before, is_word);
    let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
    let in_front = &before[..before.len() - path.len()];
    if let Some(rest) = line.strip_prefix('%') {
        let rest = rest.strip_prefix('%').unwrap_or(rest);
        if rest.chars().all(is_word) {
            return Context::Magic { word: rest };
        }
    }
    if let Some(module) = import(line, path, word) {
        return module;
    }
    if let Some(of) = path.strip_suffix(word).and_then(|it| it.strip_suffix('.')) {
        let is_name =
            !of.is_empty() && !of.starts_with(|it: char| it == '.' || it.is_ascii_digit());
        let after_expression = in_front.ends_with([')', ']', '}', '"', '\'']);
        let is_name = is_name && !after_expression;
        return if is_name { Context::Attribute { of, word } } else { Context::OfExpression };
    }
    Context::Name { word, callee: callee(in_front) }
}

fn import<'a>(line: &'a str, path: &'a str, word: &'a str) -> Option<Context<'a>> {
    if let Some(rest) = line.strip_prefix("from ") {
        let Some((module, names)) = rest.trim_start().split_once(' ') else {
            return Some(Context::Module { word: path });
        };
        let is_list =
            names.trim_start().strip_prefix("import").is_some_and(|it| it.starts_with([' ', '(']));
        return is_list.then_some(Context::Member { module, word });
    }
    let rest = line.strip_prefix("import ")?;
    let last = rest.rsplit(',').next().unwrap_or_default().trim_start();
    (last == path).then_some(Context::Module { word: path })
}

/// The dotted name that stands at the cursor, to its end; else the function whose call this is.
pub(super) fn subject(code: &str, at: usize) -> Option<&str> {
    let (before, after) = code.split_at(at);
    let path = tail(before, |it| is_word(it) || it == '.');
    let more = after.find(|it| !is_word(it)).map_or(after, |end| &after[..end]);
    let whole = &code[at - path.len()..at + more.len()];
    let whole = whole.trim_matches('.');
    match whole {
        "" => callee(before),
        _ if whole.starts_with(|it: char| it.is_ascii_digit()) => None,
        _ => Some(whole),
    }
}

/// The dotted name before the innermost bracket that is still open.
fn callee(before: &str) -> Option<&str> {
    let mut depth = 0;
    for (at, it) in before.char_indices().rev().take(4096) {
        match it {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => {
                let name = tail(&before[..at], |it| is_word(it) || it == '.');
                return (!name.is_empty()).then_some(name);
            }
            '[' | '{' if depth == 0 => return None,
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a string or comment is open at the end.
fn in_text(code: &str) -> bool {
    let mut open: Option<&str> = None;
    let mut rest = code;
    while let Some(it) = rest.chars().next() {
        let mut step = it.len_utf8();
        match open {
            Some("#") if it == '\n' => open = None,
            // A string in single quotes ends with its line.
            Some(quote) if it == '\n' && quote.len() == 1 => open = None,
            Some("#") => {}
            Some(_) if it == '\\' => step += rest[step..].chars().next().map_or(0, char::len_utf8),
            Some(quote) if rest.starts_with(quote) => {
                step = quote.len();
                open = None;
            }
            Some(_) => {}
            None => {
                open =
                    ["'''", "\"\"\"", "'", "\"", "#"].into_iter().find(|it| rest.starts_with(it));
                step = open.map_or(step, str::len);
            }
        }
        rest = &rest[step..];
    }
    open.is_some()
}

/// The longest end of the text that consists of such characters.
fn tail(text: &str, is_part: impl Fn(char) -> bool) -> &str {
    text.rfind(|it| !is_part(it)).map_or(text, |at| {
        let width = text[at..].chars().next().map_or(0, char::len_utf8);
        &text[at + width..]
    })
}

fn is_word(it: char) -> bool {
    it == '_' || it.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts() {
        let name = |word, callee| Context::Name { word, callee };
        assert_eq!(context("x = pri"), name("pri", None));
        assert_eq!(context("f(g(1), na"), name("na", Some("f")));
        assert_eq!(context("nn.Linear(3, bi"), name("bi", Some("nn.Linear")));
        assert_eq!(context("x[pri"), name("pri", None));
        assert_eq!(context("a.b.cd"), Context::Attribute { of: "a.b", word: "cd" });
        assert_eq!(context("é.cd"), Context::Attribute { of: "é", word: "cd" });
        assert_eq!(context("f(x).cd"), Context::OfExpression);
        assert_eq!(context("1.cd"), Context::OfExpression);
        assert_eq!(context("x = 'pri"), Context::Text);
        assert_eq!(context("x = 'a' + pri"), name("pri", None));
        assert_eq!(context("'''a\nb"), Context::Text);
        assert_eq!(context("x # don"), Context::Text);
        assert_eq!(context("# don't\npri"), name("pri", None));
        assert_eq!(context(r"'\' + pri"), Context::Text);
        assert_eq!(context("%%tr"), Context::Magic { word: "tr" });
        assert_eq!(context("x\n%tr"), Context::Magic { word: "tr" });
        assert_eq!(context("x %tr"), name("tr", None));
    }

    #[test]
    fn imports() {
        assert_eq!(context("import ma"), Context::Module { word: "ma" });
        assert_eq!(context("import re, torch.n"), Context::Module { word: "torch.n" });
        assert_eq!(context("from tor"), Context::Module { word: "tor" });
        let member = Context::Member { module: "math", word: "s" };
        assert_eq!(context("from math import s"), member);
        assert_eq!(context("from math import (pi, s"), member);
    }

    #[test]
    fn subjects() {
        assert_eq!(subject("double(3)", 4), Some("double"));
        assert_eq!(subject("double(3, ", 10), Some("double"));
        assert_eq!(subject("x = a.bcd.e", 7), Some("a.bcd"));
        assert_eq!(subject("1 + 2", 5), None);
        assert_eq!(subject("print?", 5), Some("print"));
        assert_eq!(subject("", 0), None);
    }
}
