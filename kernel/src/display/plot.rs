//! `plot`: what is drawn on one set of axes, put together as an SVG document by `plotters`.
//!
//! Drawn on a white panel, so that all colours can be read on light and dark pages. `plot_frame` draws axes and names,
//! `plot_marks` what stands inside them, `plot_side` what stands beside them.

use magics::Artifact;
use magics::artifact::{Corner, Look, Plot, Raster};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use super::html::Html;
use super::plot_axes::Axis;
use super::plot_side::{Inside, Side};
use super::plot_text::{clean, describe};
use super::{Renderer, data_uri, image, plot_frame, plot_marks, plot_samples, png};

pub(crate) static RENDERER: Renderer = Renderer {
    name: "plot",
    wants: |art| matches!(art, Artifact::Plot(_)),
    plain,
    rich: &[("text/html", html)],
    samples: plot_samples::samples,
};

pub(super) const INK: RGBColor = RGBColor(55, 61, 70);
pub(super) const PALE: RGBColor = RGBColor(222, 226, 232);

pub(super) type Chart<'a> =
    ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

/// Both axes of a plot.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    pub(super) x: Axis,
    pub(super) y: Axis,
}

fn html(art: &Artifact) -> Option<String> {
    let Artifact::Plot(plot) = art else { return None };
    let mut html = Html::default();
    draw(&mut html, plot, 1)?;
    Some(html.finish())
}

fn plain(art: &Artifact) -> String {
    let Artifact::Plot(plot) = art else { return String::new() };
    describe(plot)
}

/// The plot as an image, one of so many side by side: where there is less room, it is shown smaller.
pub(crate) fn draw(html: &mut Html, plot: &Plot, columns: usize) -> Option<()> {
    let document = document(plot)?;
    let mut style = "border-radius:6px;vertical-align:top".to_owned();
    if columns > 1 {
        style += &format!(";max-width:{:.1}%;height:auto", 99.0 / columns as f64);
    }
    let src = data_uri::svg(&document.text);
    let tag = html.tag("img").attr("src", src).attr("alt", describe(plot));
    tag.attr("width", document.width).attr("height", document.height).attr("style", style).empty();
    Some(())
}

/// An SVG document and its size in pixels.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// The plot as a document; `None` if it cannot be drawn.
pub(super) fn document(plot: &Plot) -> Option<Document> {
    let axes = axes(plot);
    let twin = plot.twin.as_ref().map(|it| twin_axis(it));
    let side = Side::of(plot, twin);
    let (room, axes) = Room::of(plot, axes, side.room());
    let twin = twin.map(|y| Axes { x: axes.x, y });
    let mut text = String::new();
    let inside = draw_on(&mut text, plot, (axes, twin), &side, &room).ok()?;
    put_pictures(&mut text, plot, axes, &side, inside);
    Some(Document { text, width: room.width, height: room.height })
}

/// How large the document is, and what the labels take of it; all in pixels.
struct Room {
    width: u32,
    height: u32,
    left: u32,
    bottom: u32,
    /// With the margin.
    right: u32,
}

/// The most pictures that are drawn.
const PICTURES: usize = 20;
/// The most series, and the most bands, that are drawn.
pub(super) const SERIES: usize = 2000;
/// Around the axes on all sides.
const MARGIN: u32 = 10;
/// More on the right, for half of the last label.
const RIGHT: u32 = 18;
/// The least width and height of the axes.
const LEAST: u32 = 60;
/// What a title takes.
const TITLE: u32 = 30;

impl Room {
    /// The room for a plot, and its axes as they fit into it.
    fn of(plot: &Plot, mut axes: Axes, beside: u32) -> (Self, Axes) {
        let (left, bottom) = plot_frame::label_room(plot);
        let right = RIGHT + beside;
        let title = if plot.title.is_empty() { 0 } else { TITLE };
        let (beside, above) = (left + MARGIN + right, bottom + 2 * MARGIN + title);
        let (width, height) = plot.size.unwrap_or((560, 340));
        // However long the names are, the axes have some room.
        let width = width.clamp(160, 2000).max(beside + LEAST);
        let height = height.clamp(120, 2000).max(above + LEAST);
        let mut room = Self { width, height, left, bottom, right };
        if plot.square {
            let (wide, tall) = (f64::from(width - beside), f64::from(height - above));
            let scale = (wide / axes.x.length()).min(tall / axes.y.length());
            if !plot.rasters.is_empty() {
                // A picture makes the document smaller, anything else its axes longer.
                let side = |length: f64| (length * scale).round().clamp(40.0, 2000.0) as u32;
                room.width = side(axes.x.length()) + beside;
                room.height = side(axes.y.length()) + above;
            } else {
                axes = Axes { x: axes.x.widened(wide / scale), y: axes.y.widened(tall / scale) };
            }
        }
        (room, axes)
    }
}

/// Writes the document; its value is where the axes lie in it: from (left, top) to (right, bottom).
fn draw_on(
    document: &mut String,
    plot: &Plot,
    (axes, twin): (Axes, Option<Axes>),
    side: &Side<'_>,
    room: &Room,
) -> Drawn<Inside> {
    let root = SVGBackend::with_string(document, (room.width, room.height)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut builder = ChartBuilder::on(&root);
    builder.margin(MARGIN).margin_right(room.right);
    builder.x_label_area_size(room.bottom).y_label_area_size(room.left);
    let title = clean(&plot.title);
    if !title.is_empty() {
        builder.caption(title, ("sans-serif", 20).into_font().color(&INK));
    }
    let mut chart = builder.build_cartesian_2d(axes.x.ends(), axes.y.ends())?;
    let (columns, rows) = chart.plotting_area().get_pixel_range();
    if !plot.bare {
        plot_frame::frame(&mut chart, &root, plot, axes)?;
    }
    contents(&mut chart, plot, axes)?;
    if let (Some(over), Some(axes)) = (&plot.twin, twin) {
        let area = chart.plotting_area().strip_coord_spec();
        let mut chart = ChartBuilder::on(&area).build_cartesian_2d(axes.x.ends(), axes.y.ends())?;
        contents(&mut chart, over, axes)?;
        legend(&mut chart, over)?;
    }
    legend(&mut chart, plot)?;
    drop(chart);
    let inside = [(columns.start, rows.start), (columns.end, rows.end)];
    side.frame(&root, inside)?;
    root.present()?;
    Ok(inside)
}

/// What stands inside the axes, but for the legend.
fn contents(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) -> Drawn {
    plot_marks::bands(chart, plot, axes)?;
    for (at, series) in plot.series.iter().take(SERIES).enumerate() {
        plot_marks::series(chart, series, at, axes)?;
    }
    plot_marks::notes(chart, plot, axes)
}

/// The names of series and bands.
fn legend(chart: &mut Chart<'_>, plot: &Plot) -> Drawn {
    let named = |it: &Look| !it.name.is_empty() && !it.unlisted;
    let any_named =
        plot.series.iter().any(|it| named(&it.look)) || plot.bands.iter().any(|it| named(&it.look));
    if let Some(corner) = plot.legend.filter(|_| any_named) {
        let mut labels = chart.configure_series_labels();
        labels.position(position(corner)).margin(8).legend_area_size(22);
        labels.background_style(WHITE.mix(0.85)).border_style(PALE);
        labels.label_font(("sans-serif", 15).into_font().color(&INK)).draw()?;
    }
    Ok(())
}

fn position(corner: Corner) -> SeriesLabelPosition {
    match corner {
        Corner::UpperLeft => SeriesLabelPosition::UpperLeft,
        Corner::UpperRight => SeriesLabelPosition::UpperRight,
        Corner::LowerLeft => SeriesLabelPosition::LowerLeft,
        Corner::LowerRight => SeriesLabelPosition::LowerRight,
    }
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

/// Puts the pictures that have a place below everything but the white ground.
fn put_pictures(document: &mut String, plot: &Plot, axes: Axes, side: &Side<'_>, inside: Inside) {
    // The ground is the first shape.
    let ground = document.find("<rect");
    let end = ground.and_then(|from| Some(from + document[from..].find("/>")? + 2));
    // The last ones cover those before.
    let drawn = &plot.rasters[plot.rasters.len().saturating_sub(PICTURES)..];
    let mut pictures: String = drawn.iter().filter_map(|it| picture(it, axes, inside)).collect();
    if let Some((raster, axes, inside)) = side.colors(inside) {
        pictures.extend(picture(&raster, axes, inside));
    }
    if let Some(end) = end {
        document.insert_str(end, &pictures);
    }
}

/// The picture as markup; what lies outside the axes is cut off.
fn picture(raster: &Raster, axes: Axes, inside: Inside) -> Option<String> {
    let [(left, top), (right, bottom)] = inside;
    let (width, height) = (f64::from(right - left), f64::from(bottom - top));
    let across = |value: f64| Some(axes.x.part(axes.x.place(value)?) * width);
    let down = |value: f64| Some((1.0 - axes.y.part(axes.y.place(value)?)) * height);
    let (from_x, to_x) = (across(raster.left)?, across(raster.right)?);
    let (from_y, to_y) = (down(raster.top)?, down(raster.bottom)?);
    // Turned round where the axes run the other way.
    let turned = |from: f64, to: f64| if to < from { -1 } else { 1 };
    let file = png::write(&image::fit(&raster.image)?)?;
    Some(format!(
        "\n<svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" overflow=\"hidden\">\
         <image transform=\"translate({from_x} {from_y}) scale({} {})\" width=\"{}\" height=\"{}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{}\"/></svg>",
        turned(from_x, to_x),
        turned(from_y, to_y),
        (to_x - from_x).abs(),
        (to_y - from_y).abs(),
        data_uri::png(&file)
    ))
}

#[cfg(test)]
mod tests {
    use magics::artifact::{Band, ColorBar, Dash, Image, Note, Scale, Series, SeriesStyle, Tick};

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
            let side = Side::of(&plot, plot.twin.as_ref().map(|it| twin_axis(it)));
            let (room, axes) = Room::of(&plot, axes(&plot), side.room());
            let mut document = String::new();
            let [(left, top), (right, bottom)] =
                draw_on(&mut document, &plot, (axes, None), &side, &room).unwrap();
            assert!(right - left >= 50 && bottom - top >= 50, "{left} {top} {right} {bottom}");
        }
    }

    #[test]
    fn a_picture_lies_below_what_is_drawn() {
        let image =
            Image { width: 2, height: 1, channels: 1, pixels: vec![0, 255], title: "".into() };
        let raster = Raster { image, left: -0.5, right: 1.5, bottom: 0.5, top: -0.5 };
        let line = Series { xs: vec![0.0, 1.0], ys: vec![0.0, 0.0], ..Series::default() };
        let y = Scale { flipped: true, ..Scale::default() };
        let plot =
            Plot { rasters: vec![raster], series: vec![line], y, square: true, ..Plot::default() };
        let axes = axes(&plot);
        assert_eq!((axes.x.low, axes.x.high, axes.y.low, axes.y.high), (-0.5, 1.5, -0.5, 0.5));
        let side = Side::of(&plot, None);
        let (room, axes) = Room::of(&plot, axes, side.room());
        let mut document = String::new();
        let inside = draw_on(&mut document, &plot, (axes, None), &side, &room).unwrap();
        put_pictures(&mut document, &plot, axes, &side, inside);
        let (image, line) = (document.find("<image"), document.find("<polyline"));
        assert!(image.is_some() && image < line, "{document}");
        let [(left, top), (right, bottom)] = inside;
        assert!(((right - left) - 2 * (bottom - top)).abs() <= 2, "{inside:?}");
    }
}
