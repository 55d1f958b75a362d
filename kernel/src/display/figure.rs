//! `figure`: plots and pictures in a grid, as `subplots` makes them.

use magics::Artifact;
use magics::artifact::{Figure, Image, Panel, Plot, Series};

use super::html::Html;
use super::{Renderer, image, images, plot, plot_text};

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
    images::grid(&mut html, &figure.title, columns, &figure.panels, |html, it| {
        panel(html, it, columns)
    })?;
    Some(html.finish())
}

fn panel(html: &mut Html, panel: &Panel, columns: usize) -> Option<()> {
    match panel {
        Panel::Plot(plot) => plot::draw(html, plot, columns),
        Panel::Image(image) => image::draw(html, image, images::IN_GRID),
    }
}

fn plain(art: &Artifact) -> String {
    let Artifact::Figure(figure) = art else { return String::new() };
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
    vec![Artifact::Figure(Figure { title: "<run> 1".into(), columns: 2, panels })]
}
