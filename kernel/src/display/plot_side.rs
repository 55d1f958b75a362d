//! What stands to the right of the axes of a plot: the axis of their twin, and the scale of colours.

use magics::artifact::{ColorBar, Image, Plot, Scale, Side as Part};

use super::plot_axes::Axis;
use super::plot_frame::{EDGE, LABEL, NAME, TICK, most, names, widest, write};
use super::plot_text::clean;
use super::sheet::Area;
use super::sheet::{Picture, Shape, Sheet};

/// Between the axes and the bar.
const GAP: f64 = 14.0;
/// The width of the bar.
const WIDTH: f64 = 14.0;

/// What stands on the right of axes.
pub(super) struct Side<'a> {
    /// The axis of the twin.
    twin: Option<Upright<'a>>,
    /// The bar and its axis.
    bar: Option<(&'a ColorBar, Upright<'a>)>,
}

/// An upright axis with what is told beside it.
struct Upright<'a> {
    axis: Axis,
    scale: &'a Scale,
    label: &'a str,
}

impl<'a> Side<'a> {
    /// What stands beside a plot, whose twin has this vertical axis.
    pub(super) fn of(plot: &'a Plot, twin: Option<Axis>) -> Self {
        let over = plot.twin.as_ref().filter(|_| !plot.bare).zip(twin);
        let twin = over.map(|(it, axis)| Upright { axis, scale: &it.y, label: &it.y_label });
        let bar = plot.color_bar.as_deref().map(|it| {
            let axis = Axis::new([].into_iter(), it.scale.range, &it.scale);
            (it, Upright { axis, scale: &it.scale, label: &it.label })
        });
        Self { twin, bar }
    }

    /// What all of it takes beside axes of a height.
    pub(super) fn room(&self, height: f64) -> f64 {
        let bar = self.bar.as_ref().map_or(0.0, |(_, axis)| GAP + WIDTH + axis.room(height));
        self.twin_room(height) + bar
    }

    fn twin_room(&self, height: f64) -> f64 {
        self.twin.as_ref().map_or(0.0, |it| it.room(height))
    }

    /// Draws the axis of the twin, and the bar with its axis.
    pub(super) fn draw(&self, sheet: &mut Sheet, area: Area) {
        if let Some(axis) = &self.twin {
            sheet.line(vec![(area.right, area.top), (area.right, area.bottom)], EDGE);
            axis.draw(sheet, area);
        }
        let Some((bar, axis)) = &self.bar else { return };
        let left = area.right + self.twin_room(area.height()) + GAP;
        let place = Area { left, right: left + WIDTH, ..area };
        let height = bar.colors.len();
        let pixels = bar.colors.iter().rev().flatten().copied().collect();
        let image = Image { width: 1, height, channels: 3, pixels, title: String::new() };
        let corners = [(place.left, place.top), (place.right, place.bottom)];
        sheet.add(Shape::Picture(Picture { image, corners, within: place }));
        let (left, top, right, bottom) = (place.left, place.top, place.right, place.bottom);
        let edge = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        sheet.line(edge, EDGE);
        axis.draw(sheet, place);
    }
}

impl Upright<'_> {
    /// What names and label take.
    fn room(&self, height: f64) -> f64 {
        let names = widest(&names(self.axis, self.scale, most(height, true)));
        TICK.0 + TICK.1 + names + if self.label.is_empty() { 0.0 } else { LABEL + 8.0 }
    }

    /// Draws names and label to the right of an area.
    fn draw(&self, sheet: &mut Sheet, area: Area) {
        let names = names(self.axis, self.scale, most(area.height(), true));
        let (long, gap) = TICK;
        let wide = widest(&names);
        let mut last = f64::INFINITY;
        for (place, name) in names {
            let y = area.bottom - self.axis.part(place) * area.height();
            if (last - y).abs() < NAME {
                continue;
            }
            last = y;
            sheet.line(vec![(area.right, y), (area.right + long, y)], EDGE);
            let at = (area.right + long + gap, y);
            write(sheet, name, at, NAME, (Part::Start, Part::Middle), false);
        }
        let at = (area.right + long + gap + wide + 6.0, area.middle().1);
        write(sheet, clean(self.label), at, LABEL, (Part::Middle, Part::End), true);
    }
}
