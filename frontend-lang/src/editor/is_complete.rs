//! Whether a text is a whole cell: as CPython's `codeop` has it, and inside a block a blank line ends it, as in IPython.

use std::rc::Rc;

use ruff_python_ast::token::{Token, TokenKind as T};
use ruff_python_parser::{
    InterpolatedStringErrorType, LexicalErrorType, ParseError, ParseErrorType,
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashMap;

use super::tokens::is_too_deep;
use crate::adapter;
use crate::compile::compile;
use crate::resolve::resolve;
use crate::source::{Held, SourceId};

/// Columns that a block is indented by.
const INDENT: &str = "    ";

/// Whether a text is a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Completeness {
    Complete,
    /// More lines are needed; the next one is indented like this.
    Incomplete {
        indent: String,
    },
    Invalid,
}

/// Says whether `text` can run, or needs more lines.
pub fn completeness(text: &str) -> Completeness {
    let last_line = text.trim_end().lines().next_back().unwrap_or("");
    let indent: String = last_line.chars().take_while(|it| it.is_whitespace()).collect();
    let more = |indent: String| Completeness::Incomplete { indent };
    if text.trim_start().starts_with("%%") {
        // What is below may be anything, so only an empty line ends it.
        let is_ended =
            text.lines().count() > 1 && text.lines().last().is_some_and(|it| it.trim().is_empty());
        return if is_ended { Completeness::Complete } else { more(indent) };
    }
    if is_too_deep(text) {
        return Completeness::Invalid;
    }
    let parsed = adapter::read(text);
    let code: Vec<&Token> = parsed.tokens().iter().filter(|it| is_code(it)).collect();
    let end = code.last().map_or(0, |it| it.end().to_usize());
    let in_comment =
        |it: &Token| it.kind() == T::Comment && it.end().to_usize() == text.trim_end().len();
    let is_continued = text.trim_end().ends_with('\\')
        && end < text.trim_end().len()
        && !parsed.tokens().iter().any(in_comment);
    if parsed.errors().is_empty() {
        return match () {
            _ if has_mistake(text) => Completeness::Invalid,
            _ if is_continued || (depth(parsed.tokens()) > 0 && !ends_with_line(text)) => {
                more(indent)
            }
            _ => Completeness::Complete,
        };
    }
    let opens_block = code.last().is_some_and(|it| it.kind() == T::Colon);
    let is_open = |it: &ParseError| it.location.start().to_usize() >= end || is_unclosed(it, text);
    if !parsed.errors().iter().all(is_open) {
        return Completeness::Invalid;
    }
    let unclosed = parsed.errors().iter().any(|it| is_unclosed(it, text) || it.error == EOF);
    match () {
        _ if unclosed || is_continued => more(indent),
        _ if opens_block => more(statement_indent(parsed.tokens(), text) + INDENT),
        _ if parsed.errors().iter().any(wants_more) => more(indent),
        _ => Completeness::Invalid,
    }
}

const EOF: ParseErrorType = ParseErrorType::Lexical(LexicalErrorType::Eof);

/// Whether what the language checks after parsing finds a mistake; what it leaves out is none here.
fn has_mistake(text: &str) -> bool {
    let source = SourceId::default();
    let (module, mut diagnostics) = adapter::parse(text, source);
    if diagnostics.is_empty() {
        let mut scopes = resolve(&module, source);
        diagnostics = std::mem::take(&mut scopes.diagnostics);
        if diagnostics.is_empty() {
            let compiled = compile(
                &module,
                &scopes,
                (source, Held::default()),
                None,
                &Rc::default(),
                &FxHashMap::default(),
                false,
            );
            diagnostics = compiled.err().unwrap_or_default();
        }
    }
    diagnostics.iter().any(|it| it.code == "syntax")
}

/// Whether the error is a string over several lines that is still open.
fn is_unclosed(error: &ParseError, text: &str) -> bool {
    use InterpolatedStringErrorType::{UnterminatedString, UnterminatedTripleQuotedString};
    use LexicalErrorType::{FStringError, UnclosedStringError};
    let at = error.location.start().to_usize();
    let rest = text.get(at..).unwrap_or_default().trim_start_matches(|it: char| it.is_alphabetic());
    match &error.error {
        ParseErrorType::Lexical(UnclosedStringError) => {
            rest.starts_with("'''") || rest.starts_with("\"\"\"")
        }
        ParseErrorType::Lexical(FStringError(it)) | ParseErrorType::FStringError(it) => {
            let open = text.contains("\"\"\"") || text.contains("'''");
            *it == UnterminatedTripleQuotedString || (*it == UnterminatedString && open)
        }
        _ => false,
    }
}

/// Errors that more lines can cure.
fn wants_more(error: &ParseError) -> bool {
    const BEGINNINGS: &[&str] =
        &["Expected an indented block", "Expected `except`", "Expected class, function definition"];
    let message = error.error.to_string();
    BEGINNINGS.iter().any(|it| message.starts_with(it))
}

fn is_code(token: &Token) -> bool {
    let is_other = matches!(
        token.kind(),
        T::Comment
            | T::Newline
            | T::NonLogicalNewline
            | T::Indent
            | T::Dedent
            | T::EndOfFile
            | T::Unknown
    );
    !is_other && !token.range().is_empty()
}

/// The indent of the last statement.
fn statement_indent(tokens: &[Token], text: &str) -> String {
    let last = tokens.iter().rposition(is_code).unwrap_or(0);
    let before = tokens[..last].iter().rposition(|it| it.kind() == T::Newline);
    let rest = &tokens[before.map_or(0, |it| it + 1)..];
    let first = rest.iter().find(|it| is_code(it)).map_or(0, |it| it.start().to_usize());
    let line = text[..first].rfind('\n').map_or(0, |it| it + 1);
    text[line..first].to_owned()
}

/// How many blocks are open where the last line ends.
fn depth(tokens: &[Token]) -> i32 {
    let end = tokens.iter().rposition(is_code).map_or(0, |it| it + 1);
    let step = |it: &Token| match it.kind() {
        T::Indent => 1,
        T::Dedent => -1,
        _ => 0,
    };
    tokens[..end].iter().map(step).sum()
}

/// Whether the last line is empty.
fn ends_with_line(text: &str) -> bool {
    text.rsplit('\n').next().is_some_and(|it| it.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let found = match completeness(text) {
            Completeness::Complete => "complete".to_owned(),
            Completeness::Incomplete { indent } => format!("incomplete{indent}"),
            Completeness::Invalid => "invalid".to_owned(),
        };
        assert_eq!(found, expected, "{text}");
    }

    // What CPython and IPython say of these; the specs are compared with CPython in `tests`.
    #[test]
    fn odd_ends() {
        check("", "complete");
        check("# c \\", "complete");
        check("x = 1 + \\", "incomplete");
        check("x =", "invalid");
        check("s = 'abc", "invalid");
        check("s = '''abc", "incomplete");
        check("f'''abc {x", "incomplete");
        check("f(1 2", "invalid");
        check("f(1,\n", "incomplete");
        check("if x: y", "complete");
        check("if x:\n    # c", "incomplete    ");
        check("x = 1  # c:", "complete");
        check("print('a:'", "incomplete");
        check("def f(\n        a,\n    ):", "incomplete    ");
        check("if x:\n    def f(\n        a,\n    ):", "incomplete        ");
        check("@d", "incomplete");
        check("try:\n    x\n", "incomplete    ");
        check("break", "invalid");
        check("f(a=1, a=2)", "invalid");
        check("for i in x:\n    f(i)\n    ", "complete");
    }

    #[test]
    fn magics_and_questions() {
        check("%lsmagic", "complete");
        check("%trace\nfor i in x:", "incomplete    ");
        check("x?", "complete");
        check("?x", "complete");
        check("%%html", "incomplete");
        check("%%html\n<b>", "incomplete");
        check("%%html\n<b>\n\n", "complete");
    }

    #[test]
    fn deep_nesting_ends() {
        check(&"(".repeat(50_000), "invalid");
        check(&"[".repeat(50_000), "invalid");
        check(&"[".repeat(100), "incomplete");
    }
}
