//! What stands to the right of the axes of a plot: the axis of their twin, and the scale of colours.

use magics::artifact::{ColorBar, Image, Plot, Raster, Scale, Tick};
use plotters::coord::Shift;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::plot::{Axes, Drawn, INK};
use super::plot_axes::Axis;
use super::plot_frame::{LETTER, LETTERS};
use super::plot_text::clean;

/// The whole document.
pub(super) type Root<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A part of the document in pixels, from (left, top) to (right, bottom).
pub(super) type Inside = [(i32, i32); 2];

/// Between the axes and the bar.
const GAP: i32 = 14;
/// The width of the bar.
const WIDTH: i32 = 14;
/// Between a line and the numbers beside it.
const TICK: i32 = 5;
/// What words that stand upright take.
const LABEL: i32 = 20;
/// The height of a number.
const LINE: i32 = 14;

/// What stands on the right of axes, with its room.
pub(super) struct Side<'a> {
    /// The axis of the twin.
    twin: Option<Upright<'a>>,
    /// The bar and its axis.
    bar: Option<(&'a ColorBar, Upright<'a>)>,
}

/// An upright axis with what is told beside it.
struct Upright<'a> {
    axis: Axis,
    names: Vec<(f64, String)>,
    label: &'a str,
}

impl<'a> Upright<'a> {
    fn new(axis: Axis, scale: &Scale, label: &'a str) -> Self {
        Self { axis, names: named(axis, scale), label }
    }

    /// What the names take.
    fn names_width(&self) -> i32 {
        let letters = |(_, name): &(f64, String)| name.chars().count().min(LETTERS);
        TICK + 6 + LETTER as i32 * self.names.iter().map(letters).max().unwrap_or(0) as i32
    }

    /// What names and label take.
    fn room(&self) -> i32 {
        self.names_width() + if self.label.is_empty() { 0 } else { LABEL }
    }
}

impl<'a> Side<'a> {
    /// What stands beside a plot, whose twin has this vertical axis.
    pub(super) fn of(plot: &'a Plot, twin: Option<Axis>) -> Self {
        let over = plot.twin.as_ref().filter(|_| !plot.bare).zip(twin);
        let twin = over.map(|(it, axis)| Upright::new(axis, &it.y, &it.y_label));
        let bar = plot.color_bar.as_deref().map(|it| {
            let axis = Axis::new([].into_iter(), it.scale.range, &it.scale);
            (it, Upright::new(axis, &it.scale, &it.label))
        });
        Self { twin, bar }
    }

    /// What all of it takes, in pixels.
    pub(super) fn room(&self) -> u32 {
        let bar = self.bar.as_ref().map_or(0, |(_, axis)| GAP + WIDTH + axis.room());
        (self.twin_room() + bar) as u32
    }

    fn twin_room(&self) -> i32 {
        self.twin.as_ref().map_or(0, Upright::room)
    }

    /// Where the bar stands beside axes that lie here.
    fn bar_place(&self, inside: Inside) -> Inside {
        let [(_, top), (right, bottom)] = inside;
        let left = right + self.twin_room() + GAP;
        [(left, top), (left + WIDTH, bottom)]
    }

    /// The colours of the bar as a picture, with the axes it is drawn on and its place.
    pub(super) fn colors(&self, inside: Inside) -> Option<(Raster, Axes, Inside)> {
        let (bar, _) = self.bar.as_ref()?;
        let height = bar.colors.len();
        let pixels = bar.colors.iter().rev().flatten().copied().collect();
        let image = Image { width: 1, height, channels: 3, pixels, title: String::new() };
        let raster = Raster { image, left: 0.0, right: 1.0, bottom: 0.0, top: 1.0 };
        let unit = || Axis::new([].into_iter(), Some((0.0, 1.0)), &Scale::default());
        Some((raster, Axes { x: unit(), y: unit() }, self.bar_place(inside)))
    }

    /// Draws the axis of the twin, and the edges of the bar with its axis.
    pub(super) fn frame(&self, root: &Root<'_>, inside: Inside) -> Drawn {
        let [(_, top), (right, bottom)] = inside;
        if let Some(axis) = &self.twin {
            root.draw(&PathElement::new([(right, top), (right, bottom)], INK.mix(0.6)))?;
            axis.draw(root, (right, top, bottom))?;
        }
        if let Some((_, axis)) = &self.bar {
            let place = self.bar_place(inside);
            root.draw(&Rectangle::new(place, INK.mix(0.6).stroke_width(1)))?;
            axis.draw(root, (place[1].0, top, bottom))?;
        }
        Ok(())
    }
}

impl Upright<'_> {
    /// Draws names and label beside a line at x from its top to its bottom.
    fn draw(&self, root: &Root<'_>, (x, top, bottom): (i32, i32, i32)) -> Drawn {
        let font = ("sans-serif", 14).into_font().color(&INK);
        let font = font.pos(Pos::new(HPos::Left, VPos::Center));
        let mut last = i32::MAX;
        for (place, name) in &self.names {
            let y = bottom - (self.axis.part(*place) * f64::from(bottom - top)).round() as i32;
            if last.abs_diff(y) < LINE as u32 {
                continue;
            }
            last = y;
            root.draw(&PathElement::new([(x, y), (x + TICK - 1, y)], INK.mix(0.6)))?;
            let name: String = name.chars().take(LETTERS).collect();
            root.draw(&Text::new(name, (x + TICK + 3, y), font.clone()))?;
        }
        if self.label.is_empty() {
            return Ok(());
        }
        let font = ("sans-serif", 15).into_font().transform(FontTransform::Rotate270).color(&INK);
        let font = font.pos(Pos::new(HPos::Center, VPos::Top));
        let left = x + self.names_width();
        root.draw(&Text::new(clean(self.label), (left, (top + bottom) / 2), font))
    }
}

/// The places of an axis that are named: those asked for, or a handful of round ones.
fn named(axis: Axis, scale: &Scale) -> Vec<(f64, String)> {
    let Some(ticks) = &scale.ticks else {
        let places = RangedCoordf64::from(axis.low..axis.high).key_points(7);
        return places.into_iter().map(|it| (it, axis.label(it))).collect();
    };
    let name = |tick: &Tick| {
        let place = axis.place(tick.at).filter(|it| axis.holds(*it))?;
        Some((place, tick.name.as_ref().map_or_else(|| axis.label(place), |it| clean(it))))
    };
    ticks.iter().take(400).filter_map(name).collect()
}
