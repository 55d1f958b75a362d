//! Lines, dots, bars and areas.

use super::artist::{artist, artists};
use super::canvas::{Cycle, keep, on_axes, on_pane};
use super::colors::{Colors, color, colors_of, map_of, places};
use super::style::{
    COLOR, Options, PIXELS, format, hollow, is_unjoined, look, plain_look, uncolored_look,
};
use super::values::{Positions, columns, grid, number, numbers, positions, same_length};
use crate::native::*;
use crate::shown::{Look, Rgb, Series, SeriesStyle, Tick};

/// The functions that draw points; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function(
        "plot",
        "*points, **options",
        "Joins points by lines: plot(y), plot(x, y), plot(x, y, 'o--'). Options: label, color, linewidth, linestyle, marker, alpha.",
        plot,
    ),
    function("semilogx", "*points, **options", "As plot, with a logarithmic x axis.", semilogx),
    function("semilogy", "*points, **options", "As plot, with a logarithmic y axis.", semilogy),
    function("loglog", "*points, **options", "As plot, with logarithmic axes.", loglog),
    function(
        "scatter",
        "x, y, s=None, c=None, **options",
        "Dots; c: a colour, or a number for each, which cmap turns into colours; s: areas in square points.",
        scatter,
    ),
    function(
        "bar",
        "x, height, width=0.8, bottom=None, **options",
        "Upright bars at numbers or names; yerr adds error bars.",
        bar,
    ),
    function(
        "barh",
        "y, width, height=0.8, left=None, **options",
        "Lying bars at numbers or names.",
        lying_bar,
    ),
    function("step", "x, y, *format, where='pre', **options", "Steps from point to point.", step),
    function("stem", "x, y=None, **options", "A line from zero to each point.", stem),
    function(
        "fill_between",
        "x, y1, y2=0, where=None, **options",
        "The area between two curves.",
        fill_between,
    ),
    function(
        "errorbar",
        "x, y, yerr=None, xerr=None, fmt='', **options",
        "Points with error bars; yerr: one number, one for each point, or [below, above].",
        errorbar,
    ),
];

/// Adds a series to the axes; its value is what `plot` returns.
pub(super) fn add(series: Series) -> Res {
    keep(size_of::<Series>() + 16 * series.xs.len() + 8 * series.base.len())?;
    keep(3 * series.colors.len() + 8 * series.radii.len())?;
    let at = on_axes(|it| {
        it.series.push(series);
        it.series.len() - 1
    });
    artist(at)
}

/// Names along the horizontal axis at 0, 1, 2 ...
fn name_x(names: Vec<String>) {
    if !names.is_empty() {
        on_axes(|it| it.x.ticks = Some(named_ticks(names)));
    }
}

pub(super) fn named_ticks(names: Vec<String>) -> Vec<Tick> {
    let tick = |(at, name)| Tick { at: at as f64, name: Some(name) };
    names.into_iter().enumerate().map(tick).collect()
}

fn plot(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("plot", args.dict(1)?)?;
    let mut rest = args.rest(0);
    let mut drawn = Vec::new();
    while let [first, tail @ ..] = rest {
        let (xs, ys, tail) = match tail {
            [second, tail @ ..] if second.as_str().is_none() => (Some(first), second, tail),
            tail => (None, first, tail),
        };
        let (text, tail) = match tail {
            [text, tail @ ..] if text.as_str().is_some() => (text.as_str(), tail),
            tail => (None, tail),
        };
        lines(cx, xs, ys, text, options, &mut drawn)?;
        rest = tail;
    }
    Ok(artists(drawn))
}

/// The lines of one x and y: one for each column of y.
fn lines(
    cx: &mut Cx,
    xs: Option<&Value>,
    ys: &Value,
    text: Option<&str>,
    options: Options<'_>,
    drawn: &mut Vec<Value>,
) -> Result<(), Raised> {
    let ys = columns(cx, ys)?;
    let Some(first) = ys.first() else { return Ok(()) };
    let xs = match xs {
        None => vec![(0..first.len()).map(|it| it as f64).collect()],
        Some(it) => match grid(cx, it)? {
            Some(_) => columns(cx, it)?,
            None => {
                let Positions { at, names } = positions(cx, it)?;
                name_x(names);
                vec![at]
            }
        },
    };
    for (at, ys) in ys.into_iter().enumerate() {
        let Some(xs) = xs.get(at).or(xs.first()).cloned() else { return Ok(()) };
        same_length(("x", xs.len()), ("y", ys.len()))?;
        let mut series = Series { xs, ys, ..line(cx, text, options)? };
        if series.xs.len() == 1 && series.style == SeriesStyle::Line {
            series.look.markers = true;
        }
        drawn.push(add(series)?);
    }
    Ok(())
}

/// A line without points, as a format string and options have it.
fn line(cx: &mut Cx, text: Option<&str>, options: Options<'_>) -> Result<Series, Raised> {
    let said = format(cx, text.unwrap_or(""))?;
    let mut look = match said.color {
        Some(color) => Look { color: Some(color), ..plain_look(cx, options)? },
        None => look(cx, options, Cycle::Lines)?,
    };
    look.markers |= said.markers;
    if let Some(dash) = said.line {
        look.dash = dash;
    }
    let asked = options.any(&["linestyle", "ls"]).is_some();
    let unjoined = is_unjoined(options) || (said.markers && said.line.is_none() && !asked);
    let style = if unjoined { SeriesStyle::Scatter } else { SeriesStyle::Line };
    Ok(Series { look, style, ..Series::default() })
}

fn semilogx(cx: &mut Cx, args: Args<'_>) -> Res {
    on_axes(|it| it.x.log = true);
    plot(cx, args)
}

fn semilogy(cx: &mut Cx, args: Args<'_>) -> Res {
    on_axes(|it| it.y.log = true);
    plot(cx, args)
}

fn loglog(cx: &mut Cx, args: Args<'_>) -> Res {
    on_axes(|it| (it.x.log, it.y.log) = (true, true));
    plot(cx, args)
}

fn scatter(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("scatter", args.dict(4)?)?;
    let Positions { at: xs, names } = positions(cx, &args[0])?;
    name_x(names);
    let ys = numbers(cx, &args[1])?;
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let mut look = uncolored_look(cx, options)?;
    let faces = options.any(&["facecolors", "facecolor", "fc"]);
    let is_hollow =
        faces.is_some_and(|it| it.as_str().is_some_and(|it| it.eq_ignore_ascii_case("none")));
    let colors = match args.opt(3).cloned().or(options.any(COLOR)).filter(|_| !is_hollow) {
        Some(it) => colors_of_dots(cx, &it, xs.len(), options, &mut look)?,
        None => Vec::new(),
    };
    if is_hollow {
        hollow(cx, options, &mut look)?;
    }
    if look.color.is_none() {
        look.color = Some(on_pane(|it| it.next_color(Cycle::Fills)));
    }
    // A dot of s square points is as wide as a square of this area.
    let radius = |area: f64| area.max(0.0).sqrt() / 2.0 * PIXELS;
    let mut radii = Vec::new();
    match args.opt(2).map(|it| numbers(cx, it)).transpose()?.as_deref() {
        None => {}
        Some([one]) => look.radius = Some(radius(*one)),
        Some(areas) => {
            if areas.len() != xs.len() {
                return Err(value_error(
                    "s must be a scalar, or float array-like with the same size as x and y",
                ));
            }
            radii = areas.iter().map(|it| radius(*it)).collect();
        }
    }
    add(Series { look, xs, ys, colors, radii, style: SeriesStyle::Scatter, ..Series::default() })
}

/// A colour for each of `count` dots, or none: then `look` has the colour of all.
fn colors_of_dots(
    cx: &mut Cx,
    value: &Value,
    count: usize,
    options: Options<'_>,
    look: &mut Look,
) -> Result<Vec<Rgb>, Raised> {
    let wrong_count = |found: usize| {
        value_error(format!(
            "'c' argument has {found} elements, which is inconsistent with 'x' and 'y' with size {count}."
        ))
    };
    let items = if value.as_str().is_some() { Vec::new() } else { cx.collect(value)? };
    let values: Option<Vec<f64>> = items.iter().map(number).collect();
    let Some(values) = values.filter(|_| !items.is_empty()) else {
        // Names, or rows of red, green, blue.
        return match colors_of(cx, value)? {
            Colors::One(color) => {
                look.color = color;
                Ok(Vec::new())
            }
            Colors::Each(colors) if colors.len() == 1 => Ok(vec![colors[0]; count]),
            Colors::Each(colors) if colors.len() == count => Ok(colors),
            Colors::Each(colors) => Err(wrong_count(colors.len())),
        };
    };
    let is_color = values.iter().all(|it| (0.0..=1.0).contains(it));
    if values.len() != count && matches!(values.len(), 3 | 4) && is_color {
        look.color = color(cx, value)?;
        return Ok(Vec::new());
    }
    if values.len() != count {
        return Err(wrong_count(values.len()));
    }
    let map = map_of(cx, options.get("cmap").as_ref())?;
    let ends = (options.number(&["vmin"])?, options.number(&["vmax"])?);
    Ok(places(&values, ends, false).into_iter().map(|it| map.at(it)).collect())
}

/// The colours that an option names for `count` things, taken in turn; `None`: it names one, or was not given.
pub(super) fn listed_colors(
    cx: &mut Cx,
    options: Options<'_>,
    count: usize,
) -> Result<Option<Vec<Rgb>>, Raised> {
    let Some(value) = options.any(COLOR) else { return Ok(None) };
    Ok(match colors_of(cx, &value)? {
        Colors::Each(colors) if !colors.is_empty() => {
            Some((0..count).map(|it| colors[it % colors.len()]).collect())
        }
        _ => None,
    })
}

fn bar(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("bar", args.dict(4)?)?;
    let bars = bars(cx, &args, "height", options)?;
    let (xs, ys, base) = (bars.at, bars.ends, bars.base);
    let places: Vec<_> = xs.iter().copied().zip(ys.iter().copied()).collect();
    name_x(bars.names);
    let look = bars.look.clone();
    let drawn = add(Series {
        look: bars.look,
        style: SeriesStyle::Bar,
        xs,
        ys,
        base,
        colors: bars.colors,
        bar_width: bars.width,
        ..Series::default()
    })?;
    if options.flag(cx, "log")? {
        on_axes(|it| it.y.log = true);
    }
    let look = Look { color: Some([40; 3]), ..look };
    for (name, along_x) in [("yerr", false), ("xerr", true)] {
        if let Some(errors) = options.get(name) {
            whiskers(cx, &places, &errors, along_x, &look)?;
        }
    }
    Ok(drawn)
}

fn lying_bar(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("barh", args.dict(4)?)?;
    let bars = bars(cx, &args, "width", options)?;
    if !bars.names.is_empty() {
        on_axes(|it| it.y.ticks = Some(named_ticks(bars.names)));
    }
    add(Series {
        look: bars.look,
        style: SeriesStyle::LyingBar,
        xs: bars.ends,
        ys: bars.at,
        base: bars.base,
        colors: bars.colors,
        bar_width: bars.width,
        ..Series::default()
    })
}

struct Bars {
    at: Vec<f64>,
    names: Vec<String>,
    ends: Vec<f64>,
    base: Vec<f64>,
    colors: Vec<Rgb>,
    look: Look,
    width: f64,
}

/// Arguments of both kinds of bars: places, lengths, width, base.
fn bars(cx: &mut Cx, args: &Args<'_>, length: &str, options: Options<'_>) -> Result<Bars, Raised> {
    let Positions { mut at, mut names } = positions(cx, &args[0])?;
    let lengths = spread(numbers(cx, &args[1])?, at.len());
    same_length(("the places", at.len()), (length, lengths.len()))?;
    let base = args.opt(3).map(|it| numbers(cx, it)).transpose()?;
    let base = base.map_or_else(Vec::new, |it| spread(it, at.len()));
    if !base.is_empty() {
        same_length(("the places", at.len()), ("the base", base.len()))?;
    }
    let ends = match base.is_empty() {
        true => lengths,
        false => lengths.iter().zip(&base).map(|(length, base)| length + base).collect(),
    };
    if let Some(labels) = options.get("tick_label") {
        for it in &cx.collect(&labels)? {
            names.push(cx.str(it)?);
        }
    }
    let width = args.float(2)?;
    if options.text("align")?.as_deref() == Some("edge") {
        at.iter_mut().for_each(|it| *it += width / 2.0);
    }
    let colors = listed_colors(cx, options, at.len())?.unwrap_or_default();
    let look = match colors.first() {
        Some(first) => Look { color: Some(*first), ..uncolored_look(cx, options)? },
        None => look(cx, options, Cycle::Fills)?,
    };
    Ok(Bars { at, names, ends, base, colors, look, width: width.abs() })
}

/// One number for all, or as they are.
fn spread(values: Vec<f64>, count: usize) -> Vec<f64> {
    if values.len() == 1 { vec![values[0]; count] } else { values }
}

fn step(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("step", args.dict(4)?)?;
    let (xs, ys) = (numbers(cx, &args[0])?, numbers(cx, &args[1])?);
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let text = args.rest(2).first().and_then(Value::as_str);
    let (mut step_xs, mut step_ys) = (Vec::new(), Vec::new());
    for at in 0..xs.len() {
        let next = at + 1 < xs.len();
        step_xs.push(xs[at]);
        step_ys.push(ys[at]);
        match args.str(3)? {
            "pre" if next => (step_xs.push(xs[at]), step_ys.push(ys[at + 1])),
            "post" if next => (step_xs.push(xs[at + 1]), step_ys.push(ys[at])),
            "mid" if next => {
                let middle = (xs[at] + xs[at + 1]) / 2.0;
                step_xs.extend([middle; 2]);
                step_ys.extend([ys[at], ys[at + 1]]);
                ((), ())
            }
            "pre" | "post" | "mid" => ((), ()),
            other => {
                return Err(value_error(format!(
                    "'{other}' is not a valid value for where; supported values are 'post', 'pre', 'mid'"
                )));
            }
        };
    }
    let series = Series { xs: step_xs, ys: step_ys, ..line(cx, text, options)? };
    Ok(artists(vec![add(series)?]))
}

fn stem(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("stem", args.dict(2)?)?;
    let first = numbers(cx, &args[0])?;
    let (xs, ys) = match args.opt(1) {
        Some(ys) => (first, numbers(cx, ys)?),
        None => ((0..first.len()).map(|it| it as f64).collect(), first),
    };
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let look = look(cx, options, Cycle::Lines)?;
    let plain = Look { name: String::new(), unlisted: true, ..look.clone() };
    let from_zero = |value: &dyn Fn(usize) -> [f64; 3]| (0..xs.len()).flat_map(value).collect();
    let line = Series {
        look: plain,
        xs: from_zero(&|at| [xs[at], xs[at], f64::NAN]),
        ys: from_zero(&|at| [0.0, ys[at], f64::NAN]),
        ..Series::default()
    };
    add(line)?;
    add(Series { look, xs, ys, style: SeriesStyle::Scatter, ..Series::default() })
}

fn fill_between(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("fill_between", args.dict(4)?)?;
    let xs = numbers(cx, &args[0])?;
    let mut ys = spread(numbers(cx, &args[1])?, xs.len());
    let base = spread(numbers(cx, &args[2])?, xs.len());
    same_length(("x", xs.len()), ("y1", ys.len()))?;
    same_length(("x", xs.len()), ("y2", base.len()))?;
    if let Some(shown) = args.opt(3) {
        let shown = numbers(cx, shown)?;
        same_length(("x", xs.len()), ("where", shown.len()))?;
        for (y, shown) in ys.iter_mut().zip(shown) {
            *y = if shown == 0.0 { f64::NAN } else { *y };
        }
    }
    let look = look(cx, options, Cycle::Fills)?;
    add(Series { look, style: SeriesStyle::Area, xs, ys, base, ..Series::default() })
}

fn errorbar(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("errorbar", args.dict(5)?)?;
    let Positions { at: xs, names } = positions(cx, &args[0])?;
    name_x(names);
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
