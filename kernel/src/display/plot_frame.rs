//! The axes of a plot: lines, ticks and their names, labels.

use magics::artifact::{Plot, Scale, Tick};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{Axes, Chart, Drawn, INK, PALE};
use super::plot_axes::Axis;
use super::plot_side::Root;
use super::plot_text::clean;

/// The most letters of a tick's name.
pub(super) const LETTERS: usize = 24;
/// The width of a letter, about, in pixels.
pub(super) const LETTER: u32 = 8;

/// What labels take on the left and below, in pixels.
pub(super) fn label_room(plot: &Plot) -> (u32, u32) {
    if plot.bare {
        return (0, 0);
    }
    let letters = |tick: &Tick| tick.name.as_ref().map_or(5, |it| it.chars().count().min(LETTERS));
    let longest = plot.y.ticks.iter().flatten().map(letters).max().unwrap_or(0) as u32;
    let left = 48.max(longest * LETTER + 10) + if plot.y_label.is_empty() { 0 } else { 16 };
    (left, if plot.x_label.is_empty() { 28 } else { 46 })
}

/// Draws the axes.
pub(super) fn frame(chart: &mut Chart<'_>, root: &Root<'_>, plot: &Plot, axes: Axes) -> Drawn {
    let x_label = |place: &f64| axes.x.label(*place);
    let y_label = |place: &f64| axes.y.label(*place);
    let mut mesh = chart.configure_mesh();
    mesh.x_labels(if plot.x.ticks.is_none() { 8 } else { 0 });
    mesh.y_labels(if plot.y.ticks.is_none() { 7 } else { 0 });
    mesh.max_light_lines(0);
    mesh.x_label_formatter(&x_label).y_label_formatter(&y_label);
    mesh.axis_style(INK.mix(0.6)).bold_line_style(PALE).light_line_style(TRANSPARENT);
    mesh.label_style(("sans-serif", 14).into_font().color(&INK));
    mesh.axis_desc_style(("sans-serif", 15).into_font().color(&INK));
    mesh.x_desc(clean(&plot.x_label)).y_desc(clean(&plot.y_label));
    if !plot.x.grid {
        mesh.disable_x_mesh();
    }
    if !plot.y.grid {
        mesh.disable_y_mesh();
    }
    mesh.draw()?;
    name_ticks(chart, root, &plot.x, axes, true)?;
    name_ticks(chart, root, &plot.y, axes, false)
}

/// Names at the places of an axis that has some, as many as there is room for.
fn name_ticks(
    chart: &mut Chart<'_>,
    root: &Root<'_>,
    scale: &Scale,
    axes: Axes,
    is_x: bool,
) -> Drawn {
    let Some(ticks) = &scale.ticks else { return Ok(()) };
    let pos =
        if is_x { Pos::new(HPos::Center, VPos::Top) } else { Pos::new(HPos::Right, VPos::Center) };
    let font = ("sans-serif", 14).into_font().color(&INK).pos(pos);
    let (axis, other) = if is_x { (axes.x, axes.y) } else { (axes.y, axes.x) };
    let point = |along: f64, across: f64| if is_x { (along, across) } else { (across, along) };
    let start = other.ends().start;
    let mut taken: Vec<(i32, i32)> = Vec::new();
    for (tick, place) in places(ticks, axis) {
        if scale.grid {
            let across = vec![point(place, other.low), point(place, other.high)];
            chart.draw_series(LineSeries::new(across, PALE))?;
        }
        let name = tick.name.as_ref().map_or_else(|| axis.label(place), |it| clean(it));
        let name: String = name.chars().take(LETTERS).collect();
        let (x, y) = chart.backend_coord(&point(place, start));
        let half = if is_x { name.chars().count() as i32 * LETTER as i32 / 2 } else { 7 };
        let middle = if is_x { x } else { y };
        let mine = (middle - half, middle + half);
        if taken.iter().any(|it| mine.0 < it.1 && it.0 < mine.1) {
            continue;
        }
        taken.push(mine);
        let (beside, at) = if is_x { ((x, y + 5), (x, y + 9)) } else { ((x - 5, y), (x - 9, y)) };
        root.draw(&PathElement::new([(x, y), beside], INK.mix(0.6)))?;
        root.draw(&Text::new(name, at, font.clone()))?;
    }
    Ok(())
}

/// The ticks that lie on the axis, with their places; at most a few hundred.
fn places(ticks: &[Tick], axis: Axis) -> impl Iterator<Item = (&Tick, f64)> {
    let placed = ticks.iter().filter_map(move |it| Some((it, axis.place(it.at)?)));
    placed.filter(move |(_, place)| axis.holds(*place)).take(400)
}
