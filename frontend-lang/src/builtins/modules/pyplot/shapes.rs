//! Closed shapes: polygons and pies.

use super::artist::artists;
use super::canvas::{Cycle, on_axes, on_pane};
use super::draw::{add, listed_colors};
use super::options::Options;
use super::style::{format, look, uncolored_look};
use super::values::{numbers, place_of, same_length, texts};
use super::words::{number_text, write};
use crate::native::*;
use crate::shown::{Look, Note, Series, SeriesStyle, Side};

/// The functions that draw shapes; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function(
        "fill",
        "*points, **options",
        "The area within a line: fill(x, y), fill(x, y, 'r').",
        fill,
    ),
    function(
        "pie",
        "x, explode=None, labels=None, colors=None, autopct=None, pctdistance=0.6, *, labeldistance=1.1, startangle=0, radius=1, counterclock=True, center=None, normalize=True, **options",
        "Parts of a whole as parts of a disc; autopct='%1.1f%%' writes the percentages.",
        pie,
    ),
];

fn fill(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("fill", args.dict(1)?)?;
    let mut rest = args.rest(0);
    let mut drawn = Vec::new();
    while let [xs, ys, tail @ ..] = rest {
        let (xs, ys) = (numbers(cx, xs)?, numbers(cx, ys)?);
        same_length(("x", xs.len()), ("y", ys.len()))?;
        let (text, tail) = match tail {
            [text, tail @ ..] if text.as_str().is_some() => (text.as_str(), tail),
            tail => (None, tail),
        };
        let look = match format(cx, text.unwrap_or(""))?.color {
            Some(color) => Look { color: Some(color), ..uncolored_look(cx, options)? },
            None => look(cx, options, Cycle::Fills)?,
        };
        drawn.push(add(Series { look, style: SeriesStyle::Polygon, xs, ys, ..Series::default() })?);
        rest = tail;
    }
    Ok(artists(drawn))
}

/// Points along the edge of a whole disc.
const ROUND: f64 = 180.0;
/// How far the axes of a pie reach, in radii.
const REACH: f64 = 1.25;

/// A part of a disc.
struct Wedge {
    /// Its tip.
    tip: (f64, f64),
    radius: f64,
    /// Angles of its sides in radians, counted from the right against the clock.
    from: f64,
    to: f64,
}

impl Wedge {
    /// The place in its middle, so many radii from its tip.
    fn middle(&self, radii: f64) -> (f64, f64) {
        self.at((self.from + self.to) / 2.0, radii)
    }

    fn at(&self, angle: f64, radii: f64) -> (f64, f64) {
        let far = radii * self.radius;
        (self.tip.0 + far * angle.cos(), self.tip.1 + far * angle.sin())
    }

    /// Words outside of it, beginning or ending there.
    fn outer_note(&self, text: String, radii: f64) -> Note {
        let at = self.middle(radii);
        let across = if at.0 < self.tip.0 { Side::End } else { Side::Start };
        Note { text, at, across, up: Side::Middle, ..Note::default() }
    }

    fn outline(&self) -> (Vec<f64>, Vec<f64>) {
        let turn = (self.to - self.from) / std::f64::consts::TAU;
        let steps = (turn.abs() * ROUND).ceil().max(1.0) as usize;
        let angle = |it: usize| self.from + (self.to - self.from) * it as f64 / steps as f64;
        let edge = (0..=steps).map(|it| self.at(angle(it), 1.0));
        std::iter::once(self.tip).chain(edge).unzip()
    }
}

fn pie(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("pie", args.dict(12)?)?;
    let parts = parts_of_whole(cx, &args)?;
    let labels = labels_of(cx, args.opt(2), parts.len(), "label")?;
    let apart = match args.opt(1) {
        Some(it) => numbers(cx, it)?,
        None => vec![0.0; parts.len()],
    };
    same_length(("'explode'", apart.len()), ("'x'", parts.len()))?;
    let colors = match args.opt(3) {
        Some(it) => super::colors::all_of(cx, it, parts.len())?,
        None => listed_colors(cx, options, parts.len())?,
    };
    let wedges = wedges(cx, &args, &parts, &apart)?;
    let mut drawn = Vec::with_capacity(wedges.len());
    for (at, wedge) in wedges.iter().enumerate() {
        let own = colors.as_ref().map(|it| it[at]);
        let color = own.unwrap_or_else(|| on_pane(|it| it.next_color(Cycle::Fills)));
        let look = Look { color: Some(color), name: labels[at].clone(), ..Look::default() };
        let (xs, ys) = wedge.outline();
        let style = SeriesStyle::Polygon;
        drawn.push(add(Series { look, style, xs, ys, ..Series::default() })?);
    }
    let (mut names, mut shares) = (Vec::new(), Vec::new());
    for (at, wedge) in wedges.iter().enumerate() {
        if let Some(far) = args.opt(6) {
            names.push(write(wedge.outer_note(labels[at].clone(), number_of(far)?))?);
        }
        if let Some(format) = args.opt(4) {
            let text = number_text(cx, format, 100.0 * parts[at])?;
            let (at, across, up) = (wedge.middle(args.float(5)?), Side::Middle, Side::Middle);
            shares.push(write(Note { text, at, across, up, ..Note::default() })?);
        }
    }
    let mut all = vec![artists(drawn), Value::list(names)];
    if args.opt(4).is_some() {
        all.push(Value::list(shares));
    }
    Ok(Value::tuple(all))
}

/// The parts of a disc in their order; the axes around it are left out.
fn wedges(
    cx: &mut Cx,
    args: &Args<'_>,
    parts: &[f64],
    apart: &[f64],
) -> Result<Vec<Wedge>, Raised> {
    let tip = match args.opt(10) {
        Some(it) => place_of(&numbers(cx, it)?)?,
        None => (0.0, 0.0),
    };
    let (radius, forwards) = (args.float(8)?, cx.truth(&args[9])?);
    let mut from = args.float(7)?.to_radians();
    let ends = |middle: f64| Some((middle - REACH * radius, middle + REACH * radius));
    on_axes(|it| {
        (it.square, it.bare) = (true, true);
        (it.x.range, it.y.range) = (ends(tip.0), ends(tip.1));
    });
    let whole = std::f64::consts::TAU * if forwards { 1.0 } else { -1.0 };
    let wedge = |(part, apart): (&f64, &f64)| {
        let mut wedge = Wedge { tip, radius, from, to: from + part * whole };
        // Told in units of the axes, whatever the radius.
        wedge.tip = Wedge { radius: 1.0, ..wedge }.middle(*apart);
        from = wedge.to;
        wedge
    };
    Ok(parts.iter().zip(apart).map(wedge).collect())
}

fn number_of(value: &Value) -> Result<f64, Raised> {
    super::values::number(value).ok_or_else(|| {
        type_error(format!("labeldistance is a number or None, not {}", type_name(value)))
    })
}

/// The values of a pie as parts of 1.
fn parts_of_whole(cx: &mut Cx, args: &Args<'_>) -> Result<Vec<f64>, Raised> {
    let values = numbers(cx, &args[0])?;
    if values.iter().any(|it| *it < 0.0) {
        return Err(value_error("Wedge sizes 'x' must be non negative values"));
    }
    let sum: f64 = values.iter().sum();
    if !cx.truth(&args[11])? {
        return match sum > 1.0 {
            true => Err(value_error("Cannot plot an unnormalized pie with sum(x) > 1")),
            false => Ok(values),
        };
    }
    if sum == 0.0 {
        return Err(value_error("All wedge sizes are zero"));
    }
    Ok(values.iter().map(|it| it / sum).collect())
}

/// So many texts; empty ones if none were given.
fn labels_of(
    cx: &mut Cx,
    given: Option<&Value>,
    count: usize,
    name: &str,
) -> Result<Vec<String>, Raised> {
    let Some(given) = given else { return Ok(vec![String::new(); count]) };
    let found = texts(cx, given)?;
    same_length((&format!("'{name}'"), found.len()), ("'x'", count))?;
    Ok(found)
}
