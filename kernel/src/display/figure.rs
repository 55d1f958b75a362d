//! `figure`: plots and pictures in a grid, as `subplots` makes them: one drawing, with axes of equal size.

use std::borrow::Cow;

use magics::Artifact;
use magics::artifact::{Figure, Image, Panel, Plot, Raster, Scale, Series, Side, Span};

use super::html::Html;
use super::plot::{LEAST, Ready};
use super::plot_text::clean;
use super::sheet::{Area, Sheet};
use super::{Renderer, image, plot, plot_frame, plot_text};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "figure",
    wants: |art| matches!(art, Artifact::Figure(_)),
    plain,
    rich: &[("text/html", html)],
    samples,
};

/// The most panels drawn.
const MOST: usize = 400;
/// Width and height of figures whose axes differ in size.
const USUAL: (f64, f64) = (760.0, 520.0);
/// The least and the greatest width of a cell of a grid that says nothing of its size.
const CELL: (f64, f64) = (150.0, 400.0);
/// What a title over all takes.
const TITLE: f64 = 30.0;

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Figure(figure) = art else { return None };
    let mut html = Html::default();
    sheet(figure).draw(&mut html, &told(figure));
    Some(html.finish())
}

/// The figure as one drawing.
pub(crate) fn sheet(figure: &Figure) -> Sheet {
    let panels = &figure.panels[..figure.panels.len().min(MOST)];
    let plots: Vec<Cow<'_, Plot>> = panels.iter().map(as_plot).collect();
    if let ([plot], "") = (&plots[..], figure.title.as_str()) {
        return plot::sheet(&Plot { size: plot.size.or(figure.size), ..plot.clone().into_owned() });
    }
    let spans = spans(figure, panels.len());
    let ready: Vec<Ready<'_>> = plots.iter().map(|it| Ready::of(it)).collect();
    let grid = Grid::of(figure.size, &spans, &ready);
    let above = if figure.title.is_empty() { 0.0 } else { TITLE };
    let mut sheet = Sheet::new(grid.columns.end(), grid.rows.end() + above);
    if above > 0.0 {
        let sides = (Side::Middle, Side::Middle);
        let place = (sheet.width / 2.0, above * 0.6);
        plot_frame::write(&mut sheet, clean(&figure.title), place, plot_frame::TITLE, sides, false);
    }
    for (ready, span) in ready.into_iter().zip(&spans) {
        let (left, right) = grid.columns.ends(span.column, span.columns);
        let (top, bottom) = grid.rows.ends(span.row, span.rows);
        // What keeps its shape stands in the middle of its cells.
        let (wide, tall) = ready.shape_within((right - left, bottom - top));
        let left = left + (right - left - wide) / 2.0;
        let top = above + top + (bottom - top - tall) / 2.0;
        ready.draw(&mut sheet, Area { left, top, right: left + wide, bottom: top + tall });
    }
    sheet
}

/// The cells that each panel takes.
fn spans(figure: &Figure, count: usize) -> Vec<Span> {
    if figure.spans.len() >= count {
        return figure.spans.clone();
    }
    let columns = match figure.columns {
        0 => count.isqrt().max(1),
        columns => columns,
    };
    let cell = |at: usize| Span { row: at / columns, column: at % columns, rows: 1, columns: 1 };
    (0..count).map(cell).collect()
}

/// Rows and columns of axes.
struct Grid {
    columns: Tracks,
    rows: Tracks,
}

/// The columns of a grid, or its rows.
struct Tracks {
    /// What stands before the axes of each, and behind them.
    around: Vec<(f64, f64)>,
    /// How long the axes are in each.
    axes: f64,
}

impl Grid {
    /// The grid for plots in their cells: as large as it is to be, or as its content suggests.
    fn of(size: Option<(u32, u32)>, spans: &[Span], ready: &[Ready<'_>]) -> Self {
        let end = |of: fn(&Span) -> usize| spans.iter().map(of).max().unwrap_or(1);
        let counts = (end(|it| it.column + it.columns), end(|it| it.row + it.rows));
        let one_by_one = spans.iter().all(|it| (it.rows, it.columns) == (1, 1));
        let cell = (USUAL.0 / counts.0 as f64).clamp(CELL.0, CELL.1);
        let whole = match size {
            Some((width, height)) => (f64::from(width), f64::from(height)),
            None if one_by_one => (cell * counts.0 as f64, cell * 0.72 * counts.1 as f64),
            None => USUAL,
        };
        let (mut columns, mut rows) = (Tracks::new(counts.0), Tracks::new(counts.1));
        for (ready, span) in ready.iter().zip(spans) {
            let part = |whole: f64, count: usize, of: usize| whole * count as f64 / of as f64;
            let wide = part(whole.0, span.columns, counts.0) - 60.0;
            let tall = part(whole.1, span.rows, counts.1) - 50.0;
            let around = ready.around((wide.max(LEAST), tall.max(LEAST)));
            columns.make_room((span.column, span.columns), (around.left, around.right));
            rows.make_room((span.row, span.rows), (around.top, around.bottom));
        }
        columns.fill(whole.0);
        rows.fill(whole.1);
        // Pictures alone leave no empty rows or columns between them.
        let ratios: Option<Vec<f64>> = ready.iter().map(Ready::ratio).collect();
        if let Some(ratio) = ratios.and_then(|it| it.into_iter().reduce(f64::max))
            && one_by_one
        {
            match size {
                Some(_) if columns.axes * ratio > rows.axes => columns.axes = rows.axes / ratio,
                _ => rows.axes = (columns.axes * ratio).max(8.0),
            }
        }
        Self { columns, rows }
    }
}

impl Tracks {
    fn new(count: usize) -> Self {
        Self { around: vec![(0.0, 0.0); count], axes: LEAST }
    }

    /// Notes what stands around axes that take so many tracks from `first` on.
    fn make_room(&mut self, (first, count): (usize, usize), (before, behind): (f64, f64)) {
        let last = first + count.max(1) - 1;
        self.around[first].0 = self.around[first].0.max(before);
        self.around[last].1 = self.around[last].1.max(behind);
    }

    /// Gives the axes what is left of a length.
    fn fill(&mut self, length: f64) {
        let taken: f64 = self.around.iter().map(|it| it.0 + it.1).sum();
        self.axes = ((length - taken) / self.around.len() as f64).max(LEAST);
    }

    fn start(&self, track: usize) -> f64 {
        self.around[..track].iter().map(|it| it.0 + self.axes + it.1).sum()
    }

    /// How long all tracks are.
    fn end(&self) -> f64 {
        self.start(self.around.len())
    }

    /// Where axes begin and end that take so many tracks from `first` on.
    fn ends(&self, first: usize, count: usize) -> (f64, f64) {
        let last = first + count.max(1) - 1;
        let start = |track: usize| self.start(track) + self.around[track].0;
        (start(first), start(last) + self.axes)
    }
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
        ..Plot::default()
    })
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

#[cfg(test)]
mod tests {
    use frontend_lang::shown::Drawing;

    use super::super::figure_file;
    use super::super::sheet::Shape;
    use super::*;

    /// The corners of axes, where two lines meet in a drawn corner.
    fn corners(sheet: &Sheet) -> Vec<Area> {
        let corner = |it: &Shape| match it {
            Shape::Line { points, .. } => match points[..] {
                [(left, top), (x, bottom), (right, y)] if x == left && y == bottom => {
                    Some(Area { left, top, right, bottom })
                }
                _ => None,
            },
            _ => None,
        };
        sheet.shapes.iter().filter_map(corner).collect()
    }

    #[test]
    fn a_figure_becomes_a_file_of_either_kind() {
        let Some(Artifact::Figure(figure)) = samples().into_iter().next() else { unreachable!() };
        let sheet = sheet(&figure);
        let svg = figure_file(&figure, Drawing::Svg).unwrap();
        assert!(svg.starts_with(b"<svg ") && svg.ends_with(b"</svg>"));
        let png = figure_file(&figure, Drawing::Png { scale: 1.25 }).unwrap();
        assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
        let number = |at: usize| f64::from(u32::from_be_bytes(png[at..at + 4].try_into().unwrap()));
        let size = (sheet.width * 1.25, sheet.height * 1.25);
        assert_eq!((number(16), number(20)), (size.0.round(), size.1.round()));
        assert!(figure_file(&figure, Drawing::Png { scale: 1e3 }).unwrap_err().contains("dpi"));
    }

    #[test]
    fn axes_of_a_grid_stand_in_line_and_are_of_one_size_whatever_is_drawn_and_named() {
        let line = Series { xs: vec![0.0, 1.0], ys: vec![0.0, 1e5], ..Series::default() };
        let bare = Plot { series: vec![line.clone()], ..Plot::default() };
        let named =
            Plot { title: "t".into(), x_label: "x".into(), y_label: "y".into(), ..bare.clone() };
        let image =
            Image { width: 3, height: 3, channels: 1, pixels: vec![0; 9], ..Image::default() };
        let raster = Raster { image, left: -0.5, right: 2.5, bottom: 2.5, top: -0.5 };
        let shown = Plot { rasters: vec![raster], square: true, ..Plot::default() };
        let plots = [bare, named.clone(), shown, named];
        let panels = plots.into_iter().map(|it| Panel::Plot(Box::new(it))).collect();
        let size = Some((640, 480));
        let figure = Figure { columns: 2, panels, size, ..Figure::default() };
        let sheet = sheet(&figure);
        assert_eq!((sheet.width, sheet.height), (640.0, 480.0));
        let [a, b, picture, d] = corners(&sheet)[..] else { panic!("{:?}", corners(&sheet)) };
        assert_eq!((a.top, a.bottom, b.left, b.right), (b.top, b.bottom, d.left, d.right));
        let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(near(a.width(), b.width()) && near(a.height(), d.height()));
        assert!(near(picture.width(), picture.height()) && near(picture.height(), d.height()));
        assert!(near(picture.middle().0, a.middle().0), "{picture:?} {a:?}");
    }
}
