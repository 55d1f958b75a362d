//! How objects of Python want to be shown, and the figures that they draw.

use super::proxy::{self, Proxy};
use super::request::Request;
use super::wire::{Datum, parts};
use crate::native::*;
use crate::objects::shown::Shown;
use crate::shown::{Foreign, Form};

impl Cx {
    /// The form of an object; none where it has only its text, or making it fails.
    pub(crate) fn python_form(&mut self, proxy: &Proxy) -> Option<Value> {
        let target = self.target(proxy).ok()?;
        let answer = self.ask(Request::Form, vec![target]).ok()?;
        let [name, data] = answer.items().and_then(parts).ok()?;
        let form = match (name.text().ok()?.as_str(), data) {
            ("html", Datum::Str(text)) => Form::Html(text),
            ("svg", Datum::Str(text)) => Form::Svg(text),
            ("markdown", Datum::Str(text)) => Form::Markdown(text),
            ("latex", Datum::Str(text)) => Form::Latex(text),
            ("png", Datum::Bytes(bytes)) => Form::Png(bytes),
            _ => return None,
        };
        // Who shows it has its text.
        Some(Value::object(Shown::Foreign(Foreign { text: String::new(), form })))
    }

    /// Shows the figures that code in Python has drawn, at the end of a cell, but for the one that the cell gives.
    pub fn show_python_figures(&mut self, given: Option<&Value>) {
        if !std::mem::take(&mut self.python.used) || self.python.link.is_none() {
            return;
        }
        let given = given.and_then(proxy::of).and_then(|it| self.target(it).ok());
        let figures = self.ask(Request::Figures, vec![given.unwrap_or(Datum::None)]);
        self.python.used = false;
        for figure in figures.ok().and_then(|it| it.items().ok()).unwrap_or_default() {
            if let Datum::Bytes(bytes) = figure {
                let shown = Foreign { text: String::new(), form: Form::Png(bytes) };
                let shown = Value::object(Shown::Foreign(shown));
                self.host.display(&shown, "<figure>", None, false);
            }
        }
    }
}
