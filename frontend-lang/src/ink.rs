//! How errors are coloured, for terminals and notebooks: one table of styles.
//!
//! Frontends show errors on grounds of their own: pale red, dark red, black. No single colour can be read on all of
//! them, so a style takes the reader's own colour for its letters, or brings letters and ground along.

use annotate_snippets::Renderer;
use annotate_snippets::renderer::{Ansi256Color, Color, Style};

/// A style of text.
pub struct Ink {
    pub name: &'static str,
    /// Letters and ground, numbers in the palette of 256 colours; from 16 on these look the same everywhere.
    pub colors: Option<(u8, u8)>,
}

/// What an error is called.
pub static ERROR: Ink = Ink { name: "error", colors: Some((231, 124)) };
/// The word before a next step.
pub static HELP: Ink = Ink { name: "help", colors: Some((231, 22)) };
/// The place that is meant.
pub static MARK: Ink = Ink { name: "mark", colors: None };
/// The word before a note.
pub static NOTE: Ink = Ink { name: "note", colors: Some((231, 24)) };
/// What a warning is called.
pub static WARNING: Ink = Ink { name: "warning", colors: Some((16, 179)) };

/// Every style, sorted.
pub static ALL: &[&Ink] = &[&ERROR, &HELP, &MARK, &NOTE, &WARNING];

impl Ink {
    const fn style(&self) -> Style {
        let style = Style::new().bold();
        let Some((letters, ground)) = self.colors else { return style };
        style
            .fg_color(Some(Color::Ansi256(Ansi256Color(letters))))
            .bg_color(Some(Color::Ansi256(Ansi256Color(ground))))
    }

    /// The text in this style.
    pub fn paint(&self, text: &str) -> String {
        let style = self.style();
        format!("{style}{text}{style:#}")
    }

    /// What a renderer drew, its first marked word in this style: the title.
    pub(crate) fn paint_title(&self, drawn: String) -> String {
        let mark = MARK.style();
        let (open, close) = (mark.render().to_string(), mark.render_reset().to_string());
        let title = drawn.strip_prefix(&open).and_then(|rest| rest.split_once(&close));
        title.map_or_else(|| drawn.clone(), |(title, rest)| format!("{}{rest}", self.paint(title)))
    }
}

/// A renderer of code with marks in these styles.
pub(crate) fn renderer() -> Renderer {
    let (mark, bare) = (MARK.style(), Style::new());
    // What stands beside a title has another style, or both would be one word.
    let marks = Renderer::styled().error(mark).warning(mark).emphasis(bare).context(bare);
    marks.line_num(bare).info(NOTE.style()).note(NOTE.style()).help(HELP.style())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_sorted() {
        assert!(ALL.iter().map(|it| it.name).is_sorted());
    }

    #[test]
    fn only_the_title_is_repainted() {
        let mark = MARK.paint("error[x]");
        let drawn = format!("{mark}: a {}", MARK.paint("^^"));
        let expected = format!("{}: a {}", ERROR.paint("error[x]"), MARK.paint("^^"));
        assert_eq!(ERROR.paint_title(drawn), expected);
        assert_eq!(ERROR.paint_title("plain".to_owned()), "plain");
    }
}
