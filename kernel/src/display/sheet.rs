//! A drawing as a list of shapes, and the SVG document it becomes.
//!
//! Lengths are pixels and have fractions; y grows downwards. Later shapes cover earlier ones.

use magics::artifact::{Dash, Image, Rgb, Side};

use super::html::{Html, num};
use super::{data_uri, image, png};

pub(crate) type Point = (f64, f64);

/// Whoever shows an SVG document has a font by this name.
const FONT: &str = "sans-serif";

/// A colour that may let through what is below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Paint {
    pub(crate) color: Rgb,
    pub(crate) opacity: f64,
}

impl From<Rgb> for Paint {
    fn from(color: Rgb) -> Self {
        Self { color, opacity: 1.0 }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    pub(crate) dash: Dash,
}

impl Stroke {
    /// A thin line.
    pub(crate) fn thin(paint: Paint) -> Self {
        Self { paint, width: 1.0, dash: Dash::Solid }
    }

    /// Lengths of dashes and of the gaps between them, in matplotlib's proportions.
    pub(crate) fn pattern(&self) -> Option<[f64; 2]> {
        match self.dash {
            Dash::Solid => None,
            Dash::Dashed => Some([3.7 * self.width, 1.6 * self.width]),
            Dash::Dotted => Some([self.width, 1.65 * self.width]),
        }
    }
}

/// A part of the sheet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    /// Around two corners.
    pub(crate) fn around(one: Point, other: Point) -> Self {
        Self {
            left: one.0.min(other.0),
            top: one.1.min(other.1),
            right: one.0.max(other.0),
            bottom: one.1.max(other.1),
        }
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn middle(&self) -> Point {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    pub(crate) fn holds(&self, (x, y): Point) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    /// Whether both have points in common.
    pub(crate) fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Words {
    pub(crate) text: String,
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) color: Rgb,
    /// Which part of the text stands at its place, from left to right.
    pub(crate) across: Side,
    /// Which part of the text stands at its place, from bottom to top.
    pub(crate) up: Side,
    /// Whether it runs upwards.
    pub(crate) turned: bool,
}

impl Words {
    /// How far below its place the letters stand.
    pub(crate) fn drop(&self) -> f64 {
        self.size * [-0.22, 0.36, 0.76][self.up as usize]
    }

    /// About the area that it takes.
    fn area(&self) -> Area {
        let wide = text_width(&self.text, self.size);
        let left = self.at.0 - wide * [0.0, 0.5, 1.0][self.across as usize];
        let base = self.at.1 + self.drop();
        Area { left, right: left + wide, top: base - self.size * 0.76, bottom: base }
    }
}

/// A picture over an area, turned round where it runs the other way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Picture {
    pub(crate) image: Image,
    /// Where its upper left corner lies, and its lower right one.
    pub(crate) corners: [Point; 2],
    /// Nothing is seen of it beyond.
    pub(crate) within: Area,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Block { area: Area, fill: Paint },
    Circle { middle: Point, radius: f64, fill: Paint },
    Fill { points: Vec<Point>, fill: Paint },
    Line { points: Vec<Point>, stroke: Stroke },
    Picture(Picture),
    Ring { middle: Point, radius: f64, stroke: Stroke },
    Words(Words),
}

/// A drawing on white.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) shapes: Vec<Shape>,
}

impl Sheet {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        let (width, height) = (width.round(), height.round());
        let area = Area { left: 0.0, top: 0.0, right: width, bottom: height };
        let ground = Shape::Block { area, fill: [255; 3].into() };
        Self { width, height, shapes: vec![ground] }
    }

    pub(crate) fn add(&mut self, shape: Shape) {
        self.shapes.push(shape);
    }

    pub(crate) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        self.add(Shape::Line { points, stroke });
    }

    /// The drawing as an SVG document.
    pub(crate) fn svg(&self) -> String {
        Html::build(|html| {
            let (width, height) = (self.width, self.height);
            let svg = html.tag("svg").num("width", width).num("height", height);
            let svg = svg.attr("viewBox", format!("0 0 {width} {height}"));
            svg.attr("xmlns", "http://www.w3.org/2000/svg").within(|html| {
                html.line();
                for shape in &self.shapes {
                    write(html, shape);
                    html.line();
                }
            });
        })
    }

    /// The drawing as an image in a page.
    pub(crate) fn draw(&self, html: &mut Html, told: &str) {
        let style = "border-radius:6px;vertical-align:top;max-width:100%;height:auto";
        let tag = html.tag("img").attr("src", data_uri::svg(&self.svg())).attr("alt", told);
        tag.num("width", self.width).num("height", self.height).attr("style", style).empty();
    }
}

/// About how wide a text is; letters differ.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let letter = |it: char| match it {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'I' => 0.31,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' => 0.39,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.9,
        'A'..='Z' => 0.69,
        it if it > '\u{2e7f}' => 1.0,
        _ => 0.6,
    };
    text.chars().map(letter).sum::<f64>() * size
}

/// A length with at most one decimal.
fn tenth(value: f64) -> String {
    num((value * 10.0).round() / 10.0)
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn points(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", tenth(*x), tenth(*y))).collect::<Vec<_>>().join(" ")
}

/// What is not fully there says so.
fn partly(paint: Paint) -> Option<String> {
    (paint.opacity < 1.0).then(|| num(paint.opacity))
}

fn write(html: &mut Html, shape: &Shape) {
    match shape {
        Shape::Block { area, fill } => {
            let tag = html.tag("rect").attr("x", tenth(area.left)).attr("y", tenth(area.top));
            let tag = tag.attr("width", tenth(area.width())).attr("height", tenth(area.height()));
            tag.attr("fill", hex(fill.color)).maybe("fill-opacity", partly(*fill)).empty();
        }
        Shape::Circle { middle, radius, fill } => {
            let tag = html.tag("circle").attr("cx", tenth(middle.0)).attr("cy", tenth(middle.1));
            let tag = tag.attr("r", num(*radius)).attr("fill", hex(fill.color));
            tag.maybe("fill-opacity", partly(*fill)).empty();
        }
        Shape::Fill { points: corners, fill } => {
            let tag = html.tag("polygon").attr("points", points(corners));
            tag.attr("fill", hex(fill.color)).maybe("fill-opacity", partly(*fill)).empty();
        }
        Shape::Line { points: places, stroke } => {
            let tag = html.tag("polyline").attr("points", points(places));
            let dashes = stroke.pattern().map(|it| it.map(num).join(" "));
            let tag = tag.attr("fill", "none").attr("stroke", hex(stroke.paint.color));
            let tag = tag.attr("stroke-width", num(stroke.width)).maybe("stroke-dasharray", dashes);
            let tag = tag.maybe("stroke-opacity", partly(stroke.paint));
            let joined = (places.len() > 2).then_some("round");
            tag.maybe("stroke-linejoin", joined).empty();
        }
        Shape::Picture(picture) => write_picture(html, picture),
        Shape::Ring { middle, radius, stroke } => {
            let tag = html.tag("circle").attr("cx", tenth(middle.0)).attr("cy", tenth(middle.1));
            let tag = tag.attr("r", num(*radius)).attr("fill", "none");
            let tag = tag.attr("stroke", hex(stroke.paint.color));
            let tag = tag.attr("stroke-width", num(stroke.width));
            tag.maybe("stroke-opacity", partly(stroke.paint)).empty();
        }
        Shape::Words(words) => write_words(html, words),
    }
}

fn write_words(html: &mut Html, words: &Words) {
    let (x, y) = words.at;
    let anchor = ["start", "middle", "end"][words.across as usize];
    let tag = html.tag("text");
    let tag = match words.turned {
        true => {
            let place = format!("translate({} {}) rotate(-90)", tenth(x), tenth(y));
            tag.attr("y", tenth(words.drop())).attr("transform", place)
        }
        false => tag.attr("x", tenth(x)).attr("y", tenth(y + words.drop())),
    };
    let tag = tag.attr("text-anchor", anchor).attr("font-family", FONT);
    tag.attr("font-size", num(words.size)).attr("fill", hex(words.color)).text(&words.text);
}

fn write_picture(html: &mut Html, picture: &Picture) {
    let Some(file) = image::fit(&picture.image).and_then(|it| png::write(&it)) else { return };
    let within = picture.within;
    let svg = html.tag("svg").attr("x", tenth(within.left)).attr("y", tenth(within.top));
    let svg = svg.attr("width", tenth(within.width())).attr("height", tenth(within.height()));
    svg.attr("overflow", "hidden").within(|html| {
        let [from, to] = picture.corners.map(|it| (it.0 - within.left, it.1 - within.top));
        let turned = |from: f64, to: f64| if to < from { -1 } else { 1 };
        let (across, down) = (turned(from.0, to.0), turned(from.1, to.1));
        let place = format!("translate({} {}) scale({across} {down})", num(from.0), num(from.1));
        let tag = html.tag("image").attr("transform", place);
        let tag = tag.num("width", (to.0 - from.0).abs()).num("height", (to.1 - from.1).abs());
        let tag = tag.attr("preserveAspectRatio", "none");
        tag.attr("style", "image-rendering:pixelated").attr("href", data_uri::png(&file)).empty();
    });
}

impl Shape {
    /// How much of it lies in an area: corners, crossings and overlaps, as matplotlib counts them for its legend.
    pub(crate) fn weight_in(&self, area: &Area) -> usize {
        let inside = |points: &[Point]| points.iter().filter(|it| area.holds(**it)).count();
        match self {
            Shape::Block { area: it, .. } => usize::from(it.meets(area)),
            Shape::Circle { middle, .. } | Shape::Ring { middle, .. } => inside(&[*middle]),
            Shape::Fill { points, .. } => {
                let low =
                    points.iter().fold((f64::MAX, f64::MAX), |a, b| (a.0.min(b.0), a.1.min(b.1)));
                let high =
                    points.iter().fold((f64::MIN, f64::MIN), |a, b| (a.0.max(b.0), a.1.max(b.1)));
                inside(points) + usize::from(Area::around(low, high).meets(area))
            }
            Shape::Line { points, .. } => {
                let crosses = |it: &&[Point]| crosses(it[0], it[1], area);
                inside(points) + points.windows(2).filter(crosses).count()
            }
            Shape::Words(words) => usize::from(words.area().meets(area)),
            Shape::Picture(_) => 0,
        }
    }
}

/// Whether a straight line runs through an area (Liang and Barsky).
fn crosses(from: Point, to: Point, area: &Area) -> bool {
    let (step_x, step_y) = (to.0 - from.0, to.1 - from.1);
    let borders = [
        (-step_x, from.0 - area.left),
        (step_x, area.right - from.0),
        (-step_y, from.1 - area.top),
        (step_y, area.bottom - from.1),
    ];
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    for (outward, room) in borders {
        if outward == 0.0 {
            if room < 0.0 {
                return false;
            }
        } else if outward < 0.0 {
            enters = enters.max(room / outward);
        } else {
            leaves = leaves.min(room / outward);
        }
    }
    enters < leaves
}
