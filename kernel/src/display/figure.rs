//! `figure`: plots and pictures in a grid, as `subplots` makes them.

use std::borrow::Cow;

use magics::Artifact;
use magics::artifact::{Figure, Image, Panel, Plot, Raster, Scale, Series, Span};

use super::html::Html;
use super::plot::Document;
use super::{Renderer, data_uri, image, images, plot, plot_text};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "figure",
    wants: |art| matches!(art, Artifact::Figure(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Figure(figure) = art else { return None };
    let mut html = Html::default();
    let columns = figure.columns;
    if !figure.spans.is_empty() {
        spanned(&mut html, figure)?;
        return Some(html.finish());
    }
    images::grid(&mut html, &figure.title, columns, &figure.panels, |html, it| {
        panel(html, it, columns)
    })?;
    Some(html.finish())
}

/// Panels of different sizes in one drawing, each in the middle of the cells that it takes.
fn spanned(html: &mut Html, figure: &Figure) -> Option<()> {
    let documents = figure.panels.iter().map(|it| plot::document(&as_plot(it)));
    let documents: Vec<Document> = documents.collect::<Option<_>>()?;
    let cell = |of: fn(&Document) -> u32, count: fn(&Span) -> usize| {
        let each = documents.iter().zip(&figure.spans);
        each.map(|(it, span)| of(it).div_ceil(count(span).max(1) as u32)).max().unwrap_or(1)
    };
    let (width, height) =
        (cell(|it| it.width, |it| it.columns), cell(|it| it.height, |it| it.rows));
    let end = |of: fn(&Span) -> usize| figure.spans.iter().map(of).max().unwrap_or(0) as u32;
    let whole = (width * end(|it| it.column + it.columns), height * end(|it| it.row + it.rows));
    let mut drawing = format!(
        "<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" xmlns=\"http://www.w3.org/2000/svg\">\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
        whole.0, whole.1
    );
    for (it, span) in documents.iter().zip(&figure.spans) {
        let middle = |from: usize, count: usize, cell: u32, size: u32| {
            from as u32 * cell + (count as u32 * cell).saturating_sub(size) / 2
        };
        let x = middle(span.column, span.columns, width, it.width);
        let y = middle(span.row, span.rows, height, it.height);
        drawing += &it.text.replacen("<svg ", &format!("<svg x=\"{x}\" y=\"{y}\" "), 1);
    }
    drawing += "</svg>";
    html.tag("div").attr("class", "ng-grid").within(|html| {
        if !figure.title.is_empty() {
            html.tag("div").within(|html| html.tag("strong").text(&figure.title));
        }
        let style = "border-radius:6px;max-width:100%;height:auto";
        let tag = html.tag("img").attr("src", data_uri::svg(&drawing)).attr("alt", told(figure));
        tag.attr("width", whole.0).attr("height", whole.1).attr("style", style).empty();
    });
    Some(())
}

/// A picture as axes without numbers.
fn as_plot(panel: &Panel) -> Cow<'_, Plot> {
    let image = match panel {
        Panel::Plot(plot) => return Cow::Borrowed(plot),
        Panel::Image(image) => image,
    };
    let (right, bottom) = (image.width as f64 - 0.5, image.height as f64 - 0.5);
    Cow::Owned(Plot {
        title: image.title.clone(),
        rasters: vec![Raster { image: image.clone(), left: -0.5, right, bottom, top: -0.5 }],
        y: Scale { flipped: true, ..Scale::default() },
        square: true,
        bare: true,
        size: Some((260, 260)),
        ..Plot::default()
    })
}

fn panel(html: &mut Html, panel: &Panel, columns: usize) -> Option<()> {
    match panel {
        Panel::Plot(plot) => plot::draw(html, plot, columns),
        Panel::Image(image) => image::draw(html, image, images::IN_GRID),
    }
}

fn plain(art: &Artifact) -> String {
    let Artifact::Figure(figure) = art else { return String::new() };
    told(figure)
}

/// What the figure shows.
fn told(figure: &Figure) -> String {
    let title = if figure.title.is_empty() { "figure" } else { &figure.title };
    let panels = figure.panels.iter().map(|panel| match panel {
        Panel::Plot(plot) => plot_text::describe(plot),
        Panel::Image(image) => format!("<{}>", image::describe(image)),
    });
    [format!("{title}: {} panels", figure.panels.len())]
        .into_iter()
        .chain(panels)
        .collect::<Vec<_>>()
        .join("\n")
}

fn samples() -> Vec<Artifact> {
    let line = Series { xs: vec![0.0, 1.0, 2.0], ys: vec![1.0, 0.5, 0.25], ..Series::default() };
    let plot = Plot {
        title: "loss".into(),
        series: vec![line],
        size: Some((320, 240)),
        ..Plot::default()
    };
    let image = Image {
        width: 2,
        height: 2,
        channels: 1,
        pixels: vec![0, 90, 180, 255],
        title: "input".into(),
    };
    let panels = vec![Panel::Plot(Box::new(plot)), Panel::Image(image)];
    let figure = Figure { title: "<run> 1".into(), columns: 2, panels, ..Figure::default() };
    let wide = Span { rows: 1, columns: 2, ..Span::default() };
    let below = Span { row: 1, column: 1, rows: 1, columns: 1 };
    let spanned = Figure { spans: vec![wide, below], ..figure.clone() };
    vec![Artifact::Figure(figure), Artifact::Figure(spanned)]
}
