//! `images`: pictures in a grid, each over its caption.

use magics::Artifact;
use magics::artifact::{Image, Images};

use super::html::Html;
use super::{Renderer, image};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "images",
    wants: |art| matches!(art, Artifact::Images(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// The length to which a small picture of a grid is enlarged.
pub(crate) const IN_GRID: usize = 96;
/// The most pictures drawn.
const MOST: usize = 256;

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Images(images) = art else { return None };
    let drawn = &images.images[..images.images.len().min(MOST)];
    let mut html = Html::default();
    grid(&mut html, &images.title, images.columns, drawn, |html, it| {
        image::draw(html, it, IN_GRID)
    })?;
    let left_out = images.images.len() - drawn.len();
    if left_out > 0 {
        html.tag("div").text(&format!("... {left_out} more images"));
    }
    Some(html.finish())
}

/// A heading and rows of items, which are whole however narrow the page is where columns are given, and else as long as it is wide; `None` if an
/// item cannot be drawn.
pub(crate) fn grid<T>(
    html: &mut Html,
    title: &str,
    columns: usize,
    items: &[T],
    draw: impl Fn(&mut Html, &T) -> Option<()>,
) -> Option<()> {
    let (columns, of_page, of_row) = match columns {
        0 => (items.len().max(1), None, None),
        _ => (columns, Some("overflow-x:auto"), Some("white-space:nowrap")),
    };
    let mut complete = Some(());
    html.tag("div").attr("class", "ng-grid").maybe("style", of_page).within(|html| {
        if !title.is_empty() {
            html.tag("div").within(|html| html.tag("strong").text(title));
        }
        for row in items.chunks(columns) {
            html.tag("div").maybe("style", of_row).within(|html| {
                for item in row {
                    complete = complete.and_then(|()| draw(html, item));
                }
            });
            html.line();
        }
    });
    complete
}

fn plain(art: &Artifact) -> String {
    let Artifact::Images(images) = art else { return String::new() };
    let title = if images.title.is_empty() { String::new() } else { format!("{}: ", images.title) };
    let mut lines = vec![format!("{title}{} images", images.images.len())];
    lines.extend(images.images.iter().take(MOST).map(|it| format!("  <{}>", image::describe(it))));
    lines.join("\n")
}

fn samples() -> Vec<Artifact> {
    let digit = |seed: usize| Image {
        width: 4,
        height: 4,
        channels: 1,
        pixels: (0..16).map(|at| (at * seed * 29 % 256) as u8).collect(),
        title: format!("<{seed}>"),
    };
    let images =
        Images { title: "Digits & more".into(), columns: 2, images: (1..4).map(digit).collect() };
    vec![Artifact::Images(images)]
}
