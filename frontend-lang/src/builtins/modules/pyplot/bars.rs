//! Bars and error bars.

use super::canvas::{Cycle, keep, on_axes};
use super::categories::{Along, positions};
use super::colors::color;
use super::draw::{add, line, listed_colors};
use super::options::Options;
use super::style::{look, uncolored_look};
use super::ticks::ticks;
use super::values::{grid, numbers, same_length, spread, texts};
use crate::native::*;
use crate::shown::{Look, Series, SeriesStyle, Tick};

/// The functions that draw bars; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function(
        "bar",
        "x, height, width=0.8, bottom=None, **options",
        "Upright bars at numbers or names; yerr, tick_label, log.",
        bar,
    ),
    function(
        "barh",
        "y, width, height=0.8, left=None, **options",
        "Lying bars at numbers or names; xerr, tick_label, log.",
        lying_bar,
    ),
    function(
        "errorbar",
        "x, y, yerr=None, xerr=None, fmt='', **options",
        "Points with error bars; yerr: one number, one for each point, or [below, above].",
        errorbar,
    ),
];

fn bar(cx: &mut Cx, args: Args<'_>) -> Res {
    bars(cx, &args, ("bar", "height"), Along::X)
}

fn lying_bar(cx: &mut Cx, args: Args<'_>) -> Res {
    bars(cx, &args, ("barh", "width"), Along::Y)
}

/// Both kinds of bars; their arguments are places, lengths, width and base.
fn bars(cx: &mut Cx, args: &Args<'_>, (func, length): (&str, &str), along: Along) -> Res {
    let options = Options::of(func, args.dict(4)?)?;
    let at = positions(cx, &args[0], along)?;
    let lengths = spread(numbers(cx, &args[1])?, at.len());
    same_length(("the places", at.len()), (length, lengths.len()))?;
    let base = args.opt(3).map(|it| numbers(cx, it)).transpose()?;
    let base = base.map_or_else(Vec::new, |it| spread(it, at.len()));
    if !base.is_empty() {
        same_length(("the places", at.len()), ("the base", base.len()))?;
    }
    let from = |at: usize| base.get(at).copied().unwrap_or(0.0);
    let ends: Vec<f64> = lengths.iter().enumerate().map(|(at, it)| it + from(at)).collect();
    name_bars(cx, options, &at, along)?;
    let width = args.float(2)?;
    let is_edge = options.text("align")?.as_deref() == Some("edge");
    let middles: Vec<f64> =
        at.iter().map(|it| it + if is_edge { width / 2.0 } else { 0.0 }).collect();
    let colors = listed_colors(cx, options, at.len())?.unwrap_or_default();
    let look = match colors.first() {
        Some(first) => Look { color: Some(*first), ..uncolored_look(cx, options)? },
        None => look(cx, options, Cycle::Fills)?,
    };
    if options.flag(cx, "log")? {
        on_axes(|it| if along == Along::X { it.y.log = true } else { it.x.log = true });
    }
    let (xs, ys, style) = match along {
        Along::X => (middles, ends, SeriesStyle::Bar),
        Along::Y => (ends, middles, SeriesStyle::LyingBar),
    };
    let places: Vec<_> = xs.iter().copied().zip(ys.iter().copied()).collect();
    let edge = Look { color: Some([40; 3]), ..look.clone() };
    let bar_width = width.abs();
    let drawn = add(Series { look, style, xs, ys, base, colors, bar_width, ..Series::default() })?;
    for (name, along_x) in [("yerr", false), ("xerr", true)] {
        if let Some(errors) = options.get(name) {
            whiskers(cx, &places, &errors, along_x, &edge)?;
        }
    }
    Ok(drawn)
}

/// Names of bars where they stand, as `tick_label` gives them.
fn name_bars(cx: &mut Cx, options: Options<'_>, at: &[f64], along: Along) -> Result<(), Raised> {
    let Some(labels) = options.get("tick_label") else { return Ok(()) };
    let labels = texts(cx, &labels)?;
    let labels = if labels.len() == 1 { vec![labels[0].clone(); at.len()] } else { labels };
    let ticks = ticks(at, Some(labels))?;
    keep(ticks.iter().map(|it| size_of::<Tick>() + it.name.as_ref().map_or(0, String::len)).sum())?;
    on_axes(|it| along.scale(it).ticks = Some(ticks));
    Ok(())
}

fn errorbar(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("errorbar", args.dict(5)?)?;
    let xs = positions(cx, &args[0], Along::X)?;
    let ys = numbers(cx, &args[1])?;
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let places: Vec<_> = xs.iter().copied().zip(ys.iter().copied()).collect();
    let text = args.str(4)?;
    let is_hidden = text.eq_ignore_ascii_case("none");
    let mut series = Series { xs, ys, ..line(cx, Some(text).filter(|_| !is_hidden), options)? };
    if is_hidden {
        series.style = SeriesStyle::Scatter;
        series.look.radius = Some(0.0);
    }
    let mut look = series.look.clone();
    if let Some(value) = options.get("ecolor") {
        look.color = color(cx, &value)?;
    }
    let drawn = add(series)?;
    for (at, along_x) in [(2, false), (3, true)] {
        if let Some(errors) = args.opt(at) {
            whiskers(cx, &places, errors, along_x, &look)?;
        }
    }
    Ok(drawn)
}

/// Error bars around points: a line from below to above.
fn whiskers(
    cx: &mut Cx,
    places: &[(f64, f64)],
    errors: &Value,
    along_x: bool,
    look: &Look,
) -> Result<(), Raised> {
    let (below, above) = match grid(cx, errors)? {
        Some(it) if it.height == 2 => {
            let (below, above) = it.values.split_at(it.width);
            (below.to_vec(), above.to_vec())
        }
        _ => {
            let both = spread(numbers(cx, errors)?, places.len());
            (both.clone(), both)
        }
    };
    same_length(("the errors", below.len()), ("the points", places.len()))?;
    let (mut xs, mut ys) = (Vec::new(), Vec::new());
    for (at, (x, y)) in places.iter().enumerate() {
        match along_x {
            true => (xs.extend([x - below[at], x + above[at], f64::NAN]), ys.extend([*y, *y, *y])),
            false => (xs.extend([*x, *x, *x]), ys.extend([y - below[at], y + above[at], f64::NAN])),
        };
    }
    let plain = Look { name: String::new(), markers: false, unlisted: true, ..look.clone() };
    add(Series { look: plain, xs, ys, ..Series::default() }).map(|_| ())
}
