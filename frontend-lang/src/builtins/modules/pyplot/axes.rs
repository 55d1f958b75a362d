//! What stands around and across the axes: titles, limits, ticks, legends, words, lines from side to side.

use super::artist::Artist;
use super::canvas::{Cycle, Pane, keep, on_axes, on_pane, target};
use super::colors::color;
use super::draw::add;
use super::figures::nothing;
use super::options::Options;
use super::style::{look, plain_look};
use super::ticks::{named_ticks, ticks};
use super::values::{self, number, numbers, texts};
use crate::native::*;
use crate::shown::{Band, Look, Plot, Scale, Series, Side, Spot};

/// The functions that dress the axes; as methods of axes they may begin with `set_`.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("title", "label, **options", "Title of the axes.", title),
    function("xlabel", "xlabel, **options", "Label of the horizontal axis.", x_label),
    function("ylabel", "ylabel, **options", "Label of the vertical axis.", y_label),
    function("xlim", "left=None, right=None, **ends", "Ends of the horizontal axis.", x_limits),
    function("ylim", "bottom=None, top=None, **ends", "Ends of the vertical axis.", y_limits),
    function("xscale", "value, **options", "'linear' or 'log'.", x_scale),
    function("yscale", "value, **options", "'linear' or 'log'.", y_scale),
    function(
        "xticks",
        "ticks=None, labels=None, **options",
        "Named places of the horizontal axis.",
        x_ticks,
    ),
    function(
        "yticks",
        "ticks=None, labels=None, **options",
        "Named places of the vertical axis.",
        y_ticks,
    ),
    function(
        "legend",
        "*entries, **options",
        "Names the series; loc: 'upper right', 'lower left' ...",
        legend,
    ),
    function(
        "grid",
        "visible=True, **options",
        "Lines across at the ticks; axis: 'x', 'y' or 'both'.",
        grid,
    ),
    function(
        "axis",
        "*option, **options",
        "'off', 'on', 'equal', or [left, right, bottom, top].",
        axis,
    ),
    function(
        "axhline",
        "y=0, xmin=0, xmax=1, **options",
        "A level line across the axes.",
        level_line,
    ),
    function(
        "axvline",
        "x=0, ymin=0, ymax=1, **options",
        "An upright line across the axes.",
        upright_line,
    ),
    function(
        "axhspan",
        "ymin, ymax, xmin=0, xmax=1, **options",
        "A level stripe across the axes.",
        level_stripe,
    ),
    function(
        "axvspan",
        "xmin, xmax, ymin=0, ymax=1, **options",
        "An upright stripe across the axes.",
        upright_stripe,
    ),
    function("hlines", "y, xmin, xmax, colors=None, **options", "Level lines.", level_lines),
    function("vlines", "x, ymin, ymax, colors=None, **options", "Upright lines.", upright_lines),
    function("tick_params", "*args, **options", "Nothing to do: ticks have one look.", nothing),
    function(
        "ticklabel_format",
        "**options",
        "Nothing to do: numbers have as many digits as they need.",
        nothing,
    ),
    function(
        "locator_params",
        "*args, **options",
        "Nothing to do: round numbers are told.",
        nothing,
    ),
    function("minorticks_on", "", "Nothing to do: there are no small ticks.", nothing),
    function("minorticks_off", "", "Nothing to do: there are no small ticks.", nothing),
    function(
        "margins",
        "*args, **options",
        "Nothing to do: axes are a little larger than the data.",
        nothing,
    ),
    function(
        "autoscale",
        "*args, **options",
        "The ends of the axes come from the data again.",
        |_cx, _args| {
            on_axes(|it| (it.x.range, it.y.range) = (None, None));
            Ok(Value::None)
        },
    ),
    function("cla", "", "Empties the axes.", clear),
];

fn title(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("title", args.dict(1)?)?;
    let text = values::text(cx, &args[0])?;
    on_axes(|it| it.title = text);
    Ok(Value::None)
}

fn x_label(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("xlabel", args.dict(1)?)?;
    let text = values::text(cx, &args[0])?;
    on_axes(|it| it.x_label = text);
    Ok(Value::None)
}

fn y_label(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("ylabel", args.dict(1)?)?;
    let text = values::text(cx, &args[0])?;
    on_axes(|it| it.y_label = text);
    Ok(Value::None)
}

fn x_limits(cx: &mut Cx, args: Args<'_>) -> Res {
    let (now, ends) = limits(cx, &args, ["left", "right"], |it| (&it.x, extent(it, true)))?;
    set_limits(now, ends, |it| &mut it.x)
}

fn y_limits(cx: &mut Cx, args: Args<'_>) -> Res {
    let (now, ends) = limits(cx, &args, ["bottom", "top"], |it| (&it.y, extent(it, false)))?;
    set_limits(now, ends, |it| &mut it.y)
}

type Ends = (f64, f64);

/// The ends as they are and as they are wanted; `None`: nothing was asked for.
fn limits(
    cx: &mut Cx,
    args: &Args<'_>,
    names: [&str; 2],
    now: impl FnOnce(&Plot) -> (&Scale, Ends),
) -> Result<(Ends, Option<Ends>), Raised> {
    let now = on_axes(|it| {
        let (scale, data) = now(it);
        let (low, high) = scale.range.unwrap_or(data);
        if scale.flipped { (high, low) } else { (low, high) }
    });
    let named = args.dict(2)?;
    let mut given = [args.opt(0).cloned(), args.opt(1).cloned()];
    for (at, name) in names.iter().enumerate() {
        let other = ["xmin", "xmax", "ymin", "ymax"].into_iter().skip(at).step_by(2);
        let found = [*name].into_iter().chain(other).find_map(|it| named.get_str(it));
        given[at] = given[at].take().or(found);
    }
    let wrong = || value_error(format!("limits are two numbers: ({}, {})", names[0], names[1]));
    if let [Some(both), None] = &given
        && number(both).is_none()
    {
        return match numbers(cx, both)?.as_slice() {
            [low, high] => Ok((now, Some((*low, *high)))),
            _ => Err(wrong()),
        };
    }
    let end = |value: &Option<Value>, or: f64| match value {
        Some(it) => number(it).filter(|it| it.is_finite()).ok_or_else(wrong),
        None => Ok(or),
    };
    let asked = given.iter().any(Option::is_some);
    let ends = (end(&given[0], now.0)?, end(&given[1], now.1)?);
    Ok((now, Some(ends).filter(|_| asked)))
}

fn set_limits(now: Ends, ends: Option<Ends>, scale: impl FnOnce(&mut Plot) -> &mut Scale) -> Res {
    let (low, high) = ends.unwrap_or(now);
    if ends.is_some() {
        if !(low.is_finite() && high.is_finite()) {
            return Err(value_error("Axis limits cannot be NaN or Inf"));
        }
        on_axes(|it| {
            let scale = scale(it);
            scale.range = Some((low.min(high), low.max(high)));
            scale.flipped = low > high;
        });
    }
    Ok(Value::tuple([Value::Float(low), Value::Float(high)]))
}

/// The least and the greatest value of what is drawn; 0 and 1 if nothing is.
fn extent(plot: &Plot, along_x: bool) -> Ends {
    let (xs, ys) = plot.reach();
    let corners = plot.rasters.iter().flat_map(|it| match along_x {
        true => [it.left, it.right],
        false => [it.bottom, it.top],
    });
    let values = if along_x { xs } else { ys };
    let finite = values.into_iter().chain(corners).filter(|it| it.is_finite());
    let (low, high) = finite
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

fn is_log(name: &str) -> Result<bool, Raised> {
    match name {
        "log" => Ok(true),
        "linear" => Ok(false),
        other => Err(value_error(format!(
            "'{other}' is not a valid value for scale; supported values are 'linear', 'log'"
        ))),
    }
}

fn x_scale(_cx: &mut Cx, args: Args<'_>) -> Res {
    let log = is_log(args.str(0)?)?;
    on_axes(|it| it.x.log = log);
    Ok(Value::None)
}

fn y_scale(_cx: &mut Cx, args: Args<'_>) -> Res {
    let log = is_log(args.str(0)?)?;
    on_axes(|it| it.y.log = log);
    Ok(Value::None)
}

fn x_ticks(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("xticks", args.dict(2)?)?;
    set_ticks(cx, &args, |it| &mut it.x)
}

fn y_ticks(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("yticks", args.dict(2)?)?;
    set_ticks(cx, &args, |it| &mut it.y)
}

fn set_ticks(cx: &mut Cx, args: &Args<'_>, scale: impl FnOnce(&mut Plot) -> &mut Scale) -> Res {
    let places = args.opt(0).map(|it| numbers(cx, it)).transpose()?;
    let names = args.opt(1).map(|it| texts(cx, it)).transpose()?;
    let ticks = match (places, names) {
        (Some(places), names) => ticks(&places, names)?,
        (None, Some(names)) => named_ticks(names),
        // Rotated labels, say: nothing changes.
        (None, None) => return Ok(Value::None),
    };
    keep(64 * Vec::len(&ticks))?;
    on_axes(|it| scale(it).ticks = Some(ticks));
    Ok(Value::None)
}

fn legend(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("legend", args.dict(1)?)?;
    let (handles, labels) = match args.rest(0) {
        [] => (options.get("handles"), options.get("labels")),
        [labels] if super::artist::is_drawn(labels) => (Some(labels.clone()), None),
        [labels] => (None, Some(labels.clone())),
        [handles, labels, ..] => (Some(handles.clone()), Some(labels.clone())),
    };
    let names = labels.map(|it| texts(cx, &it)).transpose()?.unwrap_or_default();
    match handles {
        Some(handles) => {
            // What is not among them is not listed.
            on_axes(|it| it.series.iter_mut().for_each(|series| series.look.unlisted = true));
            let mut names = names.into_iter();
            for handle in cx.collect(&handles)? {
                let (name, artist) = (names.next(), handle.downcast::<Artist>());
                let Some(artist) = artist.filter(|it| it.is_series()) else { continue };
                let is_here = artist.place.is(&target());
                let key = artist.with(|it| {
                    it.look.unlisted &= !is_here;
                    it.look.name = name.unwrap_or_else(|| std::mem::take(&mut it.look.name));
                    let look = Look { unlisted: false, ..it.look.clone() };
                    Series { look, style: it.style, ..Series::default() }
                })?;
                if !is_here {
                    // What stands on other axes, such as a twin, is listed by a series without points.
                    add(key)?;
                }
            }
        }
        None => on_axes(|it| {
            let listed = it.series.iter_mut().filter(|series| !series.look.unlisted);
            listed.zip(names).for_each(|(series, name)| series.look.name = name);
        }),
    }
    let spot = match options.get("loc") {
        Some(place) => spot(cx, &place)?,
        None => Spot::Best,
    };
    on_axes(|it| it.legend = Some(spot));
    Ok(Value::None)
}

/// The places of a legend by their names; a number counts them from 0.
static SPOTS: &[(&str, Spot)] = &[
    ("best", Spot::Best),
    ("upper right", Spot::At(Side::End, Side::End)),
    ("upper left", Spot::At(Side::Start, Side::End)),
    ("lower left", Spot::At(Side::Start, Side::Start)),
    ("lower right", Spot::At(Side::End, Side::Start)),
    ("right", Spot::At(Side::End, Side::Middle)),
    ("center left", Spot::At(Side::Start, Side::Middle)),
    ("center right", Spot::At(Side::End, Side::Middle)),
    ("lower center", Spot::At(Side::Middle, Side::Start)),
    ("upper center", Spot::At(Side::Middle, Side::End)),
    ("center", Spot::At(Side::Middle, Side::Middle)),
];

/// The place of a legend. A pair of coordinates means none of these: it is put where least is drawn.
fn spot(cx: &mut Cx, place: &Value) -> Result<Spot, Raised> {
    if place.as_tuple().is_some() {
        return Ok(Spot::Best);
    }
    let named = match place.as_int() {
        Some(code) => usize::try_from(code).ok().and_then(|it| SPOTS.get(it)),
        None => {
            let name = cx.str(place)?;
            SPOTS.iter().find(|it| it.0 == name)
        }
    };
    match named {
        Some((_, spot)) => Ok(*spot),
        None => {
            let given = cx.str(place)?;
            let names: Vec<String> = SPOTS.iter().map(|it| format!("'{}'", it.0)).collect();
            Err(value_error(format!(
                "'{given}' is not a valid value for loc; supported values are {}",
                names.join(", ")
            )))
        }
    }
}

fn grid(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("grid", args.dict(1)?)?;
    let on = cx.truth(&args[0])?;
    let axis = options.text("axis")?;
    let (x, y) = match axis.as_deref().unwrap_or("both") {
        "both" => (true, true),
        "x" => (true, false),
        "y" => (false, true),
        other => {
            return Err(value_error(format!(
                "'{other}' is not a valid value for axis; supported values are 'x', 'y', 'both'"
            )));
        }
    };
    on_axes(|it| {
        it.x.grid = if x { on } else { it.x.grid };
        it.y.grid = if y { on } else { it.y.grid };
    });
    Ok(Value::None)
}

fn axis(cx: &mut Cx, args: Args<'_>) -> Res {
    let Some(option) = args.rest(0).first() else { return Ok(Value::None) };
    if let Value::Bool(on) = option {
        on_axes(|it| it.bare = !on);
        return Ok(Value::None);
    }
    match option.as_str() {
        Some("off") => on_axes(|it| it.bare = true),
        Some("on") => on_axes(|it| it.bare = false),
        Some("equal" | "scaled" | "image" | "square") => {
            on_axes(|it| it.square = true);
        }
        Some("tight" | "auto") => {}
        Some(other) => {
            return Err(value_error(format!(
                "Unrecognized string '{other}' to axis; try 'on' or 'off'"
            )));
        }
        None => match numbers(cx, option)?.as_slice() {
            [left, right, bottom, top] => {
                set_limits((0.0, 1.0), Some((*left, *right)), |it| &mut it.x)?;
                set_limits((0.0, 1.0), Some((*bottom, *top)), |it| &mut it.y)?;
            }
            _ => return Err(value_error("axis takes [left, right, bottom, top]")),
        },
    }
    Ok(Value::None)
}

fn band(cx: &mut Cx, func: &str, args: &Args<'_>, ends: [usize; 2], upright: bool) -> Res {
    let options = Options::of(func, args.dict(args.all().len() - 1)?)?;
    let (from, to) = (args.float(ends[0])?, args.float(ends[1])?);
    let look = match from == to {
        // Lines across do not take a colour of the cycle.
        true => {
            let look = plain_look(cx, options)?;
            Look { color: look.color.or(Some(crate::shown::CYCLE[0])), ..look }
        }
        false => look(cx, options, Cycle::Fills)?,
    };
    let across = ends[1] + 1;
    let part = Some((args.float(across)?, args.float(across + 1)?));
    keep(size_of::<Band>())?;
    on_axes(|it| it.bands.push(Band { look, from, to, upright, part }));
    Ok(Value::None)
}

fn level_line(cx: &mut Cx, args: Args<'_>) -> Res {
    band(cx, "axhline", &args, [0, 0], false)
}

fn upright_line(cx: &mut Cx, args: Args<'_>) -> Res {
    band(cx, "axvline", &args, [0, 0], true)
}

fn level_stripe(cx: &mut Cx, args: Args<'_>) -> Res {
    band(cx, "axhspan", &args, [0, 1], false)
}

fn upright_stripe(cx: &mut Cx, args: Args<'_>) -> Res {
    band(cx, "axvspan", &args, [0, 1], true)
}

fn level_lines(cx: &mut Cx, args: Args<'_>) -> Res {
    let [ys, lows, highs] = segments(cx, &args)?;
    let options = Options::of("hlines", args.dict(4)?)?;
    let look = segments_look(cx, &args, options)?;
    let xs = lows.iter().zip(&highs).flat_map(|(low, high)| [*low, *high, f64::NAN]).collect();
    let ys = ys.iter().flat_map(|it| [*it; 3]).collect();
    add(Series { look, xs, ys, ..Series::default() })
}

fn upright_lines(cx: &mut Cx, args: Args<'_>) -> Res {
    let [xs, lows, highs] = segments(cx, &args)?;
    let options = Options::of("vlines", args.dict(4)?)?;
    let look = segments_look(cx, &args, options)?;
    let ys = lows.iter().zip(&highs).flat_map(|(low, high)| [*low, *high, f64::NAN]).collect();
    let xs = xs.iter().flat_map(|it| [*it; 3]).collect();
    add(Series { look, xs, ys, ..Series::default() })
}

/// The places of lines and their ends, as many of each.
fn segments(cx: &mut Cx, args: &Args<'_>) -> Result<[Vec<f64>; 3], Raised> {
    let mut parts = [numbers(cx, &args[0])?, numbers(cx, &args[1])?, numbers(cx, &args[2])?];
    let count = parts.iter().map(Vec::len).max().unwrap_or(0);
    for part in &mut parts {
        if part.len() == 1 {
            *part = vec![part[0]; count];
        }
        values::same_length(("the ends", part.len()), ("the lines", count))?;
    }
    Ok(parts)
}

fn segments_look(cx: &mut Cx, args: &Args<'_>, options: Options<'_>) -> Result<Look, Raised> {
    let mut look = plain_look(cx, options)?;
    if let Some(colors) = args.opt(3) {
        let first = match colors.as_str() {
            Some(_) => Some(colors.clone()),
            None => cx.collect(colors)?.first().cloned(),
        };
        if let Some(first) = first {
            look.color = color(cx, &first)?;
        }
    }
    if look.color.is_none() {
        look.color = Some(on_pane(|it| it.next_color(Cycle::Lines)));
    }
    Ok(look)
}

fn clear(_cx: &mut Cx, _args: Args<'_>) -> Res {
    on_pane(Pane::clear);
    Ok(Value::None)
}
