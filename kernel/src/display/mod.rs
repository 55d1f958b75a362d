//! How each artifact looks: one row per kind, from plain data to a bundle of MIME types.
//!
//! Renderers are pure: no IO, no clock, no session, no random ids; the same artifact gives the same
//! text. `text/plain` is always there; a rich form that fails is left out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use frontend_lang::shown::{Drawing, Figure};
use magics::Artifact;

pub(crate) mod ansi;
mod contrast;
pub(crate) mod data_uri;
mod error;
mod figure;
mod foreign;
mod graph;
mod graph_layout;
mod graph_panels;
mod help;
pub(crate) mod highlight;
pub(crate) mod html;
mod image;
mod images;
mod markdown;
mod markup;
mod notice;
mod plot;
mod plot_axes;
mod plot_frame;
mod plot_legend;
mod plot_marks;
mod plot_points;
mod plot_samples;
mod plot_side;
mod plot_text;
mod png;
mod progress;
mod sheet;
mod sheet_png;
mod svg;
mod table;
mod tensor;
mod tensor_html;
mod text;

#[cfg(test)]
mod tests;

/// One kind of artifact and its forms.
pub(crate) struct Renderer {
    /// Names the golden files.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests write golden files"))]
    pub(crate) name: &'static str,
    /// Whether this row draws the artifact; the first row that wants it wins.
    pub(crate) wants: fn(&Artifact) -> bool,
    /// The `text/plain` form; must not fail.
    pub(crate) plain: fn(&Artifact) -> String,
    /// Further MIME types, richest first; `None` leaves that one out.
    pub(crate) rich: &'static [Rich],
    /// Artifacts that show what the row can do; the tests walk over them.
    #[cfg_attr(not(test), allow(dead_code, reason = "read by the tests"))]
    pub(crate) samples: fn() -> Vec<Artifact>,
}

/// A MIME type and what makes it.
pub(crate) type Rich = (&'static str, fn(&Artifact) -> Option<String>);

/// Every renderer, sorted; `text` stands last and takes all.
pub(crate) static ALL: &[&Renderer] = &[
    &error::RENDERER,
    &figure::RENDERER,
    &foreign::RENDERER,
    &graph::RENDERER,
    &help::RENDERER,
    &image::RENDERER,
    &images::RENDERER,
    &markdown::RENDERER,
    &markup::RENDERER,
    &notice::RENDERER,
    &plot::RENDERER,
    &progress::RENDERER,
    &svg::RENDERER,
    &table::RENDERER,
    &tensor::RENDERER,
    &text::RENDERER,
];

/// The forms of an artifact, `text/plain` first. Pictures are base64, all else is text.
pub(crate) fn bundle(art: &Artifact) -> Vec<(&'static str, String)> {
    let Some(renderer) = renderer(art) else {
        return vec![("text/plain", String::new())];
    };
    let plain = catch_unwind(AssertUnwindSafe(|| (renderer.plain)(art))).unwrap_or_default();
    let mut forms = vec![("text/plain", plain)];
    for (mime, form) in renderer.rich {
        if let Ok(Some(text)) = catch_unwind(AssertUnwindSafe(|| form(art))) {
            forms.push((mime, text));
        }
    }
    forms
}

/// What a frontend that knows text alone shows.
pub fn plain(art: &Artifact) -> String {
    bundle(art).into_iter().next().map(|it| it.1).unwrap_or_default()
}

/// The bytes of a file that shows a figure.
pub(crate) fn figure_file(figure: &Figure, drawing: Drawing) -> Result<Vec<u8>, String> {
    let sheet = figure::sheet(figure);
    match drawing {
        Drawing::Svg => Ok(sheet.svg().into_bytes()),
        Drawing::Png { scale } => sheet_png::write(&sheet, scale)
            .ok_or_else(|| "the picture is too large; a lower dpi makes it smaller".to_owned()),
    }
}

/// The first row that wants the artifact.
pub(crate) fn renderer(art: &Artifact) -> Option<&'static Renderer> {
    ALL.iter().find(|it| (it.wants)(art)).copied()
}
