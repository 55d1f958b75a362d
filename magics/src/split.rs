//! From the text of a cell to what is to be done: magics, help requests, code.

/// One thing to do, in the order of the cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// `%name rest`, alone on its line.
    Line { name: String, rest: String },
    /// `%%name rest` on the first line; `body` is everything below.
    Cell { name: String, rest: String, body: String },
    /// `!program`, which other kernels hand to the shell.
    Shell { line: String },
    /// `thing?` or `?thing`; `detailed` with two question marks.
    Help { name: String, detailed: bool },
    /// Program text; lines that are not part of it are blank, so positions agree with the cell.
    Code(String),
}

/// Splits a cell; `%%name?` on the first line asks for help, and code follows. Lines inside brackets or strings that begin with `%` stay code.
pub fn split(text: &str) -> Vec<Part> {
    let first = text.lines().find(|it| !it.trim().is_empty()).unwrap_or("");
    let magic = first.trim_start().strip_prefix("%%").filter(|_| question(first).is_none());
    if let Some(magic) = magic {
        let (name, rest) = name_and_rest(magic);
        let at = text.find(first).unwrap_or(0) + first.len();
        let body = text[at..].strip_prefix('\n').unwrap_or(&text[at..]);
        return vec![Part::Cell { name, rest, body: body.into() }];
    }
    let mut splitter = Splitter::default();
    for (at, line) in text.lines().enumerate() {
        splitter.line(at, line);
    }
    splitter.flush();
    splitter.parts
}

#[derive(Default)]
struct Splitter {
    parts: Vec<Part>,
    /// Lines of code gathered so far, with their numbers.
    code: Vec<(usize, String)>,
    /// Open brackets and the quote that a string over several lines began with.
    depth: usize,
    string: Option<&'static str>,
}

impl Splitter {
    fn line(&mut self, at: usize, line: &str) {
        let inside = self.depth > 0 || self.string.is_some();
        let command = if inside { None } else { command(line) };
        match command {
            Some(part) => {
                self.flush();
                self.parts.push(part);
            }
            None => {
                self.track(line);
                self.code.push((at, line.into()));
            }
        }
    }

    /// Ends the current piece of code; a piece of blank lines and comments is dropped.
    fn flush(&mut self) {
        let lines = std::mem::take(&mut self.code);
        let is_blank = |it: &(usize, String)| it.1.trim().is_empty();
        let Some(last) = lines.last().map(|it| it.0) else { return };
        if lines.iter().all(is_blank) {
            return;
        }
        let mut text = vec![String::new(); last + 1];
        for (at, line) in lines {
            text[at] = line;
        }
        self.parts.push(Part::Code(text.join("\n")));
    }

    /// Follows brackets and strings over several lines.
    fn track(&mut self, line: &str) {
        let mut rest = line;
        while let Some(it) = rest.chars().next() {
            if let Some(quote) = self.string {
                match rest.find(quote) {
                    Some(end) => {
                        rest = &rest[end + quote.len()..];
                        self.string = None;
                    }
                    None => return,
                }
                continue;
            }
            let triple = ["\"\"\"", "'''"].into_iter().find(|quote| rest.starts_with(quote));
            if let Some(quote) = triple {
                self.string = Some(quote);
                rest = &rest[3..];
                continue;
            }
            match it {
                '#' => return,
                '"' | '\'' => {
                    rest = after_string(&rest[1..], it);
                    continue;
                }
                '(' | '[' | '{' => self.depth += 1,
                ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            rest = &rest[it.len_utf8()..];
        }
    }
}

/// What follows a string of one line that began before `text`.
fn after_string(text: &str, quote: char) -> &str {
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if it == quote => return &text[at + it.len_utf8()..],
            _ => {}
        }
    }
    ""
}

/// The magic or help request that a whole line is.
fn command(line: &str) -> Option<Part> {
    let line = line.trim_end();
    if let Some(help) = question(line) {
        return Some(help);
    }
    if let Some(magic) = line.strip_prefix('%').filter(|it| it.starts_with(char::is_alphabetic)) {
        let (name, rest) = name_and_rest(magic);
        return Some(Part::Line { name, rest });
    }
    line.starts_with('!').then(|| Part::Shell { line: line.into() })
}

/// The help that a whole line asks for, on a name or on a magic.
fn question(line: &str) -> Option<Part> {
    let line = line.trim_end();
    let bare = line.trim_matches('?');
    let marks = line.len() - bare.len();
    let is_name = |it: &str| {
        let it = it.strip_prefix("%%").or(it.strip_prefix('%')).unwrap_or(it);
        !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '.')
    };
    (marks > 0 && is_name(bare.trim()))
        .then(|| Part::Help { name: bare.trim().into(), detailed: marks > 1 })
}

fn name_and_rest(magic: &str) -> (String, String) {
    let (name, rest) = magic.split_once(char::is_whitespace).unwrap_or((magic, ""));
    (name.into(), strip_comment(rest).trim().into())
}

/// `%trace  # compile this cell` keeps its comment out of the arguments.
fn strip_comment(rest: &str) -> &str {
    match rest.find(" #").or_else(|| rest.starts_with('#').then_some(0)) {
        Some(at) if !rest[..at].contains(['"', '\'']) => &rest[..at],
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, rest: &str) -> Part {
        Part::Line { name: name.into(), rest: rest.into() }
    }

    #[test]
    fn keeps_positions_of_code_after_magics() {
        let parts = split("%trace\nx = 1\ny = 2\n");
        assert_eq!(parts, [line("trace", ""), Part::Code("\nx = 1\ny = 2".into())]);
    }

    #[test]
    fn leaves_percent_inside_brackets_and_strings() {
        let text = "x = (7\n%time)\ns = '''\n%trace\n'''";
        assert_eq!(split(text), [Part::Code(text.into())]);
    }

    #[test]
    fn reads_help_and_cell_magics() {
        assert_eq!(split("nn.Linear??"), [Part::Help { name: "nn.Linear".into(), detailed: true }]);
        assert_eq!(split("?print"), [Part::Help { name: "print".into(), detailed: false }]);
        let cell =
            Part::Cell { name: "html".into(), rest: String::new(), body: "<b>x</b>\n".into() };
        assert_eq!(split("%%html\n<b>x</b>\n"), [cell]);
        let help = |name: &str| Part::Help { name: name.into(), detailed: false };
        assert_eq!(split("%who?"), [help("%who")]);
        assert_eq!(split("?%who "), [help("%who")]);
        assert_eq!(split("%%html?\nx"), [help("%%html"), Part::Code("\nx".into())]);
        assert_eq!(split("%time x?"), [line("time", "x?")]);
    }

    #[test]
    fn a_question_in_a_string_is_code() {
        assert_eq!(split("'why?'"), [Part::Code("'why?'".into())]);
        assert_eq!(split("!ls"), [Part::Shell { line: "!ls".into() }]);
        assert_eq!(split("# really?"), [Part::Code("# really?".into())]);
    }
}
