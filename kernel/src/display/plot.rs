//! `plot`: what is drawn on one set of axes.
//!
//! Drawn on a white panel, so that all colours can be read on light and dark pages. `plot_frame` draws axes and names,
//! `plot_marks` what stands inside them, `plot_side` what stands beside them, `plot_legend` the names of series; `sheet` makes a
//! document of it.

use magics::Artifact;
use magics::artifact::{Plot, Raster, Rgb, Side as Part};

use super::html::Html;
use super::plot_axes::Axis;
use super::plot_frame::{LABEL, NAME, TICK, most, names, widest};
use super::plot_side::Side;
use super::plot_text::{clean, describe};
use super::sheet::{Area, Picture, Point, Shape, Sheet, text_width};
use super::{Renderer, plot_frame, plot_legend, plot_marks, plot_samples};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "plot",
    wants: |art| matches!(art, Artifact::Plot(_)),
    plain,
    rich: &[("text/html", html)],
    samples: plot_samples::samples,
};

pub(super) const INK: Rgb = [55, 61, 70];
pub(super) const PALE: Rgb = [222, 226, 232];

/// Both axes of a plot.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

/// Axes that are being drawn on.
pub(super) struct Chart<'a> {
    pub(super) sheet: &'a mut Sheet,
    pub(super) axes: Axes,
    /// Where they lie on the sheet.
    pub(super) area: Area,
}

impl Chart<'_> {
    pub(super) fn x(&self, place: f64) -> f64 {
        self.area.left + self.axes.x.part(place) * self.area.width()
    }

    pub(super) fn y(&self, place: f64) -> f64 {
        self.area.bottom - self.axes.y.part(place) * self.area.height()
    }

    pub(super) fn point(&self, (x, y): Point) -> Point {
        (self.x(x), self.y(y))
    }
}

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Plot(plot) = art else { return None };
    let mut html = Html::default();
    sheet(plot).draw(&mut html, &describe(plot));
    Some(html.finish())
}

fn plain(art: &Artifact) -> String {
    let Artifact::Plot(plot) = art else { return String::new() };
    describe(plot)
}

/// Width and height of a plot that says nothing of its size.
pub(super) const USUAL: (u32, u32) = (560, 340);
/// The most pictures that are drawn.
const PICTURES: usize = 20;
/// The most series, and the most bands, that are drawn.
pub(super) const SERIES: usize = 2000;
/// Around all that is drawn.
const MARGIN: f64 = 10.0;
/// The least width and height of axes.
pub(super) const LEAST: f64 = 50.0;
/// The most lines of a title.
const TITLE_LINES: usize = 4;
/// Between a title and its axes.
const TITLE_GAP: f64 = 7.0;

/// The plot as a drawing of its own.
pub(super) fn sheet(plot: &Plot) -> Sheet {
    let ready = Ready::of(plot);
    let (width, height) = plot.size.unwrap_or(USUAL);
    let (width, height) = (f64::from(width.clamp(160, 2000)), f64::from(height.clamp(120, 2000)));
    let around = ready.around((width - 80.0, height - 60.0));
    // However long the names are, the axes have some room.
    let wide = (width - around.left - around.right).max(LEAST);
    let tall = (height - around.top - around.bottom).max(LEAST);
    // A picture makes the drawing smaller.
    let (wide, tall) = ready.shape_within((wide, tall));
    let area = Area {
        left: around.left,
        top: around.top,
        right: around.left + wide,
        bottom: around.top + tall,
    };
    let mut sheet = Sheet::new(area.right + around.right, area.bottom + around.bottom);
    ready.draw(&mut sheet, area);
    sheet
}

/// What stands around axes, in pixels.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Around {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// A plot with its axes, ready to be placed and drawn.
pub(super) struct Ready<'a> {
    plot: &'a Plot,
    axes: Axes,
    /// The vertical axis of what is drawn over it.
    twin: Option<Axis>,
    side: Side<'a>,
}

impl<'a> Ready<'a> {
    pub(super) fn of(plot: &'a Plot) -> Self {
        let twin = plot.twin.as_ref().map(|it| twin_axis(it));
        Self { plot, axes: axes(plot), twin, side: Side::of(plot, twin) }
    }

    /// What labels and titles need around axes of about this size.
    pub(super) fn around(&self, (width, height): (f64, f64)) -> Around {
        let Plot { x, y, x_label, y_label, title, .. } = self.plot;
        let lines = title.lines().take(TITLE_LINES).count() as f64;
        let title = lines * title_size(width) * 1.2 + if lines > 0.0 { TITLE_GAP } else { 0.0 };
        if self.plot.bare {
            let (edge, side) = (MARGIN / 2.0, self.side.room(height));
            return Around { left: edge, right: edge + side, top: title + edge, bottom: edge };
        }
        let label = |text: &str| if text.is_empty() { 0.0 } else { LABEL + 8.0 };
        let ticks = TICK.0 + TICK.1;
        let beside = names(self.axes.y, y, most(height, true));
        let below = names(self.axes.x, x, most(width, false));
        let half = below.last().map_or(0.0, |(_, name)| text_width(name, NAME) / 2.0);
        let side = self.side.room(height);
        Around {
            left: MARGIN + label(y_label) + ticks + widest(&beside),
            top: MARGIN + title,
            right: MARGIN + if side > 0.0 { side } else { half },
            bottom: MARGIN / 2.0 + label(x_label) + ticks + NAME,
        }
    }

    /// Height over width where both follow from a picture whose units are equally long.
    pub(super) fn ratio(&self) -> Option<f64> {
        let ratio = self.axes.y.length() / self.axes.x.length();
        let is_picture = self.plot.square && !self.plot.rasters.is_empty();
        Some(ratio).filter(|it| is_picture && *it > 0.0 && it.is_finite())
    }

    /// The size that axes take of so much room.
    pub(super) fn shape_within(&self, (wide, tall): (f64, f64)) -> (f64, f64) {
        let Some(ratio) = self.ratio() else { return (wide, tall) };
        match ratio < tall / wide {
            true => (wide, (wide * ratio).max(8.0)),
            false => ((tall / ratio).max(8.0), tall),
        }
    }

    /// Draws it with its axes in an area.
    pub(super) fn draw(self, sheet: &mut Sheet, area: Area) {
        let Self { plot, mut axes, twin, side } = self;
        if plot.square && plot.rasters.is_empty() {
            let scale = (area.width() / axes.x.length()).min(area.height() / axes.y.length());
            axes.x = axes.x.widened(area.width() / scale);
            axes.y = axes.y.widened(area.height() / scale);
        }
        title(sheet, &plot.title, area);
        side.draw(sheet, area);
        let mut chart = Chart { sheet, axes, area };
        pictures(&mut chart, plot);
        if !plot.bare {
            plot_frame::grid(&mut chart, plot, axes);
            plot_frame::frame(&mut chart, plot, axes);
        }
        let first = chart.sheet.shapes.len();
        contents(&mut chart, plot);
        if let (Some(over), Some(y)) = (&plot.twin, twin) {
            chart.axes.y = y;
            contents(&mut chart, over);
            plot_legend::draw(chart.sheet, over, area, first);
        }
        plot_legend::draw(chart.sheet, plot, area, first);
    }
}

/// The size of a title over axes of a width.
fn title_size(width: f64) -> f64 {
    if width < 300.0 { 12.5 } else { plot_frame::TITLE }
}

/// Writes a title; one that is too long is written smaller.
fn title(sheet: &mut Sheet, title: &str, area: Area) {
    let lines: Vec<String> = title.lines().take(TITLE_LINES).map(clean).collect();
    let usual = title_size(area.width());
    let widest = lines.iter().map(|it| text_width(it, usual)).fold(1.0, f64::max);
    let size = usual * (area.width() * 1.1 / widest).clamp(0.7, 1.0);
    for (at, line) in lines.iter().rev().enumerate() {
        let place = (area.middle().0, area.top - TITLE_GAP - at as f64 * usual * 1.2);
        let sides = (Part::Middle, Part::Start);
        plot_frame::write(sheet, line.clone(), place, size, sides, false);
    }
}

/// What stands inside the axes, but for the legend.
fn contents(chart: &mut Chart<'_>, plot: &Plot) {
    plot_marks::bands(chart, plot, chart.axes);
    for (at, series) in plot.series.iter().take(SERIES).enumerate() {
        plot_marks::series(chart, series, at);
    }
    plot_marks::notes(chart, plot);
}

/// Both axes, as far as what is drawn reaches.
fn axes(plot: &Plot) -> Axes {
    let (mut xs, mut ys) = plot.reach();
    let twin = plot.twin.as_ref();
    xs.extend(twin.map(|it| it.reach().0).unwrap_or_default());
    let x_range = plot.x.range.or(twin.and_then(|it| it.x.range));
    match &plot.rasters[..] {
        // A picture fills the axes.
        [first, rest @ ..] if plot.series.is_empty() || plot.square => {
            let ends = |it: &Raster| [it.left, it.right, it.bottom, it.top];
            let all = rest.iter().map(ends).fold(ends(first), |all, it| {
                let wider = |at: usize, least: bool| {
                    if least { all[at].min(it[at]) } else { all[at].max(it[at]) }
                };
                let (x_grows, y_grows) = (all[0] < all[1], all[2] < all[3]);
                [wider(0, x_grows), wider(1, !x_grows), wider(2, y_grows), wider(3, !y_grows)]
            });
            let around = |low: f64, high: f64| Some((low.min(high), low.max(high)));
            let x = x_range.or(around(all[0], all[1]));
            let y = plot.y.range.or(around(all[2], all[3]));
            Axes {
                x: Axis::new([].into_iter(), x, &plot.x),
                y: Axis::new([].into_iter(), y, &plot.y),
            }
        }
        rasters => {
            for it in rasters {
                xs.extend([it.left, it.right]);
                ys.extend([it.bottom, it.top]);
            }
            Axes {
                x: Axis::new(xs.into_iter(), x_range, &plot.x),
                y: Axis::new(ys.into_iter(), plot.y.range, &plot.y),
            }
        }
    }
}

/// The vertical axis of what is drawn over others.
fn twin_axis(twin: &Plot) -> Axis {
    Axis::new(twin.reach().1.into_iter(), twin.y.range, &twin.y)
}

/// The pictures, the last ones over those before.
fn pictures(chart: &mut Chart<'_>, plot: &Plot) {
    for raster in &plot.rasters[plot.rasters.len().saturating_sub(PICTURES)..] {
        let corner = |x: f64, y: f64| {
            let (x, y) = (chart.axes.x.place(x)?, chart.axes.y.place(y)?);
            Some(chart.point((x, y))).filter(|it| it.0.is_finite() && it.1.is_finite())
        };
        let corners = (corner(raster.left, raster.top), corner(raster.right, raster.bottom));
        if let (Some(from), Some(to)) = corners {
            let (image, within) = (raster.image.clone(), chart.area);
            chart.sheet.add(Shape::Picture(Picture { image, corners: [from, to], within }));
        }
    }
}

#[cfg(test)]
mod tests {
    use magics::artifact::{
        Band, ColorBar, Dash, Image, Look, Note, Scale, Series, SeriesStyle, Spot, Tick,
    };

    use super::*;

    const STYLES: [SeriesStyle; 6] = [
        SeriesStyle::Line,
        SeriesStyle::Scatter,
        SeriesStyle::Bar,
        SeriesStyle::LyingBar,
        SeriesStyle::Area,
        SeriesStyle::Polygon,
    ];

    #[test]
    fn draws_hostile_numbers() {
        let odd = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, -0.0, 1e16, -1e-320];
        for style in STYLES {
            for (x, y) in odd.iter().flat_map(|x| odd.iter().map(move |y| (*x, *y))) {
                for log in [false, true] {
                    let plot = hostile(style, x, y, log);
                    assert!(html(&Artifact::Plot(plot.clone())).is_some(), "{style:?} {x} {y}");
                    let free = Scale { range: None, ..plot.x.clone() };
                    let plot = Plot { x: free, square: false, ..plot };
                    assert!(html(&Artifact::Plot(plot)).is_some(), "{style:?} {x} {y}");
                }
            }
        }
    }

    fn hostile(style: SeriesStyle, x: f64, y: f64, log: bool) -> Plot {
        let dash = if log { Dash::Dashed } else { Dash::Dotted };
        let look = Look {
            dash,
            radius: Some(x),
            line_width: Some(y),
            opacity: Some(x),
            ..Look::default()
        };
        let series = Series {
            look: look.clone(),
            style,
            xs: vec![x, 0.0],
            ys: vec![y, 1.0, 2.0],
            base: vec![y],
            radii: vec![y],
            bar_width: x,
            ..Series::default()
        };
        let tick = Tick { at: x, name: Some("<tick>".into()) };
        let ticks = Some(vec![tick]);
        let scale = Scale { range: Some((x, y)), log, flipped: log, ticks, grid: log };
        let image = Image { width: 1, height: 1, channels: 1, pixels: vec![9], title: "".into() };
        let bar = scale.clone();
        Plot {
            x: scale.clone(),
            y: Scale { range: None, ..scale },
            series: vec![series],
            bands: vec![Band { look, from: x, to: y, upright: log, part: Some((y, x)) }],
            notes: vec![Note {
                text: "<b>".into(),
                at: (x, y),
                points_to: Some((y, x)),
                ..Note::default()
            }],
            rasters: match log {
                true => vec![Raster { image, left: 0.0, right: 1.0, bottom: 0.0, top: 1.0 }],
                false => Vec::new(),
            },
            square: log,
            color_bar: Some(Box::new(ColorBar { scale: bar, ..ColorBar::default() })),
            ..Plot::default()
        }
    }

    #[test]
    fn axes_have_room_beside_long_names() {
        let name = Some("n".repeat(60));
        let ticks = Some(vec![Tick { at: 1.0, name }]);
        let scale = Scale { range: Some((0.0, 2.0)), ticks, ..Scale::default() };
        let bar = ColorBar { scale: scale.clone(), label: "bar".into(), ..ColorBar::default() };
        let twin = Plot { y: scale.clone(), y_label: "right".into(), ..Plot::default() };
        let plot = Plot {
            title: "title".into(),
            y: scale,
            color_bar: Some(Box::new(bar)),
            twin: Some(Box::new(twin)),
            size: Some((120, 120)),
            ..Plot::default()
        };
        for square in [false, true] {
            let plot = Plot { square, ..plot.clone() };
            let ready = Ready::of(&plot);
            let around = ready.around((40.0, 60.0));
            let sheet = sheet(&plot);
            let (wide, tall) = (sheet.width - around.right, sheet.height - around.bottom);
            assert!(wide - around.left >= LEAST - 1.0 && tall - around.top >= LEAST - 1.0);
        }
    }

    fn picture() -> Plot {
        let image =
            Image { width: 2, height: 1, channels: 1, pixels: vec![0, 255], title: "".into() };
        let raster = Raster { image, left: -0.5, right: 1.5, bottom: 0.5, top: -0.5 };
        let line = Series { xs: vec![0.0, 1.0], ys: vec![0.0, 0.0], ..Series::default() };
        let y = Scale { flipped: true, ..Scale::default() };
        Plot { rasters: vec![raster], series: vec![line], y, square: true, ..Plot::default() }
    }

    #[test]
    fn a_picture_lies_below_what_is_drawn() {
        let plot = picture();
        let axes = axes(&plot);
        assert_eq!((axes.x.low, axes.x.high, axes.y.low, axes.y.high), (-0.5, 1.5, -0.5, 0.5));
        let sheet = sheet(&plot);
        let is_picture = |it: &Shape| matches!(it, Shape::Picture(_));
        let at = sheet.shapes.iter().position(is_picture).unwrap();
        let Shape::Picture(Picture { within, .. }) = &sheet.shapes[at] else { unreachable!() };
        assert!((within.width() - 2.0 * within.height()).abs() < 0.01, "{within:?}");
        let line = [(0.25, 0.5), (0.75, 0.5)]
            .map(|(x, y)| (within.left + x * within.width(), within.top + y * within.height()));
        let is_line = |it: &Shape| matches!(it, Shape::Line { points, .. } if points[..] == line);
        assert!(sheet.shapes[at..].iter().any(is_line), "{:?}", sheet.shapes);
    }

    #[test]
    fn a_line_follows_its_values_closer_than_a_pixel() {
        let xs: Vec<f64> = (0..500).map(f64::from).collect();
        let ys: Vec<f64> = xs.iter().map(|x| (x / 40.0).sin()).collect();
        let wave = Series { xs, ys, ..Series::default() };
        let document = sheet(&Plot { series: vec![wave], ..Plot::default() }).svg();
        let line = document.lines().max_by_key(|it| it.len()).unwrap();
        let points = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let heights: Vec<f64> =
            points.split(' ').map(|it| it.split(',').nth(1).unwrap().parse().unwrap()).collect();
        // On whole pixels, neighbours near the tops would stand at the same height, then jump.
        let jump = |it: &[f64]| (it[0] - 2.0 * it[1] + it[2]).abs();
        let worst = heights.windows(3).map(jump).fold(0.0, f64::max);
        assert!(heights.len() == 500 && worst < 0.35, "{worst}");
    }

    #[test]
    fn the_legend_stands_where_least_is_drawn() {
        // matplotlib puts it there: plt.plot([0, 1, 2], ys, label='a'); plt.legend()
        for (ys, right, top) in [
            (vec![2.0, 1.0, 0.0], true, true),
            (vec![0.0, 1.0, 2.0], false, true),
            (vec![0.0, 2.0, 0.0], true, true),
            (vec![2.0, 0.0, 2.0], false, false),
        ] {
            let look = Look { name: "a".into(), ..Look::default() };
            let line = Series { look, xs: vec![0.0, 1.0, 2.0], ys, ..Series::default() };
            let plot = Plot { series: vec![line], legend: Some(Spot::Best), ..Plot::default() };
            let sheet = sheet(&plot);
            let Some(Shape::Words(name)) = sheet.shapes.last() else { unreachable!() };
            let (x, y) = name.at;
            assert_eq!((x > sheet.width / 2.0, y < sheet.height / 2.0), (right, top));
        }
    }
}
