//! A drawing as a PNG file: shapes become outlines, outlines become shares of pixels, letters come from a font that is part of this crate.
//!
//! Within an outline that crosses itself, and where two pieces of a line overlap, a pixel counts once.

use std::cell::OnceCell;

use magics::artifact::{Image, Side};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::png;
use super::sheet::{Area, Paint, Picture, Point, Shape, Sheet, Stroke, Words};

/// DejaVu Sans: Latin, Greek, Cyrillic, signs of mathematics (`LICENSE_DEJAVU`).
static FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

/// The most pixels of a file.
const MOST: f64 = 64e6;
/// Corners of a circle.
const CORNERS: usize = 48;
/// Straight pieces of a bend of a letter.
const PIECES: usize = 6;

/// The file; a pixel of the drawing becomes `scale` pixels. `None` if they would be too many.
pub(crate) fn write(sheet: &Sheet, scale: f64) -> Option<Vec<u8>> {
    let (width, height) = ((sheet.width * scale).round(), (sheet.height * scale).round());
    let fits = width >= 1.0 && height >= 1.0 && width * height <= MOST;
    let mut canvas = Canvas::new(fits.then_some((width as usize, height as usize))?, scale);
    sheet.shapes.iter().for_each(|it| canvas.draw(it));
    png::write(&canvas.image)
}

/// What is drawn on.
struct Canvas {
    image: Image,
    scale: f64,
    face: OnceCell<Option<Face<'static>>>,
}

impl Canvas {
    fn new((width, height): (usize, usize), scale: f64) -> Self {
        let pixels = vec![255; width * height * 3];
        let image = Image { width, height, channels: 3, pixels, title: String::new() };
        Self { image, scale, face: OnceCell::new() }
    }

    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Block { area, fill } => self.fill(&[block(area)], *fill),
            Shape::Circle { middle, radius, fill } => self.fill(&[circle(*middle, *radius)], *fill),
            Shape::Fill { points, fill } => self.fill(std::slice::from_ref(points), *fill),
            Shape::Line { points, stroke } => self.fill(&outlines(points, stroke), stroke.paint),
            Shape::Picture(picture) => self.picture(picture),
            Shape::Ring { middle, radius, stroke } => {
                let mut edge = circle(*middle, *radius);
                edge.extend(edge.first().copied());
                self.fill(&outlines(&edge, stroke), stroke.paint);
            }
            Shape::Words(words) => self.words(words),
        }
    }

    /// Paints the inside of outlines.
    fn fill(&mut self, outlines: &[Vec<Point>], paint: Paint) {
        let scale = self.scale;
        let ends = outlines.iter().flatten().map(|(x, y)| (x * scale, y * scale));
        let Some(mut shares) = Shares::around(ends, (self.image.width, self.image.height)) else {
            return;
        };
        for outline in outlines {
            let next = outline.iter().cycle().skip(1);
            for (from, to) in outline.iter().zip(next) {
                shares.line((from.0 * scale, from.1 * scale), (to.0 * scale, to.1 * scale));
            }
        }
        shares.each(|x, y, share| self.mix(x, y, paint, share));
    }

    /// Lays a colour over a pixel.
    fn mix(&mut self, x: usize, y: usize, paint: Paint, share: f64) {
        let at = (y * self.image.width + x) * 3;
        let part = share * paint.opacity;
        for (below, above) in self.image.pixels[at..at + 3].iter_mut().zip(paint.color) {
            *below = (f64::from(*below) * (1.0 - part) + f64::from(above) * part).round() as u8;
        }
    }

    fn picture(&mut self, picture: &Picture) {
        let (scale, image) = (self.scale, &picture.image);
        let [from, to] = picture.corners.map(|(x, y)| (x * scale, y * scale));
        let bound =
            |value: f64, most: usize| (value * scale).round().clamp(0.0, most as f64) as usize;
        let (width, height) = (self.image.width, self.image.height);
        let within = picture.within;
        for y in bound(within.top, height)..bound(within.bottom, height) {
            for x in bound(within.left, width)..bound(within.right, width) {
                let part = |at: usize, from: f64, to: f64| (at as f64 + 0.5 - from) / (to - from);
                let (across, down) = (part(x, from.0, to.0), part(y, from.1, to.1));
                if !((0.0..1.0).contains(&across) && (0.0..1.0).contains(&down)) {
                    continue;
                }
                let column = (across * image.width as f64) as usize;
                let row = (down * image.height as f64) as usize;
                let at = (row * image.width + column) * image.channels;
                let paint: Paint = match image.pixels.get(at..at + image.channels) {
                    Some([grey]) => [*grey; 3].into(),
                    Some([r, g, b]) => [*r, *g, *b].into(),
                    Some([r, g, b, a]) => {
                        Paint { color: [*r, *g, *b], opacity: f64::from(*a) / 255.0 }
                    }
                    _ => continue,
                };
                self.mix(x, y, paint, 1.0);
            }
        }
    }

    fn words(&mut self, words: &Words) {
        let face = self.face.get_or_init(|| Face::parse(FONT, 0).ok());
        let Some(face) = face else { return };
        let letters = Letters::of(face, words);
        let outlines = letters.outlines;
        self.fill(&outlines, words.color.into());
    }
}

fn block(area: &Area) -> Vec<Point> {
    let Area { left, top, right, bottom } = *area;
    vec![(left, top), (right, top), (right, bottom), (left, bottom)]
}

/// A circle, in the direction that pieces of lines have.
fn circle((x, y): Point, radius: f64) -> Vec<Point> {
    let corner = |at: usize| {
        let angle = std::f64::consts::TAU * at as f64 / CORNERS as f64;
        (x + radius * angle.cos(), y + radius * angle.sin())
    };
    (0..CORNERS).map(corner).collect()
}

/// The outlines of a line: of each straight piece, and of its joints. All run in one direction.
fn outlines(points: &[Point], stroke: &Stroke) -> Vec<Vec<Point>> {
    let half = stroke.width / 2.0;
    let mut outlines = Vec::new();
    for run in dashes(points, stroke.pattern()) {
        for pair in run.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let length = (x1 - x0).hypot(y1 - y0);
            if length > 0.0 {
                let (across, down) = (-(y1 - y0) / length * half, (x1 - x0) / length * half);
                outlines.push(vec![
                    (x0 - across, y0 - down),
                    (x1 - across, y1 - down),
                    (x1 + across, y1 + down),
                    (x0 + across, y0 + down),
                ]);
            }
        }
        let joints = run.get(1..run.len().saturating_sub(1)).unwrap_or_default();
        outlines.extend(joints.iter().map(|it| circle(*it, half)));
    }
    outlines
}

/// A line broken into dashes and gaps.
fn dashes(points: &[Point], pattern: Option<[f64; 2]>) -> Vec<Vec<Point>> {
    let Some(pattern) = pattern else { return vec![points.to_vec()] };
    let mut runs: Vec<Vec<Point>> = vec![points.first().copied().into_iter().collect()];
    let (mut drawn, mut left) = (true, pattern[0]);
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let length = (x1 - x0).hypot(y1 - y0);
        let mut at = 0.0;
        while length - at > left {
            at += left;
            let place = (x0 + (x1 - x0) * at / length, y0 + (y1 - y0) * at / length);
            match runs.last_mut().filter(|_| drawn) {
                Some(run) => run.push(place),
                None => runs.push(vec![place]),
            }
            drawn = !drawn;
            left = pattern[usize::from(!drawn)].max(0.1);
        }
        left -= length - at;
        runs.last_mut().filter(|_| drawn).into_iter().for_each(|run| run.push((x1, y1)));
    }
    runs
}

/// How much of each pixel of an area lies within outlines: differences along rows, summed up at the end.
struct Shares {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    cells: Vec<f64>,
}

impl Shares {
    /// Room for outlines with these corners, as far as they lie on the canvas.
    fn around(corners: impl Iterator<Item = Point>, most: (usize, usize)) -> Option<Self> {
        let mut ends: Option<[f64; 4]> = None;
        for (x, y) in corners {
            let [left, top, right, bottom] = ends.unwrap_or([x, y, x, y]);
            ends = Some([left.min(x), top.min(y), right.max(x), bottom.max(y)]);
        }
        let [left, top, right, bottom] = ends.filter(|it| it.iter().all(|it| it.is_finite()))?;
        let low = |value: f64, most: usize| value.floor().clamp(0.0, most as f64) as usize;
        let high = |value: f64, most: usize| value.ceil().clamp(0.0, most as f64) as usize;
        let (left, top) = (low(left, most.0), low(top, most.1));
        let width = high(right, most.0).checked_sub(left).filter(|it| *it > 0)?;
        let height = high(bottom, most.1).checked_sub(top).filter(|it| *it > 0)?;
        Some(Self { left, top, width, height, cells: vec![0.0; (width + 2) * height] })
    }

    /// Notes an edge: rows to its right lie within, or no longer.
    fn line(&mut self, from: Point, to: Point) {
        let place = |(x, y): Point| {
            ((x - self.left as f64).clamp(0.0, self.width as f64), y - self.top as f64)
        };
        let (from, to) = (place(from), place(to));
        let (direction, from, to) = if from.1 < to.1 { (1.0, from, to) } else { (-1.0, to, from) };
        if from.1 == to.1 {
            return;
        }
        let (slope, width) = ((to.0 - from.0) / (to.1 - from.1), self.width as f64);
        let rows = from.1.max(0.0) as usize..(to.1.ceil().max(0.0) as usize).min(self.height);
        for row in rows {
            let (start, end) = (from.1.max(row as f64), to.1.min(row as f64 + 1.0));
            let x = |y: f64| (from.0 + (y - from.1) * slope).clamp(0.0, width);
            self.edge(row, (x(start), x(end)), direction * (end - start));
        }
    }

    /// Spreads an edge within one row over the pixels that it crosses.
    fn edge(&mut self, row: usize, (one, other): (f64, f64), height: f64) {
        let (from, to) = (one.min(other), one.max(other));
        let cells = &mut self.cells[row * (self.width + 2)..(row + 1) * (self.width + 2)];
        let (first, last) = (from as usize, to as usize);
        for column in first..=last {
            let (start, end) = (from.max(column as f64), to.min(column as f64 + 1.0));
            let part = if to > from { height * (end - start) / (to - from) } else { height };
            // Of the pixel it crosses, what lies to its right; of the next ones, all.
            let right = column as f64 + 1.0 - (start + end) / 2.0;
            cells[column] += part * right;
            cells[column + 1] += part * (1.0 - right);
        }
    }

    /// Calls for each pixel that lies within in part.
    fn each(&self, mut paint: impl FnMut(usize, usize, f64)) {
        for (row, cells) in self.cells.chunks(self.width + 2).enumerate() {
            let mut sum = 0.0;
            for (column, difference) in cells[..self.width].iter().enumerate() {
                sum += difference;
                let share = f64::abs(sum).min(1.0);
                if share > 1e-3 {
                    paint(self.left + column, self.top + row, share);
                }
            }
        }
    }
}

/// The outlines of a line of text.
struct Letters {
    outlines: Vec<Vec<Point>>,
    size: f64,
    /// Where the next letter begins, before it is turned.
    pen: Point,
    place: Point,
    turned: bool,
}

impl Letters {
    fn of(face: &Face<'_>, words: &Words) -> Self {
        let size = words.size / f64::from(face.units_per_em());
        let glyphs: Vec<GlyphId> =
            words.text.chars().map(|it| face.glyph_index(it).unwrap_or_default()).collect();
        let width = |it: &GlyphId| f64::from(face.glyph_hor_advance(*it).unwrap_or(0)) * size;
        let whole: f64 = glyphs.iter().map(width).sum();
        let start = match words.across {
            Side::Start => 0.0,
            Side::Middle => -whole / 2.0,
            Side::End => -whole,
        };
        let pen = (start, words.drop());
        let (place, turned) = (words.at, words.turned);
        let mut letters = Self { outlines: Vec::new(), size, pen, place, turned };
        for glyph in glyphs {
            face.outline_glyph(glyph, &mut letters);
            letters.pen.0 += width(&glyph);
        }
        letters
    }

    /// A point of a letter on the sheet.
    fn point(&self, x: f32, y: f32) -> Point {
        let (x, y) = (self.pen.0 + f64::from(x) * self.size, self.pen.1 - f64::from(y) * self.size);
        let (x, y) = if self.turned { (y, -x) } else { (x, y) };
        (self.place.0 + x, self.place.1 + y)
    }

    fn last(&self) -> Point {
        self.outlines.last().and_then(|it| it.last()).copied().unwrap_or(self.place)
    }

    fn push(&mut self, point: Point) {
        self.outlines.last_mut().into_iter().for_each(|it| it.push(point));
    }

    /// Straight pieces of a bend from the last point, by the weights of its corners.
    fn bend(&mut self, corners: &[Point], weights: impl Fn(f64) -> [f64; 4]) {
        let from = self.last();
        for at in 1..=PIECES {
            let weights = weights(at as f64 / PIECES as f64);
            let all = [from].into_iter().chain(corners.iter().copied()).zip(weights);
            self.push(all.fold((0.0, 0.0), |sum, (it, w)| (sum.0 + it.0 * w, sum.1 + it.1 * w)));
        }
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        let start = self.point(x, y);
        self.outlines.push(vec![start]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push(self.point(x, y));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let corners = [self.point(x1, y1), self.point(x, y)];
        self.bend(&corners, |t| [(1.0 - t).powi(2), 2.0 * t * (1.0 - t), t * t, 0.0]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let corners = [self.point(x1, y1), self.point(x2, y2), self.point(x, y)];
        let u = |t: f64| 1.0 - t;
        self.bend(&corners, |t| {
            [u(t).powi(3), 3.0 * t * u(t).powi(2), 3.0 * t * t * u(t), t.powi(3)]
        });
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use magics::artifact::Dash;

    use super::*;

    /// How dark each pixel of a row is, from 0 to 100, after shapes were drawn in black.
    fn row(width: usize, at: usize, shapes: &[Shape]) -> Vec<i32> {
        let mut canvas = Canvas::new((width, 4), 1.0);
        shapes.iter().for_each(|it| canvas.draw(it));
        let row = &canvas.image.pixels[at * width * 3..(at + 1) * width * 3];
        row.chunks(3).map(|it| (f64::from(255 - it[0]) / 2.55).round() as i32).collect()
    }

    #[test]
    fn a_pixel_is_as_dark_as_its_covered_part() {
        let black: Paint = [0; 3].into();
        let block = |left, right| Shape::Block {
            area: Area { left, top: 0.0, right, bottom: 1.5 },
            fill: black,
        };
        assert_eq!(row(4, 0, &[block(0.5, 2.25)]), [50, 100, 25, 0]);
        assert_eq!(row(4, 1, &[block(0.5, 2.25)]), [25, 50, 13, 0]);
        // What reaches beyond the canvas is cut off.
        assert_eq!(row(4, 0, &[block(-9.0, 99.0)]), [100; 4]);
        let half = Shape::Fill { points: vec![(0.0, 0.0), (4.0, 0.0), (0.0, 4.0)], fill: black };
        assert_eq!(row(4, 0, std::slice::from_ref(&half)), [100, 100, 100, 50]);
        assert_eq!(row(4, 3, &[half]), [50, 0, 0, 0]);
    }

    #[test]
    fn joints_of_a_line_are_not_darker_than_the_line() {
        let paint = Paint { color: [0; 3], opacity: 0.5 };
        let stroke = Stroke { paint, width: 2.0, dash: Dash::Solid };
        let points = vec![(0.0, 1.0), (3.0, 1.0), (6.0, 1.0)];
        assert_eq!(row(6, 0, &[Shape::Line { points, stroke }]), [50; 6]);
    }

    #[test]
    fn dashes_are_as_long_as_their_pattern_across_corners() {
        let runs = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 5.0)], Some([4.0, 2.0]));
        assert_eq!(runs, [vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)], vec![(3.0, 3.0), (3.0, 5.0)]]);
    }

    #[test]
    fn every_letter_that_axes_need_is_in_the_font() {
        let face = Face::parse(FONT, 0).unwrap();
        for letter in ('!'..='~').chain("äßéλπΣЖ−·°²≤≥→∇".chars()) {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
    }
}
