//! The parser's errors in the words of a beginner: what it says where no rule of `syntax` knows the slip.

use ruff_python_ast::token::{Token, TokenKind as T};
use ruff_python_parser::ParseError;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::sentence;
use super::syntax::Mistake;
use crate::objects::text::is_identifier;

/// What is wrong, where, and if it is known what to write.
pub(super) fn in_words(text: &str, tokens: &[&Token], error: &ParseError) -> Mistake {
    let said = sentence(&error.error.to_string());
    let at = error.location;
    colon(tokens, &said, at)
        .or_else(|| alone(text, &said, at))
        .or_else(|| brace_of_f_string(tokens, &said, at))
        .or_else(|| leading_zero(text, &said, at))
        .or_else(|| target(text, &said, at))
        .or_else(|| unfinished(&said, at))
        .or_else(|| tabs(text, &said, at))
        .unwrap_or(Mistake { range: at, message: said, help: None })
}

/// `def f(x)` without a colon.
fn colon(tokens: &[&Token], said: &str, at: TextRange) -> Option<Mistake> {
    if said != "expected `:`, found newline" {
        return None;
    }
    let last = tokens.iter().rfind(|it| it.end() <= at.start() && it.kind() != T::Newline)?;
    let message = "a `:` is missing at the end of this line".to_owned();
    Some(Mistake { range: last.range(), message, help: Some("write `:` after it".to_owned()) })
}

/// `else:` without an `if`.
fn alone(text: &str, said: &str, at: TextRange) -> Option<Mistake> {
    const WORDS: [(&str, &str); 4] = [
        ("elif", "an `if` right above"),
        ("else", "an `if`, `for`, `while` or `try` right above"),
        ("except", "a `try` right above"),
        ("finally", "a `try` right above"),
    ];
    let rest = &text[at.start().to_usize()..];
    let (word, above) = WORDS.iter().find(|it| rest.starts_with(it.0))?;
    said.starts_with("expected a statement").then(|| Mistake {
        range: TextRange::at(at.start(), TextSize::of(*word)),
        message: format!("`{word}` needs {above}, indented as far"),
        help: Some("look at the indentation of the lines above".to_owned()),
    })
}

/// `f"{x"`.
fn brace_of_f_string(tokens: &[&Token], said: &str, at: TextRange) -> Option<Mistake> {
    let ends_early = ["missing closing quote", "unterminated string", "expecting '}'"];
    if !ends_early.iter().any(|it| said.contains(it)) {
        return None;
    }
    let mut open: Vec<&Token> = Vec::new();
    for token in tokens.iter().take_while(|it| it.start() < at.start()) {
        match token.kind() {
            T::FStringStart | T::Lbrace => open.push(token),
            T::FStringEnd | T::Rbrace => drop(open.pop()),
            _ => {}
        }
    }
    let [.., text, brace] = &open[..] else { return None };
    (text.kind() == T::FStringStart && brace.kind() == T::Lbrace).then(|| Mistake {
        range: brace.range(),
        message: "this '{' of the f-string is never closed".to_owned(),
        help: Some("write '}' after the value, before the quote".to_owned()),
    })
}

/// `x = 08`.
fn leading_zero(text: &str, said: &str, at: TextRange) -> Option<Mistake> {
    let digits = text.get(at.start().to_usize()..)?;
    let digits = &digits[..digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len())];
    let bare = digits.trim_start_matches('0');
    if !said.contains("decimal integer") || digits.len() == bare.len() || bare.is_empty() {
        return None;
    }
    Some(Mistake {
        range: TextRange::at(at.start(), TextSize::of(digits)),
        message: "a number does not begin with 0".to_owned(),
        help: Some(format!("write `{bare}`")),
    })
}

/// `5 = x`.
fn target(text: &str, said: &str, at: TextRange) -> Option<Mistake> {
    if said != "invalid assignment target" {
        return None;
    }
    let (what, rest) = (&text[at], text[at.end().to_usize()..].trim_start());
    let value = rest.strip_prefix('=')?.lines().next()?.trim();
    let is_name = is_identifier(value) && !matches!(value, "None" | "True" | "False");
    let is_literal = what.starts_with(|it: char| it.is_ascii_digit() || it == '"' || it == '\'');
    let help = match what {
        "None" | "True" | "False" => format!("`{what}` is a constant: choose another name"),
        _ if is_literal && is_name => {
            format!("write `{value} = {what}` to assign, or `{what} == {value}` to compare")
        }
        _ => format!("write `{what} == ...` to compare"),
    };
    let message = format!("nothing can be assigned to `{what}`: names stand on the left of '='");
    Some(Mistake { range: at, message, help: Some(help) })
}

/// `0x`, in the words of a library of the parser.
fn unfinished(said: &str, at: TextRange) -> Option<Mistake> {
    said.starts_with("parseIntError").then(|| Mistake {
        range: at,
        message: "this number is not complete".to_owned(),
        help: Some("write its digits after the prefix, as in `0xff` or `0b101`".to_owned()),
    })
}

/// A block whose lines are indented by tabs and by spaces.
fn tabs(text: &str, said: &str, at: TextRange) -> Option<Mistake> {
    let indented = |sign| text.lines().any(|it| it.starts_with(sign));
    let mixed = said.contains("ndent") && indented('\t') && indented(' ');
    mixed.then(|| Mistake {
        range: at,
        message: format!("{said}: some lines are indented by tabs, others by spaces"),
        help: Some("indent all lines by spaces, four for each block".to_owned()),
    })
}
