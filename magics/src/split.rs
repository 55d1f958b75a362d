//! From the text of a cell to what is to be done: magics, help requests, code.

/// One thing to do, in the order of the cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// `%name rest`, alone on its line, with so many lines above.
    Line { above: usize, name: String, rest: String },
    /// `%%name rest` on the first line that is not blank; `body` is everything below.
    Cell { above: usize, name: String, rest: String, body: String },
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
        let above = text[..at].lines().count() - 1;
        return vec![Part::Cell { above, name, rest, body: body.into() }];
    }
    let mut splitter = Splitter::default();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let is_shell = line.starts_with('!') && !splitter.is_inside();
        // A backslash takes the next line into the command.
        let mut whole = line.to_owned();
        while is_shell && whole.ends_with('\\') {
            whole.pop();
            let Some((_, more)) = lines.next() else { break };
            whole.push_str(more.trim_start());
        }
        splitter.line(at, &whole);
    }
    splitter.flush();
    splitter.parts
}

/// A cell of a Python file, in which tools keep magics as comments: `# %trace` becomes `%trace`, `# !ls` becomes `!ls`. Comments that
/// name no magic stay.
pub fn uncommented(text: &str) -> String {
    let mut splitter = Splitter::default();
    let mut lines = Vec::new();
    for line in text.lines() {
        let bare = commented_magic(line).filter(|_| !splitter.is_inside());
        splitter.track(line);
        lines.push(bare.unwrap_or_else(|| line.to_owned()));
    }
    lines.join("\n")
}

/// The line without its comment sign, if a magic or a command follows it.
fn commented_magic(line: &str) -> Option<String> {
    let indent = &line[..line.len() - line.trim_start().len()];
    let written = line.trim_start().strip_prefix("# ")?;
    let name = written.trim_start_matches('%');
    let is_magic = matches!(written.len() - name.len(), 1 | 2) && {
        let name = name_and_rest(name).0;
        crate::find(&name).is_some() || crate::elsewhere::find(&name).is_some()
    };
    let is_command =
        || written.strip_prefix('!').is_some_and(|it| it.starts_with(char::is_alphabetic));
    (is_magic || is_command()).then(|| format!("{indent}{written}"))
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
    /// Whether the next line goes on with brackets or a string.
    fn is_inside(&self) -> bool {
        self.depth > 0 || self.string.is_some()
    }

    fn line(&mut self, at: usize, line: &str) {
        let command = if self.is_inside() { None } else { command(at, line) };
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
fn command(above: usize, line: &str) -> Option<Part> {
    let line = line.trim_end();
    if let Some(help) = question(line) {
        return Some(help);
    }
    if let Some(magic) = line.strip_prefix('%').filter(|it| it.starts_with(char::is_alphabetic)) {
        let (name, rest) = name_and_rest(magic);
        return Some(Part::Line { above, name, rest });
    }
    if let Some((name, rest)) = line_magic_call(line) {
        return Some(Part::Line { above, name, rest });
    }
    line.starts_with('!').then(|| Part::Shell { line: line.into() })
}

/// What `get_ipython().run_line_magic('name', 'rest')` alone on its line asks for: converters write magics so.
fn line_magic_call(line: &str) -> Option<(String, String)> {
    let args = line.strip_prefix("get_ipython().run_line_magic(")?.strip_suffix(')')?;
    let (name, rest) = args.split_once(',')?;
    let text = |it: &str| {
        let it = it.trim();
        let quote = it.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
        let inner = it.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains([quote, '\\'])).then(|| inner.to_owned())
    };
    Some((text(name)?, text(rest)?))
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
        Part::Line { above: 0, name: name.into(), rest: rest.into() }
    }

    #[test]
    fn keeps_positions_of_code_after_magics() {
        let parts = split("%trace\nx = 1\ny = 2\n");
        assert_eq!(parts, [line("trace", ""), Part::Code("\nx = 1\ny = 2".into())]);
        let time = Part::Line { above: 2, name: "time".into(), rest: "f(x)".into() };
        assert_eq!(split("x = 1\n\n%time f(x)"), [Part::Code("x = 1\n".into()), time]);
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
        let cell = |above| Part::Cell {
            above,
            name: "html".into(),
            rest: String::new(),
            body: "<b>x</b>\n".into(),
        };
        assert_eq!(split("%%html\n<b>x</b>\n"), [cell(0)]);
        assert_eq!(split("\n  \n%%html\n<b>x</b>\n"), [cell(2)]);
        let help = |name: &str| Part::Help { name: name.into(), detailed: false };
        assert_eq!(split("%who?"), [help("%who")]);
        assert_eq!(split("?%who "), [help("%who")]);
        assert_eq!(split("%%html?\nx"), [help("%%html"), Part::Code("\nx".into())]);
        assert_eq!(split("%time x?"), [line("time", "x?")]);
    }

    #[test]
    fn a_question_in_a_string_is_code() {
        assert_eq!(split("'why?'"), [Part::Code("'why?'".into())]);
        let shell = |it: &str| Part::Shell { line: it.into() };
        assert_eq!(split("!ls"), [shell("!ls")]);
        let text = "!pip install \\\n    torch \\\n    numpy\nx = 1";
        let code = Part::Code("\n\n\nx = 1".into());
        assert_eq!(split(text), [shell("!pip install torch numpy"), code]);
        let text = "'''\n!ls \\\n'''";
        assert_eq!(split(text), [Part::Code(text.into())]);
        assert_eq!(split("get_ipython().run_line_magic('time', 'f(2)')"), [line("time", "f(2)")]);
        let call = "get_ipython().run_line_magic(name, 'f(2)')";
        assert_eq!(split(call), [Part::Code(call.into())]);
        assert_eq!(split("# really?"), [Part::Code("# really?".into())]);
    }

    #[test]
    fn magics_in_comments_are_magics_and_other_comments_stay() {
        for (text, expected) in [
            ("# %trace\nx = 1", "%trace\nx = 1"),
            ("# %%time\nf()", "%%time\nf()"),
            ("if a:\n    # !pip install b\n    pass", "if a:\n    !pip install b\n    pass"),
            ("# %pip install b", "%pip install b"),
            (
                "# %d items\n# 50 % of it\n#%trace\n# # %trace\n# !",
                "# %d items\n# 50 % of it\n#%trace\n# # %trace\n# !",
            ),
            ("s = \"\"\"\n# %trace\n\"\"\"", "s = \"\"\"\n# %trace\n\"\"\""),
        ] {
            assert_eq!(uncommented(text), expected);
        }
    }
}
