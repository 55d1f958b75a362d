//! Colours for code: Python's words, texts, numbers and comments, and magic lines.
//!
//! Classes: `k` keyword, `b` built in, `s` text, `n` number, `c` comment, `d` decorator, `m` magic.

use crate::display::html::Html;

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];
const BUILT_IN: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "enumerate",
    "filter",
    "float",
    "int",
    "isinstance",
    "len",
    "list",
    "map",
    "max",
    "min",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "self",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tensor",
    "tuple",
    "type",
    "zip",
];

/// Adds the code, each part that has a colour in a span.
pub(super) fn to_html(html: &mut Html, code: &str) {
    let mut rest = code;
    let mut at_line_start = true;
    while let Some(first) = rest.chars().next() {
        let (len, class) = token(rest, first, at_line_start);
        let (text, after) = rest.split_at(len);
        match class {
            Some(class) => html.tag("span").attr("class", class).text(text),
            None => html.text(text),
        }
        at_line_start = text.ends_with('\n') || (at_line_start && text.trim().is_empty());
        rest = after;
    }
}

/// Length and class of the first token.
fn token(rest: &str, first: char, at_line_start: bool) -> (usize, Option<&'static str>) {
    let until = |stop: fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
    let line = || until(|it| it == '\n');
    match first {
        '%' | '?' if at_line_start => (line(), Some("m")),
        '@' if at_line_start => (until(|it| it == '\n' || it == '('), Some("d")),
        '#' => (line(), Some("c")),
        '"' | '\'' => (text_len(rest, false), Some("s")),
        '0'..='9' => (number_len(rest), Some("n")),
        it if it.is_alphabetic() || it == '_' => {
            let len = until(|it| !it.is_alphanumeric() && it != '_');
            let (word, after) = rest.split_at(len);
            if is_prefix(word) && after.starts_with(['"', '\'']) {
                let is_raw = word.contains(['r', 'R']);
                return (len + text_len(after, is_raw), Some("s"));
            }
            (len, class_of(word))
        }
        _ => (first.len_utf8(), None),
    }
}

fn class_of(word: &str) -> Option<&'static str> {
    if KEYWORDS.contains(&word) { Some("k") } else { BUILT_IN.contains(&word).then_some("b") }
}

/// Whether a word before a quote belongs to the text: `f"..."`, `rb"..."`.
fn is_prefix(word: &str) -> bool {
    word.len() <= 2 && word.chars().all(|it| "rRbBfFuU".contains(it))
}

/// Length of a text with its quotes; one that is not closed ends with its line, or the code.
fn text_len(rest: &str, is_raw: bool) -> usize {
    let quote = &rest[..1];
    let triple = quote.repeat(3);
    let is_triple = rest.starts_with(&triple);
    let end = if is_triple { triple.as_str() } else { quote };
    let mut at = end.len();
    while at < rest.len() {
        let tail = &rest[at..];
        if tail.starts_with(end) {
            return at + end.len();
        }
        if tail.starts_with('\n') && !is_triple {
            return at;
        }
        let mut letters = tail.chars();
        let escapes = letters.next() == Some('\\');
        // In a raw text a backslash stays, but still guards the quote after it.
        let pair =
            escapes && (!is_raw || tail[1..].starts_with(quote) || tail[1..].starts_with('\\'));
        if pair {
            letters.next();
        }
        at = rest.len() - letters.as_str().len();
    }
    rest.len()
}

fn number_len(rest: &str) -> usize {
    let mut before = ' ';
    let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    for (at, letter) in rest.char_indices() {
        let sign = matches!(letter, '+' | '-') && matches!(before, 'e' | 'E') && !is_hex;
        if !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '.' || sign) {
            return at;
        }
        before = letter;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans are written `class:text` between bars.
    fn check(code: &str, expected: &str) {
        let made = Html::build(|html| to_html(html, code));
        let brief = made.replace("<span class=\"", "|").replace("\">", ":").replace("</span>", "|");
        assert_eq!(brief, expected);
    }

    #[test]
    fn colours_words_texts_and_numbers() {
        check("def f(x): # c", "|k:def| f(x): |c:# c|");
        check("x = 1e-3+0xFe-2", "x = |n:1e-3|+|n:0xFe|-|n:2|");
        check("rb'a\\'b' + f\"{x}\"", "|s:rb&#39;a\\&#39;b&#39;| + |s:f&quot;{x}&quot;|");
        check("'''a\nb''' 'é", "|s:&#39;&#39;&#39;a\nb&#39;&#39;&#39;| |s:&#39;é|");
        check("'a\nif", "|s:&#39;a|\n|k:if|");
        check("'a\\", "|s:&#39;a\\|");
    }

    #[test]
    fn colours_magics_and_decorators_at_line_starts() {
        check("%trace on\n5 % 3\n  @trace(x)", "|m:%trace on|\n|n:5| % |n:3|\n  |d:@trace|(x)");
        check("a @ b", "a @ b");
    }
}
