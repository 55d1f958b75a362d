//! Terminal colours to HTML, and text without them.
//!
//! Only colour, bold, italic and underline are kept; every other escape sequence is dropped. Named colours become
//! classes, as in JupyterLab: no single red can be read on white and on black.

use super::html::Html;

/// A colour of a terminal.
#[derive(Clone, Copy, PartialEq)]
enum Color {
    /// One of the eight that have names; pages say how these look.
    Named(&'static str),
    Exact([u8; 3]),
}

/// What the escape sequences so far have set.
#[derive(Clone, Default, PartialEq)]
struct Pen {
    bold: bool,
    italic: bool,
    underline: bool,
    foreground: Option<Color>,
    background: Option<Color>,
}

/// Text with terminal colours as HTML, to be put in a `<pre>`.
pub(crate) fn to_html(html: &mut Html, text: &str) {
    let mut pen = Pen::default();
    each_run(text, &mut |run| match run {
        Run::Text(text) => write(html, &pen, text),
        Run::Style(codes) => pen.apply(codes),
    });
}

/// Text without escape sequences.
pub(crate) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    each_run(text, &mut |run| {
        if let Run::Text(text) = run {
            out.push_str(text);
        }
    });
    out
}

enum Run<'a> {
    Text(&'a str),
    /// What stands between `ESC [` and `m`.
    Style(&'a str),
}

fn each_run(text: &str, each: &mut dyn FnMut(Run<'_>)) {
    let mut rest = text;
    while let Some(start) = rest.find('\u{1b}') {
        if start > 0 {
            each(Run::Text(&rest[..start]));
        }
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix('[') {
            let Some(end) = after.find(|it: char| ('@'..='~').contains(&it)) else { return };
            if after[end..].starts_with('m') {
                each(Run::Style(&after[..end]));
            }
            rest = &after[end + 1..];
        } else if let Some(after) = rest.strip_prefix(']') {
            // A title or link: up to BEL or ESC \.
            let end = after.find(['\u{7}', '\u{1b}']).unwrap_or(after.len());
            rest = after[end..].trim_start_matches('\u{7}').trim_start_matches("\u{1b}\\");
        } else {
            let mut letters = rest.chars();
            letters.next();
            rest = letters.as_str();
        }
    }
    if !rest.is_empty() {
        each(Run::Text(rest));
    }
}

fn write(html: &mut Html, pen: &Pen, text: &str) {
    if *pen == Pen::default() {
        return html.text(text);
    }
    html.tag("span").maybe("class", pen.class()).maybe("style", pen.style()).text(text);
}

impl Pen {
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split([';', ':']).map(|code| code.parse::<u16>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.bold = true,
                3 => self.italic = true,
                4 => self.underline = true,
                22 => self.bold = false,
                23 => self.italic = false,
                24 => self.underline = false,
                30..=37 => self.foreground = Some(basic(code - 30)),
                90..=97 => self.foreground = Some(basic(code - 90)),
                40..=47 => self.background = Some(basic(code - 40)),
                100..=107 => self.background = Some(basic(code - 100)),
                38 => self.foreground = extended(&mut codes),
                48 => self.background = extended(&mut codes),
                39 => self.foreground = None,
                49 => self.background = None,
                _ => {}
            }
        }
    }

    /// The classes of its named colours.
    fn class(&self) -> Option<String> {
        let class = |color: Option<Color>, end: &str| match color {
            Some(Color::Named(name)) => Some(format!("ansi-{name}-{end}")),
            _ => None,
        };
        let classes = [class(self.foreground, "fg"), class(self.background, "bg")];
        let classes: Vec<String> = classes.into_iter().flatten().collect();
        (!classes.is_empty()).then(|| classes.join(" "))
    }

    fn style(&self) -> Option<String> {
        let exact = |color: Option<Color>, property: &str| match color {
            Some(Color::Exact([red, green, blue])) => {
                Some(format!("{property}:#{red:02x}{green:02x}{blue:02x}"))
            }
            _ => None,
        };
        let flag = |set: bool, style: &str| set.then(|| style.to_owned());
        let parts = [
            exact(self.foreground, "color"),
            exact(self.background, "background-color"),
            flag(self.bold, "font-weight:bold"),
            flag(self.italic, "font-style:italic"),
            flag(self.underline, "text-decoration:underline"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(";"))
    }
}

/// One of the eight named colours.
fn basic(index: u16) -> Color {
    let names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    Color::Named(names[usize::from(index) % names.len()])
}

/// What follows 38 or 48: `5;n` of a palette of 256, or `2;r;g;b`.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<Color> {
    match codes.next()? {
        2 => {
            let mut part = || codes.next().map(|it| it.min(255) as u8);
            Some(Color::Exact([part()?, part()?, part()?]))
        }
        5 => {
            let index = codes.next()?.min(255);
            Some(palette(index as u8).map_or_else(|| basic(index % 8), Color::Exact))
        }
        _ => None,
    }
}

/// A colour of the palette of 256, but for the first sixteen, which are named.
pub(super) fn palette(index: u8) -> Option<[u8; 3]> {
    match index {
        0..=15 => None,
        16..=231 => {
            let level = |it: u8| if it == 0 { 0 } else { 55 + 40 * it };
            let cube = index - 16;
            Some([cube / 36, cube / 6 % 6, cube % 6].map(level))
        }
        _ => Some([8 + 10 * (index - 232); 3]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Html::build(|html| to_html(html, text)), expected);
    }

    #[test]
    fn colours_become_spans() {
        check(
            "\u{1b}[1;31mValueError\u{1b}[0m: <x>",
            "<span class=\"ansi-red-fg\" style=\"font-weight:bold\">ValueError</span>: &lt;x&gt;",
        );
        check("\u{1b}[38;5;196mred\u{1b}[39m.", "<span style=\"color:#ff0000\">red</span>.");
        check("\u{1b}[48;2;1;2;999mx", "<span style=\"background-color:#0102ff\">x</span>");
    }

    #[test]
    fn other_sequences_are_dropped() {
        check("a\u{1b}[2Kb\u{1b}]0;title\u{7}c\u{1b}(d", "abcd");
        check("\u{1b}[31", "");
        assert_eq!(strip("\u{1b}[31mé\u{1b}é\u{1b}[0m!"), "é!");
    }
}
