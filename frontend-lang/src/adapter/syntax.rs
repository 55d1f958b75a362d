//! What is wrong with a text that is no program: the parser's errors, or in their place one that says what to write.
//!
//! Each rule looks at the tokens for a slip that is common and that the parser describes by what follows from it.

use ruff_python_ast as py;
use ruff_python_ast::token::{Token, TokenKind as T};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::parser_words::in_words;
use crate::suggest::nearest;

/// One mistake: its place, what is wrong, and the next step.
pub(super) struct Mistake {
    pub(super) range: TextRange,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The mistakes in a text that the parser did not take.
pub(super) fn mistakes(text: &str, parsed: &Parsed<py::Mod>) -> Vec<Mistake> {
    let Some(first) = parsed.errors().first() else { return Vec::new() };
    let tokens: Vec<&Token> = parsed.tokens().iter().filter(|it| is_code(it.kind())).collect();
    let in_string = first.error.to_string().to_lowercase().contains("string");
    if let Some(mistake) = typeset(text, parsed) {
        return vec![mistake];
    }
    if let Some(mistake) = tokens.iter().find_map(|it| apostrophe(text, it, in_string)) {
        return vec![mistake];
    }
    let known = if in_string { None } else { slip(text, &tokens) };
    if let Some(mistake) = known.or_else(|| if in_string { None } else { bracket(text, &tokens) }) {
        return vec![mistake];
    }
    let mut found: Vec<Mistake> = Vec::new();
    for error in parsed.errors() {
        let range = error.location;
        let is_indented = error.error.to_string().to_lowercase().contains("unexpected indentation");
        // What the parser says next about the same line follows from the first, and so does that the block of a wrong head is indented.
        let follows = found.last().is_some_and(|it| {
            let between = it.range.start().to_usize()..range.start().to_usize();
            let lines_on = text.get(between).map_or(0, |it| it.matches('\n').count());
            lines_on == 0 || (lines_on == 1 && is_indented)
        });
        if !follows {
            found.push(in_words(text, &tokens, error));
        }
    }
    found
}

fn is_code(kind: T) -> bool {
    !matches!(kind, T::Comment | T::NonLogicalNewline)
}

/// The first slip that a rule knows.
fn slip(text: &str, tokens: &[&Token]) -> Option<Mistake> {
    let begins = |at: usize| {
        at == 0
            || matches!(
                tokens[at - 1].kind(),
                T::Newline | T::Indent | T::Dedent | T::Semi | T::Colon
            )
    };
    let mut depth = 0usize;
    (0..tokens.len()).find_map(|at| {
        let rest = &tokens[at..];
        match rest[0].kind() {
            T::Lpar | T::Lsqb | T::Lbrace => depth += 1,
            T::Rpar | T::Rsqb | T::Rbrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        let before = at.checked_sub(1).map(|it| tokens[it]);
        let other = keyword_as_name(text, before, rest)
            .or_else(|| if begins(at) { braces(text, rest) } else { None })
            .or_else(|| if depth > 0 { comma(text, rest) } else { None });
        if other.is_some() {
            return other;
        }
        match rest[0].kind() {
            T::If | T::Elif | T::While if begins(at) => assignment(text, rest),
            T::Name if begins(at) => print_statement(text, rest)
                .or_else(|| else_if_in_one(text, rest))
                .or_else(|| declaration(text, rest))
                .or_else(|| walrus(text, rest))
                .or_else(|| misspelt(text, rest)),
            T::From if begins(at) => misspelt_import(text, rest),
            T::Int => name_with_digit(text, rest),
            T::Less | T::NotEqual => unequal(text, rest),
            T::Else if begins(at) => else_if(rest),
            T::Amper | T::Vbar | T::Plus | T::Minus => doubled(text, rest),
            _ => None,
        }
    })
}

fn text_of<'a>(text: &'a str, token: &Token) -> &'a str {
    &text[token.range()]
}

/// `if x = 5:`.
fn assignment(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let mut depth = 0usize;
    for (at, token) in rest.iter().enumerate() {
        match token.kind() {
            T::Lpar | T::Lsqb | T::Lbrace | T::Lambda => depth += 1,
            T::Rpar | T::Rsqb | T::Rbrace => depth = depth.saturating_sub(1),
            T::Newline | T::Semi => return None,
            T::Colon if depth == 0 => return None,
            T::Equal if depth == 0 => {
                if let Some(other) = rest.get(at + 1).filter(|it| it.start() == token.end())
                    && matches!(other.kind(), T::Greater | T::Less)
                {
                    let sign = text_of(text, other);
                    return Some(Mistake {
                        range: TextRange::new(token.start(), other.end()),
                        message: format!("there is no `={sign}`"),
                        help: Some(format!("write `{sign}=`")),
                    });
                }
                let end =
                    rest[at..].iter().find(|it| matches!(it.kind(), T::Colon | T::Newline))?;
                let before = text[TextRange::new(rest[0].start(), token.start())].trim_end();
                let after = text[TextRange::new(token.end(), end.start())].trim();
                return Some(Mistake {
                    range: token.range(),
                    message: "one '=' assigns; '==' compares".to_owned(),
                    help: Some(format!("write `{before} == {after}:`")),
                });
            }
            _ => {}
        }
    }
    None
}

/// `print "hello"`.
fn print_statement(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [name, next, ..] = rest else { return None };
    let is_value = matches!(next.kind(), T::String | T::FStringStart | T::Int | T::Float | T::Name);
    if text_of(text, name) != "print" || !is_value {
        return None;
    }
    let end = rest.iter().find(|it| matches!(it.kind(), T::Newline | T::Semi | T::EndOfFile))?;
    let shown = text[TextRange::new(next.start(), end.start().max(next.end()))].trim();
    let shown = shown.split('#').next().filter(|_| !shown.contains(['"', '\''])).unwrap_or(shown);
    Some(Mistake {
        range: TextRange::new(name.start(), next.end()),
        message: "print is a function".to_owned(),
        help: Some(format!("write `print({})`", shown.trim())),
    })
}

/// `else if x:`.
fn else_if(rest: &[&Token]) -> Option<Mistake> {
    let [other, next, ..] = rest else { return None };
    (next.kind() == T::If).then(|| Mistake {
        range: TextRange::new(other.start(), next.end()),
        message: "there is no `else if`".to_owned(),
        help: Some("write `elif`".to_owned()),
    })
}

/// `elseif x:`.
fn else_if_in_one(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [name, next, ..] = rest else { return None };
    let is_one = matches!(text_of(text, name), "elseif" | "elsif");
    let is_assigned = matches!(next.kind(), T::Equal | T::Dot | T::Newline | T::Comma);
    (is_one && !is_assigned).then(|| Mistake {
        range: name.range(),
        message: format!("there is no `{}`", text_of(text, name)),
        help: Some("write `elif`".to_owned()),
    })
}

/// `let x = 5`.
fn declaration(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [word, name, after, ..] = rest else { return None };
    let is_one = matches!(text_of(text, word), "let" | "var" | "const");
    (is_one && name.kind() == T::Name && after.kind() == T::Equal).then(|| Mistake {
        range: word.range(),
        message: "names are not declared".to_owned(),
        help: Some(format!("leave `{}` out: `{} = ...`", text_of(text, word), text_of(text, name))),
    })
}

/// `x := 5` as a statement.
fn walrus(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [name, sign, ..] = rest else { return None };
    (sign.kind() == T::ColonEqual).then(|| Mistake {
        range: sign.range(),
        message: "`:=` names a value inside an expression".to_owned(),
        help: Some(format!("write `{} = ...` to assign", text_of(text, name))),
    })
}

/// `retrun x`, `esle:`.
fn misspelt(text: &str, rest: &[&Token]) -> Option<Mistake> {
    const WORDS: [&str; 16] = [
        "assert", "class", "def", "elif", "else", "except", "finally", "for", "from", "if",
        "import", "raise", "return", "try", "while", "with",
    ];
    let [word, next, after, ..] = rest else { return None };
    let line = || rest.iter().take_while(|it| it.kind() != T::Newline);
    let ends_in_colon = line().last().is_some_and(|it| it.kind() == T::Colon);
    let is_value = match next.kind() {
        T::Name | T::Int | T::Float | T::String | T::FStringStart | T::Not => true,
        T::None | T::True | T::False => true,
        T::Lpar | T::Lsqb => ends_in_colon,
        T::Colon => after.kind() == T::Newline,
        _ => false,
    };
    let word_text = text_of(text, word);
    let lower = word_text.to_lowercase();
    let near = match () {
        _ if !is_value || WORDS.contains(&word_text) => return None,
        _ if WORDS.contains(&lower.as_str()) => WORDS.into_iter().find(|it| *it == lower)?,
        _ if line().any(|it| it.kind() == T::Import) => "from",
        _ if line().any(|it| it.kind() == T::In) && ends_in_colon => "for",
        _ => nearest(word_text, WORDS)?,
    };
    // The words above are guessed from the line, and have to be near as well.
    (lower == near || nearest(&lower, [near]).is_some()).then(|| Mistake {
        range: word.range(),
        message: format!("`{word_text}` begins no statement"),
        help: Some(format!("did you mean `{near}`?")),
    })
}

/// `from os improt path`.
fn misspelt_import(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let mut line = rest[1..].iter().take_while(|it| it.kind() != T::Newline);
    if line.clone().any(|it| it.kind() == T::Import) {
        return None;
    }
    let is_part = |it: &Token| text[..it.start().to_usize()].ends_with('.');
    let word = line.find(|it| {
        it.kind() == T::Name && !is_part(it) && nearest(text_of(text, it), ["import"]).is_some()
    })?;
    Some(Mistake {
        range: word.range(),
        message: format!("`{}` stands where `import` is wanted", text_of(text, word)),
        help: Some("did you mean `import`?".to_owned()),
    })
}

/// `'it's'`; `in_string` if some string has no end, as behind the `t'` of `'don't'`.
fn apostrophe(text: &str, token: &Token, in_string: bool) -> Option<Mistake> {
    let (shown, after) = (text_of(text, token), &text[token.end().to_usize()..]);
    if token.kind() != T::String || !shown.ends_with('\'') || shown.ends_with("'''") {
        return None;
    }
    let word = &after[..after.find(|it: char| !it.is_alphanumeric()).unwrap_or(after.len())];
    // `'a'if x else'b'` is a program.
    let is_word = word.starts_with(char::is_alphabetic);
    if !is_word || matches!(word, "if" | "else" | "in" | "is" | "and" | "or" | "not" | "for" | "as")
    {
        return None;
    }
    // `'a'f'{x}'` is a program, too.
    let is_prefix = word.len() <= 2 && word.chars().all(|it| "bfrtuBFRTU".contains(it));
    if !in_string && is_prefix && after[word.len()..].starts_with(['\'', '"']) {
        return None;
    }
    let before = shown.trim_start_matches(char::is_alphabetic).trim_matches('\'');
    Some(Mistake {
        range: TextRange::new(token.start(), token.end() + TextSize::of(word)),
        message: "the text ends at the apostrophe inside it".to_owned(),
        help: Some(format!("put the text into double quotes: `\"{before}'{word}...\"`")),
    })
}

/// `2x = 3`.
fn name_with_digit(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [number, name, ..] = rest else { return None };
    let touches = name.kind() == T::Name && number.end() == name.start();
    touches.then(|| Mistake {
        range: TextRange::new(number.start(), name.end()),
        message: "a name does not begin with a digit".to_owned(),
        help: Some(format!(
            "write `{0} * {1}` to multiply, or choose a name such as `{1}{0}`",
            text_of(text, number),
            text_of(text, name)
        )),
    })
}

/// `a <> b`.
fn unequal(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [one, two, ..] = rest else { return None };
    let parted = one.kind() == T::Less && two.kind() == T::Greater && one.end() == two.start();
    if !parted && text_of(text, one) != "<>" {
        return None;
    }
    let range = if parted { TextRange::new(one.start(), two.end()) } else { one.range() };
    let help = Some("write `!=`".to_owned());
    Some(Mistake { range, message: "there is no `<>`".to_owned(), help })
}

/// `lambda = 0.1`, `f(class=2)`, `x.from`.
fn keyword_as_name(text: &str, before: Option<&Token>, rest: &[&Token]) -> Option<Mistake> {
    let [word, next, ..] = rest else { return None };
    let is_value = matches!(word.kind(), T::None | T::True | T::False);
    if !word.kind().is_non_soft_keyword() || is_value {
        return None;
    }
    let is_attribute =
        before.is_some_and(|it| it.kind() == T::Dot) && !matches!(word.kind(), T::Import);
    let is_defined = before.is_some_and(|it| matches!(it.kind(), T::Def | T::Class));
    if next.kind() != T::Equal && !is_attribute && !is_defined {
        return None;
    }
    let word_text = text_of(text, word);
    Some(Mistake {
        range: word.range(),
        message: format!("'{word_text}' is a keyword and cannot be a name"),
        help: Some(format!("choose another name, such as `{word_text}_`")),
    })
}

/// `if x > 1 {`.
fn braces(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let opens = matches!(
        rest[0].kind(),
        T::If | T::Elif | T::Else | T::While | T::For | T::Def | T::Class | T::Try | T::With
    );
    if !opens {
        return None;
    }
    let mut depth = 0usize;
    for pair in rest.windows(2) {
        let (before, token) = (pair[0], pair[1]);
        match token.kind() {
            T::Lbrace if depth == 0 && ends_value(before.kind(), true) => {
                let after = text[token.end().to_usize()..].lines().next().unwrap_or_default();
                let ends = after.trim().is_empty() || after.trim().starts_with('#');
                return ends.then(|| Mistake {
                    range: token.range(),
                    message: "blocks are not written in braces".to_owned(),
                    help: Some("end the line with `:` and indent the lines below".to_owned()),
                });
            }
            T::Lpar | T::Lsqb | T::Lbrace => depth += 1,
            T::Rpar | T::Rsqb | T::Rbrace => depth = depth.saturating_sub(1),
            T::Newline | T::Semi => return None,
            T::Colon if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// `[1 2]`.
fn comma(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [one, two, ..] = rest else { return None };
    let begins_value = matches!(
        two.kind(),
        T::Name | T::Int | T::Float | T::String | T::FStringStart | T::True | T::False | T::None
    );
    let texts = one.kind() == T::String && matches!(two.kind(), T::String | T::FStringStart);
    let between = &text[TextRange::new(one.end(), two.start())];
    if !begins_value || !ends_value(one.kind(), false) || texts || between.contains('\n') {
        return None;
    }
    if between.is_empty() && one.kind() != T::String {
        // `2x` and prefixes of strings.
        return None;
    }
    let (before, after) = (text_of(text, one), text_of(text, two));
    Some(Mistake {
        range: TextRange::new(one.start(), two.end()),
        message: format!("a comma is missing between `{before}` and `{after}`"),
        help: Some(format!("write `{before}, {after}`")),
    })
}

/// Whether a value, or what stands before a block, can end with a token.
fn ends_value(kind: T, or_keyword: bool) -> bool {
    matches!(kind, T::Name | T::Int | T::Float | T::String | T::Rpar | T::Rsqb | T::Rbrace)
        || matches!(kind, T::True | T::False | T::None)
        || (or_keyword && matches!(kind, T::Else | T::Try))
}

/// Signs that word processors and web pages put in place of those of programs.
const TYPESET: &[(char, &str)] = &[
    ('\u{201c}', "`\"`"),
    ('\u{201d}', "`\"`"),
    ('\u{201e}', "`\"`"),
    ('\u{2018}', "`'`"),
    ('\u{2019}', "`'`"),
    ('\u{2212}', "`-`"),
    ('\u{2013}', "`-`"),
    ('\u{2014}', "`-`"),
    ('\u{d7}', "`*`"),
    ('\u{f7}', "`/`"),
    ('\u{2264}', "`<=`"),
    ('\u{2265}', "`>=`"),
    ('\u{2260}', "`!=`"),
    ('\u{a0}', "a plain space"),
];

/// A sign that is none of a program's, where the parser first stumbles.
fn typeset(text: &str, parsed: &Parsed<py::Mod>) -> Option<Mistake> {
    parsed.errors().iter().find_map(|it| {
        let start = it.location.start();
        let sign = text.get(start.to_usize()..)?.chars().next()?;
        let (_, plain) = TYPESET.iter().find(|it| it.0 == sign)?;
        Some(Mistake {
            range: TextRange::at(start, TextSize::of(sign)),
            message: format!("'{sign}' is not a sign of programs"),
            help: Some(format!("write {plain}")),
        })
    })
}

/// `a && b`, `a || b`, `i++`.
fn doubled(text: &str, rest: &[&Token]) -> Option<Mistake> {
    let [one, two, after, ..] = rest else { return None };
    if one.kind() != two.kind() || one.end() != two.start() {
        return None;
    }
    let ends = matches!(after.kind(), T::Newline | T::Semi | T::EndOfFile);
    let sign = text_of(text, one);
    let help = match one.kind() {
        T::Amper => "write `and`".to_owned(),
        T::Vbar => "write `or`".to_owned(),
        _ if ends => format!("write `{sign}= 1`"),
        _ => return None,
    };
    let range = TextRange::new(one.start(), two.end());
    Some(Mistake { range, message: format!("there is no `{sign}{sign}`"), help: Some(help) })
}

/// A bracket that nothing closes, or that something else closes.
fn bracket(text: &str, tokens: &[&Token]) -> Option<Mistake> {
    let mut open: Vec<&Token> = Vec::new();
    for token in tokens {
        let wanted = match token.kind() {
            T::Lpar | T::Lsqb | T::Lbrace => {
                open.push(token);
                continue;
            }
            T::Rpar => T::Lpar,
            T::Rsqb => T::Lsqb,
            T::Rbrace => T::Lbrace,
            _ => continue,
        };
        let shown = text_of(text, token);
        let range = token.range();
        match open.pop() {
            Some(last) if last.kind() == wanted => {}
            Some(last) => {
                let (what, line) = (text_of(text, last), line_of(text, last));
                return Some(Mistake {
                    range,
                    message: format!("'{shown}' does not close the '{what}' of line {line}"),
                    help: Some(format!("write '{}' here", closing(last))),
                });
            }
            None => {
                let message = format!("'{shown}' closes nothing");
                let help = Some("leave it out, or open a bracket before it".to_owned());
                return Some(Mistake { range, message, help });
            }
        }
    }
    let last = open.last()?;
    let (what, line) = (text_of(text, last), line_of(text, last));
    Some(Mistake {
        range: last.range(),
        message: format!("'{what}' of line {line} was never closed"),
        help: Some(format!("add '{}'", closing(last))),
    })
}

fn closing(token: &Token) -> char {
    match token.kind() {
        T::Lpar => ')',
        T::Lsqb => ']',
        _ => '}',
    }
}

fn line_of(text: &str, token: &Token) -> usize {
    text[..token.start().to_usize()].matches('\n').count() + 1
}
