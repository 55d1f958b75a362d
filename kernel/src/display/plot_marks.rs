//! What stands inside the axes of a plot: bands, lines, dots, bars, areas and words.

use magics::artifact::{CYCLE, Dash, Look, Note, Plot, Series, SeriesStyle};
use plotters::chart::SeriesAnno;
use plotters::element::IntoDynElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{Axes, Chart, Drawn, INK, SERIES};
use super::plot_points::{POINTS, dots, runs};
use super::plot_text::clean;

/// The most words that are written into one plot.
const NOTES: usize = 2000;
/// Between a place and the words above or below it, in pixels.
const GAP: i32 = 3;
/// The distance of two lines of text, in pixels.
const LINE: i32 = 16;

fn color(look: &Look, at: usize) -> RGBColor {
    let [red, green, blue] = look.color.unwrap_or(CYCLE[at % CYCLE.len()]);
    RGBColor(red, green, blue)
}

fn opacity(look: &Look, usual: f64) -> f64 {
    look.opacity.filter(|it| it.is_finite()).unwrap_or(usual).clamp(0.0, 1.0)
}

fn stroke(look: &Look, color: RGBColor) -> ShapeStyle {
    let width = look.line_width.unwrap_or(2.0).round().clamp(1.0, 40.0) as u32;
    color.mix(opacity(look, 1.0)).stroke_width(width)
}

/// Draws a line in runs, broken as its look says.
fn strokes(
    chart: &mut Chart<'_>,
    runs: Vec<Vec<(f64, f64)>>,
    look: &Look,
    color: RGBColor,
) -> Drawn {
    let stroke = stroke(look, color);
    for run in runs {
        match look.dash {
            Dash::Solid => chart.draw_series(LineSeries::new(run, stroke))?,
            Dash::Dashed => chart.draw_series(DashedLineSeries::new(run, 7, 5, stroke))?,
            Dash::Dotted => chart.draw_series(DashedLineSeries::new(run, 2, 4, stroke))?,
        };
    }
    Ok(())
}

/// Stripes and lines across the axes.
pub(super) fn bands(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) -> Drawn {
    for band in plot.bands.iter().take(SERIES) {
        let (along, across) = if band.upright { (axes.x, axes.y) } else { (axes.y, axes.x) };
        let (Some(from), Some(to)) = (along.place(band.from), along.place(band.to)) else {
            continue;
        };
        let (from, to) = (from.min(to), from.max(to));
        if to < along.low || from > along.high {
            continue;
        }
        let point =
            |along: f64, across: f64| if band.upright { (along, across) } else { (across, along) };
        let color = color(&band.look, 0);
        let (start, end) = band.part.unwrap_or((0.0, 1.0));
        let edge = |part: f64| across.at(part.clamp(0.0, 1.0));
        let (Some(start), Some(end)) = (edge(start), edge(end)) else { continue };
        if from == to {
            let ends = vec![point(from, start), point(from, end)];
            strokes(chart, vec![ends], &band.look, color)?;
            let stroke = stroke(&band.look, color);
            let none = chart.draw_series(std::iter::empty::<Circle<(f64, f64), i32>>())?;
            name(none, &band.look, move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
            continue;
        }
        let fill = color.mix(opacity(&band.look, 0.5)).filled();
        let corners = [point(along.clamp(from), start), point(along.clamp(to), end)];
        let drawn = chart.draw_series([Rectangle::new(corners, fill)])?;
        name(drawn, &band.look, move |(x, y)| Rectangle::new([(x, y - 4), (x + 16, y + 4)], fill));
    }
    Ok(())
}

/// One series, the one at `at`.
pub(super) fn series(chart: &mut Chart<'_>, series: &Series, at: usize, axes: Axes) -> Drawn {
    let color = color(&series.look, at);
    match series.style {
        SeriesStyle::Line => line(chart, series, axes, color),
        SeriesStyle::Scatter => {
            let drawn = draw_dots(chart, series, axes, color, 0.8)?;
            name(drawn, &series.look, move |(x, y)| Circle::new((x + 8, y), 3, color.filled()));
            Ok(())
        }
        SeriesStyle::Bar | SeriesStyle::LyingBar => bars(chart, series, axes, color),
        SeriesStyle::Area => area(chart, series, axes, color),
        SeriesStyle::Polygon => polygon(chart, series, axes, color),
    }
}

fn line(chart: &mut Chart<'_>, series: &Series, axes: Axes, color: RGBColor) -> Drawn {
    strokes(chart, runs(series, axes.x, axes.y), &series.look, color)?;
    let marked = series.look.markers || series.xs.len() == 1;
    let points = if marked { series.clone() } else { Series::default() };
    let stroke = stroke(&series.look, color);
    let drawn = draw_dots(chart, &points, axes, color, 1.0)?;
    name(drawn, &series.look, move |(x, y)| PathElement::new([(x, y), (x + 16, y)], stroke));
    Ok(())
}

/// A dot at each point, in its own colour and size where it has them.
fn draw_dots<'a, 'b>(
    chart: &'b mut Chart<'a>,
    series: &Series,
    axes: Axes,
    color: RGBColor,
    usual: f64,
) -> Drawn<&'b mut SeriesAnno<'a, SVGBackend<'a>>> {
    let opacity = opacity(&series.look, usual);
    let pixels = |radius: f64| radius.round().clamp(1.0, 60.0) as i32;
    let radius = series.look.radius.unwrap_or(3.0);
    let circles = dots(series, axes.x, axes.y).into_iter().filter_map(|(at, place)| {
        let color = series.colors.get(at).map_or(color, |&[r, g, b]| RGBColor(r, g, b));
        let radius = *series.radii.get(at).unwrap_or(&radius);
        let fill = color.mix(opacity).filled();
        let style =
            if series.look.hollow { stroke(&series.look, color).stroke_width(1) } else { fill };
        (radius > 0.0).then(|| Circle::new(place, pixels(radius), style))
    });
    chart.draw_series(circles)
}

fn bars(chart: &mut Chart<'_>, series: &Series, axes: Axes, color: RGBColor) -> Drawn {
    let lying = series.style == SeriesStyle::LyingBar;
    let (along, across) = if lying { (axes.y, axes.x) } else { (axes.x, axes.y) };
    let (places, values) = series.along_and_across();
    let opacity = opacity(&series.look, 0.85);
    let half = series.width_of_bars() / 2.0;
    let bars = places.iter().zip(values).enumerate().filter_map(|(at, (place, value))| {
        let (from, to) = (along.place(place - half)?, along.place(place + half)?);
        let base = series.base.get(at).copied().unwrap_or(0.0);
        // Zero has no place on a logarithmic axis: bars begin at its end.
        let base = across.clamp(across.place(base).unwrap_or(across.low));
        let end = across.clamp(across.place(*value)?);
        let color = series.colors.get(at).map_or(color, |&[r, g, b]| RGBColor(r, g, b));
        let (one, other) = ((along.clamp(from), base), (along.clamp(to), end));
        let turned =
            |(along, across): (f64, f64)| if lying { (across, along) } else { (along, across) };
        let outside = to < along.low || from > along.high;
        let fill = color.mix(opacity).filled();
        (!outside).then(|| Rectangle::new([turned(one), turned(other)], fill))
    });
    let drawn = chart.draw_series(bars.take(POINTS))?;
    let fill = color.mix(opacity).filled();
    name(drawn, &series.look, move |(x, y)| Rectangle::new([(x, y - 4), (x + 16, y + 4)], fill));
    Ok(())
}

/// The area between points and base, in pieces where points are missing.
fn area(chart: &mut Chart<'_>, series: &Series, axes: Axes, color: RGBColor) -> Drawn {
    let fill = color.mix(opacity(&series.look, 1.0)).filled();
    let mut pieces: Vec<Vec<[(f64, f64); 2]>> = vec![Vec::new()];
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
    let polygons = pieces.into_iter().take(POINTS).map(|piece| {
        let stride = piece.len().div_ceil(POINTS);
        let last = piece.len() - 1;
        let kept = (0..last).step_by(stride).chain([last]).map(|at| piece[at]);
        let (upper, lower): (Vec<_>, Vec<_>) = kept.map(|[upper, lower]| (upper, lower)).unzip();
        Polygon::new(upper.into_iter().chain(lower.into_iter().rev()).collect::<Vec<_>>(), fill)
    });
    let drawn = chart.draw_series(polygons)?;
    name(drawn, &series.look, move |(x, y)| Rectangle::new([(x, y - 4), (x + 16, y + 4)], fill));
    Ok(())
}

/// The area within the points, or its edge alone.
fn polygon(chart: &mut Chart<'_>, series: &Series, axes: Axes, color: RGBColor) -> Drawn {
    let place = |(x, y): (&f64, &f64)| {
        Some((axes.x.clamp(axes.x.place(*x)?), axes.y.clamp(axes.y.place(*y)?)))
    };
    let mut corners: Vec<_> = series.xs.iter().zip(&series.ys).filter_map(place).collect();
    let stride = corners.len().div_ceil(POINTS).max(1);
    corners = corners.into_iter().step_by(stride).collect();
    let fill = color.mix(opacity(&series.look, 1.0)).filled();
    let edge = stroke(&series.look, color);
    let shape = match series.look.hollow {
        true => {
            corners.extend(corners.first().copied());
            PathElement::new(corners, edge).into_dyn()
        }
        false => Polygon::new(corners, fill).into_dyn(),
    };
    let drawn = chart.draw_series([shape])?;
    name(drawn, &series.look, move |(x, y)| Rectangle::new([(x, y - 4), (x + 16, y + 4)], fill));
    Ok(())
}

/// Puts a series in the legend if it has a name.
fn name<'a, E>(
    drawn: &mut SeriesAnno<'a, SVGBackend<'a>>,
    look: &Look,
    key: impl Fn((i32, i32)) -> E + 'a,
) where
    E: IntoDynElement<'a, SVGBackend<'a>, (i32, i32)>,
{
    if !look.name.is_empty() && !look.unlisted {
        drawn.label(clean(&look.name)).legend(key);
    }
}

/// Words, and the lines that lead from them.
pub(super) fn notes(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) -> Drawn {
    for note in plot.notes.iter().take(NOTES) {
        let place = |(x, y): (f64, f64)| match note.in_axes {
            true => Some((axes.x.at(x)?, axes.y.at(y)?)),
            false => Some((axes.x.place(x)?, axes.y.place(y)?)),
        };
        let inside = |(x, y): &(f64, f64)| axes.x.holds(*x) && axes.y.holds(*y);
        let Some(at) = place(note.at).filter(inside) else { continue };
        if let Some(to) = note.points_to.and_then(place).filter(inside) {
            chart.draw_series(LineSeries::new(vec![at, to], INK.mix(0.7).stroke_width(1)))?;
        }
        write(chart, note, at)?;
    }
    Ok(())
}

fn write(chart: &Chart<'_>, note: &Note, at: (f64, f64)) -> Drawn {
    let [red, green, blue] = note.color.unwrap_or([INK.0, INK.1, INK.2]);
    let across = [HPos::Left, HPos::Center, HPos::Right][note.across as usize];
    let up = [VPos::Bottom, VPos::Center, VPos::Top][note.up as usize];
    let font = ("sans-serif", 14).into_font().color(&RGBColor(red, green, blue));
    let font = font.pos(Pos::new(across, up));
    let root = chart.plotting_area().strip_coord_spec();
    let (left, top) = root.get_base_pixel();
    let (x, y) = chart.backend_coord(&at);
    let lines: Vec<&str> = note.text.lines().take(20).collect();
    // The part of several lines that stands at the place; at an end, a little beyond it.
    let more = (lines.len() as i32 - 1) * LINE;
    let (above, gap) = [(more, GAP), (more / 2, 0), (0, -GAP)][note.up as usize];
    for (at, line) in lines.iter().enumerate() {
        let text: String = clean(line).chars().take(200).collect();
        let place = (x - left, y - top - above - gap + at as i32 * LINE);
        root.draw(&Text::new(text, place, font.clone()))?;
    }
    Ok(())
}
