//! Escaping and tags: the only place where markup is written, for HTML and SVG alike.
//!
//! Text and attribute values are escaped always; there is no way to put in a string as it is,
//! except `Html::trusted`, for markup that was itself made here or written by the user as markup.

use std::fmt::{Display, Write};

/// Markup under construction.
#[derive(Default)]
pub(crate) struct Html {
    text: String,
}

/// An opened start tag: attributes, then one of `empty`, `text`, `within`.
pub(crate) struct Tag<'a> {
    html: &'a mut Html,
    name: &'static str,
}

impl Html {
    /// Makes markup in one go.
    pub(crate) fn build(body: impl FnOnce(&mut Html)) -> String {
        let mut html = Html::default();
        body(&mut html);
        html.finish()
    }

    /// The markup made so far.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Begins an element.
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.text.push('<');
        self.text.push_str(name);
        Tag { html: self, name }
    }

    /// Adds text.
    pub(crate) fn text(&mut self, text: &str) {
        escape_into(&mut self.text, text);
    }

    /// Adds a line break in the source, for readers of the markup.
    pub(crate) fn line(&mut self) {
        self.text.push('\n');
    }

    /// Adds markup as it is: only what this module made, or what a user wrote as markup.
    pub(crate) fn trusted(&mut self, markup: &str) {
        self.text.push_str(markup);
    }
}

impl Tag<'_> {
    /// Adds an attribute.
    pub(crate) fn attr(self, name: &'static str, value: impl Display) -> Self {
        self.html.text.push(' ');
        self.html.text.push_str(name);
        self.html.text.push_str("=\"");
        escape_into(&mut self.html.text, &value.to_string());
        self.html.text.push('"');
        self
    }

    /// Adds an attribute that is a length, with at most two decimals.
    pub(crate) fn num(self, name: &'static str, value: f64) -> Self {
        self.attr(name, num(value))
    }

    /// Adds an attribute if there is a value.
    pub(crate) fn maybe(self, name: &'static str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Ends an element that holds nothing.
    pub(crate) fn empty(self) {
        self.html.text.push_str("/>");
    }

    /// Ends an element that holds text.
    pub(crate) fn text(self, text: &str) {
        self.within(|html| html.text(text));
    }

    /// Ends an element that holds others.
    pub(crate) fn within(self, body: impl FnOnce(&mut Html)) {
        let Tag { html, name } = self;
        html.text.push('>');
        body(html);
        let _ = write!(html.text, "</{name}>");
    }
}

/// A length with at most two decimals, so that markup is short and the same everywhere.
pub(crate) fn num(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // -0 would print its sign.
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

fn escape_into(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(letter),
            // Not allowed in XML, so that one of them would spoil a whole drawing.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_text_and_attributes() {
        let made = Html::build(|html| {
            html.tag("p").attr("title", "a\"b'").within(|html| {
                html.text("<script>&\u{1b}");
                html.tag("br").empty();
            });
        });
        assert_eq!(made, "<p title=\"a&quot;b&#39;\">&lt;script&gt;&amp;\u{fffd}<br/></p>");
    }

    #[test]
    fn writes_short_lengths() {
        assert_eq!([num(1.0), num(0.125), num(-0.001)], ["1", "0.13", "0"]);
    }
}
