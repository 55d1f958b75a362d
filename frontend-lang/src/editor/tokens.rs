//! The tokens before the cursor, and what can be said from them alone: brackets, expressions, statements.
//!
//! They are the parser's own tokens, so strings, f-strings and comments are what they are when the cell runs.

use ruff_python_ast::StringFlags;
use ruff_python_ast::token::{Token, TokenKind as T};
use ruff_text_size::Ranged;

/// Brackets in brackets up to which a text is looked at; CPython has 200 at most.
const DEEPEST: usize = 1000;

/// Whether brackets are nested so deeply that no cell could run, and trees of it could not be taken apart again.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut depth: usize = 0;
    text.bytes().any(|it| {
        match it {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

/// Tokens of a text that ends at the cursor, without those that have no text.
pub(super) struct Tokens<'a> {
    pub(super) text: &'a str,
    list: Vec<Token>,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        let parsed = crate::adapter::read(text);
        // A comment matters only if the cursor is in it.
        let seen = |it: &&Token| match it.kind() {
            T::NonLogicalNewline => false,
            T::Comment => it.end().to_usize() == text.len(),
            _ => !it.range().is_empty(),
        };
        let list = parsed.tokens().iter().filter(seen).copied().collect();
        Self { text, list }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// What stands at `idx`; beyond either end nothing does.
    pub(super) fn kind(&self, idx: Option<usize>) -> Option<T> {
        idx.and_then(|it| self.list.get(it)).map(Token::kind)
    }

    /// Where token `idx` begins.
    pub(super) fn start(&self, idx: usize) -> usize {
        self.list[idx].start().to_usize()
    }

    /// Where token `idx` ends.
    pub(super) fn end(&self, idx: usize) -> usize {
        self.list[idx].end().to_usize()
    }

    /// The text of token `idx`.
    pub(super) fn slice(&self, idx: usize) -> &'a str {
        &self.text[self.start(idx)..self.end(idx)]
    }

    /// The text of tokens `from..=to`.
    pub(super) fn between(&self, from: usize, to: usize) -> &'a str {
        &self.text[self.start(from)..self.end(to)]
    }

    /// Where the contents of the string `idx` begin, and its quote, if the string is still open.
    pub(super) fn open_string(&self, idx: usize) -> Option<(usize, &'a str)> {
        let flags = self.list[idx].string_flags().filter(|_| self.list[idx].kind() == T::String)?;
        let start = self.start(idx) + flags.opener_len().to_usize();
        let quote = self.text.get(start - flags.quote_len().to_usize()..start)?;
        let is_open = flags.is_unclosed();
        is_open.then_some((start, quote))
    }

    /// Whether `idx` is a name, or a keyword that may be one.
    pub(super) fn is_name(&self, idx: Option<usize>) -> bool {
        matches!(self.kind(idx), Some(T::Name | T::Match | T::Case | T::Type))
    }

    /// Whether an expression may end here, so that a bracket after it is a call or an index.
    pub(super) fn ends_expression(&self, idx: Option<usize>) -> bool {
        self.is_name(idx)
            || matches!(
                self.kind(idx),
                Some(
                    T::Rpar
                        | T::Rsqb
                        | T::Rbrace
                        | T::String
                        | T::FStringEnd
                        | T::None
                        | T::True
                        | T::False
                )
            )
    }

    /// The bracket that matches the closing one at `idx`.
    fn opener(&self, idx: usize) -> Option<usize> {
        let mut depth = 0;
        for at in (0..=idx).rev() {
            match self.list[at].kind() {
                T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd => depth += 1,
                T::Lpar | T::Lsqb | T::Lbrace | T::FStringStart => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The innermost bracket that is open before token `idx`.
    pub(super) fn enclosing(&self, idx: usize) -> Option<usize> {
        let mut depth = 0;
        for at in (0..idx.min(self.len())).rev() {
            match self.list[at].kind() {
                T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd => depth += 1,
                T::Lpar | T::Lsqb | T::Lbrace | T::FStringStart if depth == 0 => return Some(at),
                T::Lpar | T::Lsqb | T::Lbrace | T::FStringStart => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The first token of the expression that ends with `idx`: names, calls, indices, displays.
    pub(super) fn primary(&self, idx: usize) -> Option<usize> {
        let mut at = idx;
        loop {
            let before = match self.kind(Some(at))? {
                T::Rpar | T::Rsqb | T::Rbrace | T::FStringEnd => {
                    let opener = self.opener(at)?;
                    let before = opener.checked_sub(1);
                    let follows = matches!(self.kind(Some(opener)), Some(T::Lpar | T::Lsqb));
                    if follows && self.ends_expression(before) {
                        at = opener - 1;
                        continue;
                    }
                    at = opener;
                    before
                }
                T::String | T::Int | T::Float | T::None | T::True | T::False => at.checked_sub(1),
                _ if self.is_name(Some(at)) => at.checked_sub(1),
                _ => return None,
            };
            match self.kind(before) {
                Some(T::Dot) if self.is_name(Some(at)) => at = before?.checked_sub(1)?,
                _ => return Some(at),
            }
        }
    }

    /// The first token of the statement that token `idx` belongs to.
    pub(super) fn statement(&self, idx: usize) -> usize {
        let ends = |it: &usize| {
            matches!(self.list[*it].kind(), T::Newline | T::Semi | T::Indent | T::Dedent)
        };
        (0..idx.min(self.len())).rev().find(ends).map_or(0, |it| it + 1)
    }

    /// How many arguments of the call opened at `opener` end before token `idx`.
    pub(super) fn arguments(&self, opener: usize, idx: usize) -> usize {
        let ends = |it: &usize| {
            self.kind(Some(*it)) == Some(T::Comma) && self.enclosing(*it) == Some(opener)
        };
        (opener + 1..idx).filter(ends).count()
    }

    /// Names that arguments of the call opened at `opener` are already passed by.
    pub(super) fn keywords(&self, opener: usize) -> Vec<String> {
        let direct = |it: &usize| self.enclosing(*it) == Some(opener);
        let is_keyword = |it: &usize| {
            self.is_name(Some(*it)) && self.kind(Some(it + 1)) == Some(T::Equal) && direct(it)
        };
        (opener + 1..self.len()).filter(is_keyword).map(|it| self.slice(it).to_owned()).collect()
    }
}
