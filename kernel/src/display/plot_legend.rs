//! The legend of a plot: a box of names, each beside a key.

use magics::artifact::{Look, Plot, Rgb, SeriesStyle, Side, Spot};

use super::plot::{INK, PALE};
use super::plot_marks::{band_paint, color, series_paint, stroke};
use super::plot_text::clean;
use super::sheet::{Area, Paint, Shape, Sheet, Stroke, Words, text_width};

const SIZE: f64 = 12.0;
const LINE: f64 = 18.0;
/// What a key takes, and what stands between it and its name.
const KEY: (f64, f64) = (20.0, 7.0);
/// Between the box and what is in it.
const PADDING: f64 = 6.0;
/// Between the box and the edges of the axes.
const MARGIN: f64 = 8.0;
/// The most names, and the most letters of one.
const NAMES: usize = 40;
const LETTERS: usize = 60;

/// What stands for a series or a band.
#[derive(Clone, Copy)]
enum Key {
    Block(Paint),
    Dot(Paint),
    Line(Stroke, bool),
}

/// Draws the legend over axes; the shapes from `first` on are what it should not cover.
pub(super) fn draw(sheet: &mut Sheet, plot: &Plot, area: Area, first: usize) {
    let (Some(spot), names) = (plot.legend, names(plot)) else { return };
    if names.is_empty() {
        return;
    }
    let widest = names.iter().map(|(name, _)| text_width(name, SIZE)).fold(0.0, f64::max);
    let width = widest + KEY.0 + KEY.1 + 2.0 * PADDING;
    let size = (width, LINE * names.len() as f64 + 2.0 * PADDING);
    let place = match spot {
        Spot::At(across, up) => place(area, size, (across, up)),
        Spot::Best => emptiest(&sheet.shapes[first..], area, size),
    };
    sheet.add(Shape::Block { area: place, fill: Paint { color: [255; 3], opacity: 0.85 } });
    let (left, top, right, bottom) = (place.left, place.top, place.right, place.bottom);
    let edge = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    sheet.line(edge, Stroke::thin(PALE.into()));
    for (at, (name, key)) in names.into_iter().enumerate() {
        let middle = top + PADDING + LINE * (at as f64 + 0.5);
        draw_key(sheet, key, (left + PADDING, middle));
        sheet.add(Shape::Words(Words {
            text: name,
            at: (left + PADDING + KEY.0 + KEY.1, middle),
            size: SIZE,
            color: INK,
            across: Side::Start,
            up: Side::Middle,
            turned: false,
        }));
    }
}

/// The names with their keys, in the order in which they are drawn.
fn names(plot: &Plot) -> Vec<(String, Key)> {
    let is_named = |look: &Look| !look.name.is_empty() && !look.unlisted;
    let name = |look: &Look| clean(&look.name).chars().take(LETTERS).collect();
    let bands = plot.bands.iter().filter(|it| is_named(&it.look)).map(|band| {
        let key = match band.from == band.to {
            true => Key::Line(stroke(&band.look, color(&band.look, 0)), false),
            false => Key::Block(band_paint(band)),
        };
        (name(&band.look), key)
    });
    let listed = plot.series.iter().enumerate().filter(|(_, it)| is_named(&it.look));
    let series = listed.map(|(at, series)| {
        let own: Rgb = color(&series.look, at);
        let key = match series.style {
            SeriesStyle::Line => Key::Line(stroke(&series.look, own), series.look.markers),
            SeriesStyle::Scatter => Key::Dot(series_paint(series, at)),
            _ => Key::Block(series_paint(series, at)),
        };
        (name(&series.look), key)
    });
    bands.chain(series).take(NAMES).collect()
}

fn draw_key(sheet: &mut Sheet, key: Key, (x, y): (f64, f64)) {
    let middle = (x + KEY.0 / 2.0, y);
    match key {
        Key::Line(stroke, marked) => {
            sheet.line(vec![(x, y), (x + KEY.0, y)], stroke);
            if marked {
                sheet.add(Shape::Circle { middle, radius: 3.0, fill: stroke.paint });
            }
        }
        Key::Dot(fill) => sheet.add(Shape::Circle { middle, radius: 3.5, fill }),
        Key::Block(fill) => {
            let area = Area::around((x, y - 4.5), (x + KEY.0, y + 4.5));
            sheet.add(Shape::Block { area, fill });
        }
    }
}

/// Where a box of a size stands within axes.
fn place(area: Area, (width, height): (f64, f64), (across, up): (Side, Side)) -> Area {
    let part = [0.0, 0.5, 1.0];
    let room = (area.width() - 2.0 * MARGIN - width, area.height() - 2.0 * MARGIN - height);
    let left = area.left + MARGIN + room.0.max(0.0) * part[across as usize];
    let top = area.top + MARGIN + room.1.max(0.0) * (1.0 - part[up as usize]);
    Area { left, top, right: left + width, bottom: top + height }
}

/// The places in the order in which matplotlib tries them.
const PLACES: [(Side, Side); 9] = [
    (Side::End, Side::End),
    (Side::Start, Side::End),
    (Side::Start, Side::Start),
    (Side::End, Side::Start),
    (Side::Start, Side::Middle),
    (Side::End, Side::Middle),
    (Side::Middle, Side::Start),
    (Side::Middle, Side::End),
    (Side::Middle, Side::Middle),
];

/// The first of the places where the box covers least.
fn emptiest(shapes: &[Shape], area: Area, size: (f64, f64)) -> Area {
    let all = PLACES.map(|it| place(area, size, it));
    let weight = |place: &&Area| shapes.iter().map(|it| it.weight_in(place)).sum::<usize>();
    all.iter().min_by_key(weight).copied().unwrap_or_default()
}
