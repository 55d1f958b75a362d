//! Rust text as tokens, as far as finding matches needs it: comments, strings and lifetimes are left out.

/// A word, a sign or a literal, and the line that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The place behind a literal or comment that begins at `at`, if one does.
fn skipped(chars: &[char], at: usize) -> Option<usize> {
    let rest = &chars[at..];
    let find = |wanted: &[char]| {
        let found = rest.windows(wanted.len()).skip(1).position(|it| it == wanted);
        Some(found.map_or(chars.len(), |it| at + 1 + it + wanted.len()))
    };
    match rest {
        ['/', '/', ..] => find(&['\n']),
        ['/', '*', ..] => find(&['*', '/']),
        ['r', '"', ..] => {
            Some(find(&['"']).map_or(chars.len(), |it| it + quoted_raw(&chars[it..])))
        }
        ['r', '#', '"', ..] => find(&['"', '#']),
        ['"', ..] => Some(at + quoted(rest, '"')),
        ['\'', '\\', ..] => Some(at + quoted(rest, '\'')),
        ['\'', _, '\'', ..] => Some(at + 3),
        // A lifetime.
        ['\'', ..] => Some(at + 1 + word(&rest[1..])),
        _ => None,
    }
}

/// What a raw string takes behind the quote that [`skipped`] finds first, which opens it.
fn quoted_raw(rest: &[char]) -> usize {
    rest.iter().position(|it| *it == '"').map_or(rest.len(), |it| it + 1)
}

/// The length of a quoted literal.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// The length of the word or number that a text begins with.
fn word(rest: &[char]) -> usize {
    let is_part = |it: &&char| it.is_alphanumeric() || **it == '_';
    rest.iter().take_while(is_part).count()
}

/// The tokens of a source; `::`, `=>`, `..` and `&&` are one each, a literal between quotes is `""`.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at, mut line) = (Vec::new(), 0, 1);
    while at < chars.len() {
        let end = match skipped(&chars, at) {
            Some(end) => {
                let end = end.min(chars.len());
                if matches!(chars[at], '"' | 'r') || chars[at] == '\'' && chars[end - 1] == '\'' {
                    found.push(Token { text: "\"\"".into(), line });
                }
                end
            }
            None => {
                let pair: String = chars[at..].iter().take(2).collect();
                let len = match word(&chars[at..]) {
                    0 if ["::", "=>", "..", "&&"].contains(&&*pair) => 2,
                    0 => 1,
                    len => len,
                };
                if !chars[at].is_whitespace() {
                    let text = chars[at..at + len].iter().collect();
                    found.push(Token { text, line });
                }
                at + len
            }
        };
        line += chars[at..end].iter().filter(|it| **it == '\n').count();
        at = end;
    }
    found
}

/// The place of the bracket that closes the one at `open`, or the end.
pub(crate) fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, it) in tokens.iter().enumerate().skip(open) {
        match &*it.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 1 => return at,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// The first place from `from` on, outside of brackets, where a token is one of these; or the end.
pub(crate) fn outside(tokens: &[Token], from: usize, wanted: &[&str]) -> usize {
    let mut at = from;
    while at < tokens.len() {
        let text = &*tokens[at].text;
        if wanted.contains(&text) {
            return at;
        }
        at = if matches!(text, "(" | "[" | "{") { closing(tokens, at) + 1 } else { at + 1 };
    }
    tokens.len()
}

/// What stands between the signs `separator` that are outside of brackets.
pub(crate) fn split<'a>(tokens: &'a [Token], separator: &str) -> Vec<&'a [Token]> {
    let (mut parts, mut from) = (Vec::new(), 0);
    loop {
        let end = outside(tokens, from, &[separator]);
        if from < end {
            parts.push(&tokens[from..end]);
        }
        if end >= tokens.len() {
            return parts;
        }
        from = end + 1;
    }
}
