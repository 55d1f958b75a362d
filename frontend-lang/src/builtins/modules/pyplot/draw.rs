//! Lines, dots and areas.

use super::artist::{artist, artists};
use super::canvas::{Cycle, keep, on_axes, on_pane};
use super::categories::{Along, are_names, positions};
use super::coloring::{Coloring, mapped};
use super::colors::{Colors, all_of, color, colors_of};
use super::options::Options;
use super::style::{COLOR, PIXELS, format, hollow, is_unjoined, look, plain_look, uncolored_look};
use super::values::{columns, grid, number, numbers, same_length, spread};
use crate::native::*;
use crate::shown::{ColorBar, Look, Rgb, Series, SeriesStyle};

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
    function("step", "x, y, *format, where='pre', **options", "Steps from point to point.", step),
    function(
        "stem",
        "x, y=None, linefmt='', markerfmt='', basefmt='', *, bottom=0, **options",
        "A line from the base to each point: (points, lines, base line).",
        stem,
    ),
    function(
        "stackplot",
        "x, *ys, labels=(), colors=None, **options",
        "Areas that stand on one another: stackplot(x, y1, y2), stackplot(x, [y1, y2]).",
        stackplot,
    ),
    function(
        "fill_between",
        "x, y1, y2=0, where=None, **options",
        "The area between two curves.",
        fill_between,
    ),
];

/// Adds a series to the axes; its value is what `plot` returns.
pub(super) fn add(series: Series) -> Res {
    add_mapped(series, None)
}

/// Adds a series whose colours may stand for numbers.
pub(super) fn add_mapped(series: Series, bar: Option<ColorBar>) -> Res {
    keep(size_of::<Series>() + 16 * series.xs.len() + 8 * series.base.len())?;
    keep(3 * series.colors.len() + 8 * series.radii.len())?;
    let at = on_axes(|it| {
        it.series.push(series);
        it.series.len() - 1
    });
    Ok(artist(at, bar.map(mapped)))
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
    let ys = match are_names(ys) {
        true => vec![positions(cx, ys, Along::Y)?],
        false => columns(cx, ys)?,
    };
    let Some(first) = ys.first() else { return Ok(()) };
    let xs = match xs {
        None => vec![(0..first.len()).map(|it| it as f64).collect()],
        Some(it) => match grid(cx, it)? {
            Some(_) => columns(cx, it)?,
            None => vec![positions(cx, it, Along::X)?],
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
pub(super) fn line(
    cx: &mut Cx,
    text: Option<&str>,
    options: Options<'_>,
) -> Result<Series, Raised> {
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
    let xs = positions(cx, &args[0], Along::X)?;
    let ys = positions(cx, &args[1], Along::Y)?;
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let mut look = uncolored_look(cx, options)?;
    let faces = options.any(&["facecolors", "facecolor", "fc"]);
    let is_hollow =
        faces.is_some_and(|it| it.as_str().is_some_and(|it| it.eq_ignore_ascii_case("none")));
    let (colors, bar) = match args.opt(3).cloned().or(options.any(COLOR)).filter(|_| !is_hollow) {
        Some(it) => colors_of_dots(cx, &it, xs.len(), options, &mut look)?,
        None => (Vec::new(), None),
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
    let style = SeriesStyle::Scatter;
    add_mapped(Series { look, xs, ys, colors, radii, style, ..Series::default() }, bar)
}

/// A colour for each of `count` dots, or none: then `look` has the colour of all; and what they stand for.
fn colors_of_dots(
    cx: &mut Cx,
    value: &Value,
    count: usize,
    options: Options<'_>,
    look: &mut Look,
) -> Result<(Vec<Rgb>, Option<ColorBar>), Raised> {
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
                Ok((Vec::new(), None))
            }
            Colors::Each(colors) if colors.len() == 1 => Ok((vec![colors[0]; count], None)),
            Colors::Each(colors) if colors.len() == count => Ok((colors, None)),
            Colors::Each(colors) => Err(wrong_count(colors.len())),
        };
    };
    let is_color = values.iter().all(|it| (0.0..=1.0).contains(it));
    if values.len() != count && matches!(values.len(), 3 | 4) && is_color {
        look.color = color(cx, value)?;
        return Ok((Vec::new(), None));
    }
    if values.len() != count {
        return Err(wrong_count(values.len()));
    }
    let coloring = Coloring::asked(cx, options.get("cmap").as_ref(), options, &values)?;
    Ok((values.iter().map(|it| coloring.at(*it)).collect(), Some(coloring.bar())))
}

/// The colours that an option names for `count` things, taken in turn; `None`: it names one, or was not given.
pub(super) fn listed_colors(
    cx: &mut Cx,
    options: Options<'_>,
    count: usize,
) -> Result<Option<Vec<Rgb>>, Raised> {
    match options.any(COLOR) {
        Some(value) => all_of(cx, &value, count),
        None => Ok(None),
    }
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
    let options = Options::of("stem", args.dict(6)?)?;
    let first = numbers(cx, &args[0])?;
    let (xs, ys) = match args.opt(1) {
        Some(ys) => (first, numbers(cx, ys)?),
        None => ((0..first.len()).map(|it| it as f64).collect(), first),
    };
    same_length(("x", xs.len()), ("y", ys.len()))?;
    let bottom = args.float(5)?;
    let usual = look(cx, options, Cycle::Lines)?;
    // A format of a part goes before the look of all.
    let mut part = |at: usize| -> Result<Look, Raised> {
        let said = format(cx, args.opt(at).map_or(Ok(""), |_| args.str(at))?)?;
        let (color, dash) = (said.color.or(usual.color), said.line.unwrap_or(usual.dash));
        Ok(Look { color, dash, ..usual.clone() })
    };
    let (lines, dots, base) = (part(2)?, part(3)?, part(4)?);
    let plain = |look| Look { name: String::new(), unlisted: true, ..look };
    let each = |value: &dyn Fn(usize) -> [f64; 3]| (0..xs.len()).flat_map(value).collect();
    let stems = Series {
        look: plain(lines),
        xs: each(&|at| [xs[at], xs[at], f64::NAN]),
        ys: each(&|at| [bottom, ys[at], f64::NAN]),
        ..Series::default()
    };
    let low = xs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let look = Look { opacity: Some(0.5), ..plain(base) };
    let base = Series { look, xs: vec![low, high], ys: vec![bottom; 2], ..Series::default() };
    let (stems, base) = (add(stems)?, add(base)?);
    let style = SeriesStyle::Scatter;
    let dots = add(Series { look: dots, xs, ys, style, ..Series::default() })?;
    Ok(Value::tuple([dots, stems, base]))
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

fn stackplot(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("stackplot", args.dict(4)?)?;
    let xs = numbers(cx, &args[0])?;
    let mut rows = Vec::new();
    for ys in args.rest(1) {
        match grid(cx, ys)? {
            Some(it) if it.width > 0 => {
                rows.extend(it.values.chunks(it.width).map(<[f64]>::to_vec))
            }
            _ => rows.push(numbers(cx, ys)?),
        }
    }
    let labels = cx.collect(&args[2])?;
    let colors = args.opt(3).map(|it| all_of(cx, it, rows.len())).transpose()?.flatten();
    let mut base = vec![0.0; xs.len()];
    let mut drawn = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        same_length(("x", xs.len()), ("y", row.len()))?;
        let mut look = uncolored_look(cx, options)?;
        look.name = labels.get(at).map(|it| cx.str(it)).transpose()?.unwrap_or_default();
        let own = colors.as_ref().map(|it| it[at]);
        look.color = own.or_else(|| Some(on_pane(|it| it.next_color(Cycle::Fills))));
        let ys: Vec<f64> = base.iter().zip(row).map(|(base, it)| base + it).collect();
        let (xs, style) = (xs.clone(), SeriesStyle::Area);
        drawn.push(add(Series { look, style, xs, ys: ys.clone(), base, ..Series::default() })?);
        base = ys;
    }
    Ok(artists(drawn))
}
