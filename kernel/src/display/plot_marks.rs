//! What stands inside the axes of a plot: bands, lines, dots, bars, areas and words.

use magics::artifact::{Band, CYCLE, Look, Note, Plot, Rgb, Series, SeriesStyle, Side};

use super::plot::{Axes, Chart, INK, SERIES};
use super::plot_points::{POINTS, dots, runs};
use super::plot_text::clean;
use super::sheet::{Area, Paint, Point, Shape, Stroke, Words};

/// The most words that are written into one plot.
const NOTES: usize = 2000;
/// The size of words in pixels.
const SIZE: f64 = 11.5;
/// Between a place and the words above or below it, in pixels.
const GAP: f64 = 3.0;
/// The distance of two lines of text, in pixels.
const LINE: f64 = 15.0;

/// The colour of a look, for the series at `at`.
pub(super) fn color(look: &Look, at: usize) -> Rgb {
    look.color.unwrap_or(CYCLE[at % CYCLE.len()])
}

fn paint(look: &Look, color: Rgb, usual: f64) -> Paint {
    let opacity = look.opacity.filter(|it| it.is_finite()).unwrap_or(usual).clamp(0.0, 1.0);
    Paint { color, opacity }
}

/// How the lines of a look are drawn.
pub(super) fn stroke(look: &Look, color: Rgb) -> Stroke {
    let width = look.line_width.filter(|it| it.is_finite()).unwrap_or(2.0).clamp(0.25, 40.0);
    Stroke { paint: paint(look, color, 1.0), width, dash: look.dash }
}

/// What a stripe is filled with.
pub(super) fn band_paint(band: &Band) -> Paint {
    paint(&band.look, color(&band.look, 0), 0.5)
}

/// What dots, bars and areas are filled with.
pub(super) fn series_paint(series: &Series, at: usize) -> Paint {
    let usual = match series.style {
        SeriesStyle::Line | SeriesStyle::Area | SeriesStyle::Polygon => 1.0,
        SeriesStyle::Scatter => 0.8,
        SeriesStyle::Bar | SeriesStyle::LyingBar => 0.85,
    };
    paint(&series.look, color(&series.look, at), usual)
}

/// Stripes and lines across the axes.
pub(super) fn bands(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) {
    for band in plot.bands.iter().take(SERIES) {
        let (along, across) = if band.upright { (axes.x, axes.y) } else { (axes.y, axes.x) };
        let (Some(from), Some(to)) = (along.place(band.from), along.place(band.to)) else {
            continue;
        };
        let (from, to) = (from.min(to), from.max(to));
        if to < along.low || from > along.high {
            continue;
        }
        let (start, end) = band.part.unwrap_or((0.0, 1.0));
        let edge = |part: f64| across.at(part.clamp(0.0, 1.0));
        let (Some(start), Some(end)) = (edge(start), edge(end)) else { continue };
        let point = |along: f64, across: f64| {
            chart.point(if band.upright { (along, across) } else { (across, along) })
        };
        let corners = (point(along.clamp(from), start), point(along.clamp(to), end));
        if from == to {
            let stroke = stroke(&band.look, color(&band.look, 0));
            chart.sheet.line(vec![corners.0, corners.1], stroke);
        } else {
            let area = Area::around(corners.0, corners.1);
            chart.sheet.add(Shape::Block { area, fill: band_paint(band) });
        }
    }
}

/// One series, the one at `at`.
pub(super) fn series(chart: &mut Chart<'_>, series: &Series, at: usize) {
    match series.style {
        SeriesStyle::Line => line(chart, series, at),
        SeriesStyle::Scatter => draw_dots(chart, series, series_paint(series, at)),
        SeriesStyle::Bar | SeriesStyle::LyingBar => bars(chart, series, at),
        SeriesStyle::Area => area(chart, series, at),
        SeriesStyle::Polygon => polygon(chart, series, at),
    }
}

fn line(chart: &mut Chart<'_>, series: &Series, at: usize) {
    let stroke = stroke(&series.look, color(&series.look, at));
    for run in runs(series, chart.axes.x, chart.axes.y) {
        let points = run.into_iter().map(|it| chart.point(it)).collect();
        chart.sheet.line(points, stroke);
    }
    if series.look.markers || series.xs.len() == 1 {
        draw_dots(chart, series, stroke.paint);
    }
}

/// A dot at each point, in its own colour and size where it has them.
fn draw_dots(chart: &mut Chart<'_>, series: &Series, fill: Paint) {
    let usual = series.look.radius.unwrap_or(3.0);
    for (at, place) in dots(series, chart.axes.x, chart.axes.y) {
        let color = series.colors.get(at).copied().unwrap_or(fill.color);
        let radius = *series.radii.get(at).unwrap_or(&usual);
        if !(radius > 0.0 && radius.is_finite()) {
            continue;
        }
        let (middle, radius) = (chart.point(place), radius.clamp(0.5, 60.0));
        let fill = Paint { color, ..fill };
        chart.sheet.add(match series.look.hollow {
            true => Shape::Ring { middle, radius, stroke: Stroke::thin(fill) },
            false => Shape::Circle { middle, radius, fill },
        });
    }
}

fn bars(chart: &mut Chart<'_>, series: &Series, at: usize) {
    let lying = series.style == SeriesStyle::LyingBar;
    let axes = chart.axes;
    let (along, across) = if lying { (axes.y, axes.x) } else { (axes.x, axes.y) };
    let (places, values) = series.along_and_across();
    let usual = series_paint(series, at);
    let half = series.width_of_bars() / 2.0;
    let bars = places.iter().zip(values).enumerate().filter_map(|(at, (place, value))| {
        let (from, to) = (along.place(place - half)?, along.place(place + half)?);
        let base = series.base.get(at).copied().unwrap_or(0.0);
        // Zero has no place on a logarithmic axis: bars begin at its end.
        let base = across.clamp(across.place(base).unwrap_or(across.low));
        let end = across.clamp(across.place(*value)?);
        let (one, other) = ((along.clamp(from), base), (along.clamp(to), end));
        let outside = to < along.low || from > along.high;
        let color = series.colors.get(at).copied().unwrap_or(usual.color);
        (!outside).then_some((one, other, Paint { color, ..usual }))
    });
    let turned = |(along, across): Point| if lying { (across, along) } else { (along, across) };
    for (one, other, fill) in bars.take(POINTS).collect::<Vec<_>>() {
        let area = Area::around(chart.point(turned(one)), chart.point(turned(other)));
        chart.sheet.add(Shape::Block { area, fill });
    }
}

/// The area between points and base, in pieces where points are missing.
fn area(chart: &mut Chart<'_>, series: &Series, at: usize) {
    let (axes, fill) = (chart.axes, series_paint(series, at));
    let mut pieces: Vec<Vec<[Point; 2]>> = vec![Vec::new()];
    for (at, (x, y)) in series.xs.iter().zip(&series.ys).enumerate() {
        let base = series.base.get(at).copied().unwrap_or(0.0);
        let places = (axes.x.place(*x), axes.y.place(*y), axes.y.place(base));
        match (places, pieces.last_mut()) {
            ((Some(x), Some(y), Some(base)), Some(piece)) => {
                let x = axes.x.clamp(x);
                piece.push([(x, axes.y.clamp(y)), (x, axes.y.clamp(base))]);
            }
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|it| it.len() > 1);
    for piece in pieces.into_iter().take(POINTS) {
        let stride = piece.len().div_ceil(POINTS);
        let last = piece.len() - 1;
        let kept = (0..last).step_by(stride).chain([last]).map(|at| piece[at]);
        let (upper, lower): (Vec<_>, Vec<_>) = kept.map(|[upper, lower]| (upper, lower)).unzip();
        let edge = upper.into_iter().chain(lower.into_iter().rev());
        let points = edge.map(|it| chart.point(it)).collect();
        chart.sheet.add(Shape::Fill { points, fill });
    }
}

/// The area within the points, or its edge alone.
fn polygon(chart: &mut Chart<'_>, series: &Series, at: usize) {
    let axes = chart.axes;
    let place = |(x, y): (&f64, &f64)| {
        Some((axes.x.clamp(axes.x.place(*x)?), axes.y.clamp(axes.y.place(*y)?)))
    };
    let corners: Vec<Point> = series.xs.iter().zip(&series.ys).filter_map(place).collect();
    let stride = corners.len().div_ceil(POINTS).max(1);
    let mut points: Vec<Point> =
        corners.into_iter().step_by(stride).map(|it| chart.point(it)).collect();
    if series.look.hollow {
        points.extend(points.first().copied());
        chart.sheet.line(points, stroke(&series.look, color(&series.look, at)));
    } else {
        chart.sheet.add(Shape::Fill { points, fill: series_paint(series, at) });
    }
}

/// Words, and the lines that lead from them.
pub(super) fn notes(chart: &mut Chart<'_>, plot: &Plot) {
    let axes = chart.axes;
    for note in plot.notes.iter().take(NOTES) {
        let place = |(x, y): Point| match note.in_axes {
            true => Some((axes.x.at(x)?, axes.y.at(y)?)),
            false => Some((axes.x.place(x)?, axes.y.place(y)?)),
        };
        let inside = |(x, y): &Point| axes.x.holds(*x) && axes.y.holds(*y);
        let Some(at) = place(note.at).filter(inside) else { continue };
        if let Some(to) = note.points_to.and_then(place).filter(inside) {
            let stroke = Stroke::thin(Paint { color: INK, opacity: 0.7 });
            chart.sheet.line(vec![chart.point(at), chart.point(to)], stroke);
        }
        write(chart, note, chart.point(at));
    }
}

fn write(chart: &mut Chart<'_>, note: &Note, (x, y): Point) {
    let lines: Vec<&str> = note.text.lines().take(20).collect();
    // The part of several lines that stands at the place; at an end, a little beyond it.
    let more = lines.len().saturating_sub(1) as f64 * LINE;
    let (above, gap) = match note.up {
        Side::Start => (more, GAP),
        Side::Middle => (more / 2.0, 0.0),
        Side::End => (0.0, -GAP),
    };
    for (at, line) in lines.iter().enumerate() {
        chart.sheet.add(Shape::Words(Words {
            text: clean(line).chars().take(200).collect(),
            at: (x, y - above - gap + at as f64 * LINE),
            size: SIZE,
            color: note.color.unwrap_or(INK),
            across: note.across,
            up: note.up,
            turned: false,
        }));
    }
}
