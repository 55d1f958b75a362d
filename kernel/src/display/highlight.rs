//! Colours for code: Python's words, texts, numbers and comments, and magic lines.

use super::html::Html;

/// One kind of word.
pub(crate) struct Kind {
    /// What pages with a style sheet of their own call it.
    pub(crate) class: &'static str,
    /// Its colour on [`GROUND`].
    pub(crate) color: &'static str,
    /// Its colour in terminals, which choose what it looks like.
    code: &'static str,
}

/// Under code in pages that have no style sheet for it, whatever their theme.
pub(crate) const GROUND: &str = "#f6f8fa";
/// The letters that have no other colour there.
pub(crate) const INK: &str = "#1f2328";

const KEYWORD: &Kind = &Kind { class: "k", color: "#cf222e", code: "35" };
const BUILT_IN: &Kind = &Kind { class: "b", color: "#8250df", code: "36" };
const TEXT: &Kind = &Kind { class: "s", color: "#0a5c8a", code: "32" };
const NUMBER: &Kind = &Kind { class: "n", color: "#0550ae", code: "34" };
const COMMENT: &Kind = &Kind { class: "c", color: "#59636e", code: "3" };
const DECORATOR: &Kind = &Kind { class: "d", color: "#953800", code: "33" };
const MAGIC: &Kind = &Kind { class: "m", color: "#116329", code: "32" };

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield",
];
const BUILT_INS: &[&str] = &[
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

/// Adds the code, each part that has a colour in a span with the class of its kind.
pub(crate) fn to_html(html: &mut Html, code: &str) {
    each(code, &mut |text, kind| match kind {
        Some(kind) => html.tag("span").attr("class", kind.class).text(text),
        None => html.text(text),
    });
}

/// Adds the code on a ground of its own, with colours that need no style sheet.
pub(crate) fn to_panel(html: &mut Html, code: &str) {
    let style = format!(
        "overflow:auto;margin:2px 0 4px;padding:6px 8px;border-radius:6px;background-color:{GROUND};color:{INK}"
    );
    html.tag("pre").attr("style", style).within(|html| {
        each(code, &mut |text, kind| match kind {
            Some(kind) => {
                html.tag("span").attr("style", format!("color:{}", kind.color)).text(text);
            }
            None => html.text(text),
        });
    });
}

/// The code with colours for terminals.
pub(crate) fn to_terminal(code: &str) -> String {
    let mut colored = String::with_capacity(2 * code.len());
    each(code, &mut |text, kind| match kind {
        Some(kind) => colored += &format!("\u{1b}[{}m{text}\u{1b}[0m", kind.code),
        None => colored.push_str(text),
    });
    colored
}

/// Shows each part of the code with its kind.
fn each(code: &str, show: &mut dyn FnMut(&str, Option<&'static Kind>)) {
    let mut rest = code;
    let mut at_line_start = true;
    while let Some(first) = rest.chars().next() {
        let (len, kind) = token(rest, first, at_line_start);
        let (text, after) = rest.split_at(len);
        show(text, kind);
        at_line_start = text.ends_with('\n') || (at_line_start && text.trim().is_empty());
        rest = after;
    }
}

/// Length and kind of the first token.
fn token(rest: &str, first: char, at_line_start: bool) -> (usize, Option<&'static Kind>) {
    let until = |stop: fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
    let line = || until(|it| it == '\n');
    match first {
        '%' | '?' if at_line_start => (line(), Some(MAGIC)),
        '@' if at_line_start => (until(|it| it == '\n' || it == '('), Some(DECORATOR)),
        '#' => (line(), Some(COMMENT)),
        '"' | '\'' => (text_len(rest, false), Some(TEXT)),
        '0'..='9' => (number_len(rest), Some(NUMBER)),
        it if it.is_alphabetic() || it == '_' => {
            let len = until(|it| !it.is_alphanumeric() && it != '_');
            let (word, after) = rest.split_at(len);
            if is_prefix(word) && after.starts_with(['"', '\'']) {
                let is_raw = word.contains(['r', 'R']);
                return (len + text_len(after, is_raw), Some(TEXT));
            }
            (len, kind_of(word))
        }
        _ => (first.len_utf8(), None),
    }
}

fn kind_of(word: &str) -> Option<&'static Kind> {
    if KEYWORDS.contains(&word) {
        return Some(KEYWORD);
    }
    BUILT_INS.contains(&word).then_some(BUILT_IN)
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

/// Every kind, sorted by class.
#[cfg(test)]
pub(crate) static ALL: &[&Kind] = &[BUILT_IN, COMMENT, DECORATOR, KEYWORD, MAGIC, NUMBER, TEXT];

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
    fn code_for_terminals_is_the_code_with_colours() {
        let code = "def f(x):  # c\n    return 'x'";
        let colored = to_terminal(code);
        assert_eq!(super::super::ansi::strip(&colored), code);
        assert!(colored.starts_with("\u{1b}[35mdef\u{1b}[0m f(x):  \u{1b}[3m# c\u{1b}[0m\n"));
    }

    #[test]
    fn colours_magics_and_decorators_at_line_starts() {
        check("%trace on\n5 % 3\n  @trace(x)", "|m:%trace on|\n|n:5| % |n:3|\n  |d:@trace|(x)");
        check("a @ b", "a @ b");
    }
}
