//! The axes of a plot: lines, ticks and their names, labels.

use magics::artifact::{Plot, Scale, Side, Tick};

use super::plot::{Axes, Chart, INK, PALE};
use super::plot_axes::Axis;
use super::plot_text::clean;
use super::sheet::{Paint, Shape, Sheet, Stroke, Words, text_width};

/// The size of the names of ticks, of labels, of titles.
pub(super) const NAME: f64 = 11.5;
pub(super) const LABEL: f64 = 12.5;
pub(super) const TITLE: f64 = 16.0;
/// The length of a tick, and what stands between it and its name.
pub(super) const TICK: (f64, f64) = (4.0, 3.0);
/// The most letters of a tick's name.
const LETTERS: usize = 24;

/// Lines around axes.
pub(super) const EDGE: Stroke = Stroke {
    paint: Paint { color: INK, opacity: 0.6 },
    width: 1.0,
    dash: magics::artifact::Dash::Solid,
};

/// The places of an axis that are named: those asked for, or a handful of round ones.
pub(super) fn names(axis: Axis, scale: &Scale, most: usize) -> Vec<(f64, String)> {
    let Some(ticks) = &scale.ticks else {
        return axis.round_places(most).into_iter().map(|it| (it, axis.label(it))).collect();
    };
    let name = |tick: &Tick| {
        let place = axis.place(tick.at).filter(|it| axis.holds(*it))?;
        let name = tick.name.as_ref().map_or_else(|| axis.label(place), |it| clean(it));
        Some((place, name.chars().take(LETTERS).collect()))
    };
    ticks.iter().take(400).filter_map(name).collect()
}

/// The width of the widest name.
pub(super) fn widest(names: &[(f64, String)]) -> f64 {
    names.iter().map(|(_, name)| text_width(name, NAME)).fold(0.0, f64::max)
}

/// About how many names an axis of a length has room for.
pub(super) fn most(length: f64, upright: bool) -> usize {
    let (each, most) = if upright { (28.0, 9) } else { (44.0, 9) };
    ((length / each) as usize).clamp(2, most)
}

/// Draws lines across the axes, which everything else covers.
pub(super) fn grid(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) {
    let area = chart.area;
    if plot.x.grid {
        for (place, _) in names(axes.x, &plot.x, most(area.width(), false)) {
            let x = chart.x(place);
            chart.sheet.line(vec![(x, area.top), (x, area.bottom)], Stroke::thin(PALE.into()));
        }
    }
    if plot.y.grid {
        for (place, _) in names(axes.y, &plot.y, most(area.height(), true)) {
            let y = chart.y(place);
            chart.sheet.line(vec![(area.left, y), (area.right, y)], Stroke::thin(PALE.into()));
        }
    }
}

/// Draws the axes and what is written beside them.
pub(super) fn frame(chart: &mut Chart<'_>, plot: &Plot, axes: Axes) {
    let area = chart.area;
    let corner = vec![(area.left, area.top), (area.left, area.bottom), (area.right, area.bottom)];
    chart.sheet.line(corner, EDGE);
    let (long, gap) = TICK;
    let below = names(axes.x, &plot.x, most(area.width(), false));
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (place, name) in below {
        let x = chart.x(place);
        let half = text_width(&name, NAME) / 2.0 + 2.0;
        chart.sheet.line(vec![(x, area.bottom), (x, area.bottom + long)], EDGE);
        if is_free(&mut taken, (x - half, x + half)) {
            let at = (x, area.bottom + long + gap);
            write(chart.sheet, name, at, NAME, (Side::Middle, Side::End), false);
        }
    }
    let beside = names(axes.y, &plot.y, most(area.height(), true));
    let wide = widest(&beside);
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (place, name) in beside {
        let y = chart.y(place);
        chart.sheet.line(vec![(area.left - long, y), (area.left, y)], EDGE);
        if is_free(&mut taken, (y - NAME / 2.0, y + NAME / 2.0)) {
            let at = (area.left - long - gap, y);
            write(chart.sheet, name, at, NAME, (Side::End, Side::Middle), false);
        }
    }
    let (across, down) = area.middle();
    let under = (across, area.bottom + long + gap + NAME + 4.0);
    write(chart.sheet, clean(&plot.x_label), under, LABEL, (Side::Middle, Side::End), false);
    let left = (area.left - long - gap - wide - 6.0, down);
    write(chart.sheet, clean(&plot.y_label), left, LABEL, (Side::Middle, Side::Start), true);
}

/// Notes a stretch that a name takes, unless another one reaches into it.
fn is_free(taken: &mut Vec<(f64, f64)>, mine: (f64, f64)) -> bool {
    let free = !taken.iter().any(|it| mine.0 < it.1 && it.0 < mine.1);
    taken.extend(free.then_some(mine));
    free
}

/// Writes a line of text; an empty one leaves nothing.
pub(super) fn write(
    sheet: &mut Sheet,
    text: String,
    at: (f64, f64),
    size: f64,
    (across, up): (Side, Side),
    turned: bool,
) {
    if !text.is_empty() {
        sheet.add(Shape::Words(Words { text, at, size, color: INK, across, up, turned }));
    }
}
