//! How values are distributed: histograms.

use super::artist::{array, artists};
use super::canvas::{Cycle, on_axes};
use super::draw::{add, listed_colors};
use super::options::Options;
use super::style::{look, uncolored_look};
use super::values::{columns, grid, number, numbers, same_length, texts};
use crate::native::*;
use crate::shown::{Look, Series, SeriesStyle};

/// The functions that count; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[function(
    "hist",
    "x, bins=10, range=None, density=False, weights=None, cumulative=False, **options",
    "How many values fall into each bin: (counts, edges, what was drawn). Several sets of values stand side by side.",
    hist,
)];

/// The most bins.
const MOST: usize = 10_000;

struct Bins {
    edges: Vec<f64>,
}

impl Bins {
    /// The bin that a value falls into; the last one has both its ends.
    fn of(&self, value: f64) -> Option<usize> {
        let count = self.edges.len() - 1;
        if !(self.edges[0] <= value && value <= self.edges[count]) {
            return None;
        }
        Some((self.edges.partition_point(|it| *it <= value) - 1).min(count - 1))
    }

    fn are_equal(&self) -> bool {
        let widths = || self.edges.windows(2).map(|it| it[1] - it[0]);
        let (least, most) = (widths().fold(f64::INFINITY, f64::min), widths().fold(0.0, f64::max));
        most - least <= 1e-6 * most
    }

    fn counts(&self, values: &[f64], weights: Option<&[f64]>) -> Vec<f64> {
        let mut counts = vec![0.0; self.edges.len() - 1];
        for (at, value) in values.iter().enumerate() {
            if let Some(bin) = self.of(*value) {
                counts[bin] += weights.map_or(1.0, |it| it[at]);
            }
        }
        counts
    }
}

fn hist(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("hist", args.dict(6)?)?;
    let sets = sets(cx, &args[0])?;
    let bins = bins(cx, &args, &sets)?;
    let weights = args.opt(4).map(|it| self::sets(cx, it)).transpose()?;
    for (at, values) in sets.iter().enumerate() {
        let weights = weights.as_ref().map(|it| it.get(at).map_or(0, Vec::len));
        same_length(("weights", weights.unwrap_or(values.len())), ("x", values.len()))?;
    }
    let (density, cumulative) = (cx.truth(&args[3])?, cx.truth(&args[5])?);
    let names = names(cx, options)?;
    let sideways = options.text("orientation")?.as_deref() == Some("horizontal");
    let (is_log, stacked) = (options.flag(cx, "log")?, options.flag(cx, "stacked")?);
    let colors = listed_colors(cx, options, sets.len())?;
    let (mut all, mut drawn): (Vec<Vec<f64>>, Vec<Value>) = (Vec::new(), Vec::new());
    for (at, values) in sets.iter().enumerate() {
        let mut counts = bins.counts(values, weights.as_ref().map(|it| it[at].as_slice()));
        if density {
            let total: f64 = counts.iter().sum();
            let widths = bins.edges.windows(2).map(|it| it[1] - it[0]);
            counts
                .iter_mut()
                .zip(widths)
                .for_each(|(it, width)| *it /= (total * width).max(f64::MIN_POSITIVE));
        }
        if cumulative {
            let widths: Vec<f64> = bins.edges.windows(2).map(|it| it[1] - it[0]).collect();
            let mut sum = 0.0;
            for (it, width) in counts.iter_mut().zip(widths) {
                sum += if density { *it * width } else { *it };
                *it = sum;
            }
        }
        let mut look = match &colors {
            Some(colors) => Look { color: Some(colors[at]), ..uncolored_look(cx, options)? },
            None => look(cx, options, Cycle::Fills)?,
        };
        look.name = names.get(at).cloned().unwrap_or_default();
        let outline = options.text("histtype")?.as_deref() == Some("step");
        // Stacked sets stand on those before.
        let base = if stacked { all.last().cloned() } else { None };
        if let Some(base) = &base {
            counts.iter_mut().zip(base).for_each(|(count, base)| *count += base);
        }
        let (place, places) = if stacked { (0, 1) } else { (at, sets.len()) };
        let series = match outline {
            true => outline_of(&bins, &counts),
            false if bins.are_equal() => bars_of(&bins, &counts, place, places, sideways),
            false => Series { style: SeriesStyle::Area, ..outline_of(&bins, &counts) },
        };
        let base = if series.style == SeriesStyle::Area { None } else { base };
        drawn.push(add(Series { look, base: base.unwrap_or_default(), ..series })?);
        all.push(counts);
    }
    if is_log {
        on_axes(|it| if sideways { it.x.log = true } else { it.y.log = true });
    }
    let mut all = all.iter().map(|it| array(it)).collect::<Result<Vec<_>, _>>()?;
    let counts = if all.len() == 1 { all.remove(0) } else { Value::list(all) };
    let patches = if drawn.len() == 1 { drawn.remove(0) } else { artists(drawn) };
    Ok(Value::tuple([counts, array(&bins.edges)?, patches]))
}

/// One set of values, or several.
pub(super) fn sets(cx: &mut Cx, value: &Value) -> Result<Vec<Vec<f64>>, Raised> {
    let is_many = match value {
        Value::List(items) => {
            let first = items.copied()?.first().cloned();
            first.is_some_and(|it| number(&it).is_none() && it.as_str().is_none())
        }
        _ => false,
    };
    if !is_many {
        return match grid(cx, value)? {
            // No sets at all are one without values.
            Some(it) if it.width == 0 => Ok(vec![Vec::new()]),
            Some(_) => columns(cx, value),
            None => Ok(vec![numbers(cx, value)?]),
        };
    }
    cx.collect(value)?.iter().map(|it| numbers(cx, it)).collect()
}

fn names(cx: &mut Cx, options: Options<'_>) -> Result<Vec<String>, Raised> {
    let Some(label) = options.get("label") else { return Ok(Vec::new()) };
    texts(cx, &label)
}

/// The edges: those given, or equal ones over the range.
fn bins(cx: &mut Cx, args: &Args<'_>, sets: &[Vec<f64>]) -> Result<Bins, Raised> {
    let count = match args.opt(1) {
        None => 10,
        Some(it) => match (it.as_str(), number(it)) {
            // Sturges' rule.
            (Some("auto" | "sturges"), _) => {
                let most = sets.iter().map(Vec::len).max().unwrap_or(1).max(1);
                (most as f64).log2().ceil() as usize + 1
            }
            (Some(other), _) => {
                return Err(value_error(format!(
                    "'{other}' is not a valid estimator for `bins`: give a number or the edges"
                )));
            }
            (None, Some(count)) if count >= 1.0 && count.fract() == 0.0 => count as usize,
            (None, Some(_)) => {
                return Err(value_error("`bins` must be a positive integer or the edges"));
            }
            (None, None) => return given_edges(numbers(cx, it)?),
        },
    };
    if count > MOST {
        return Err(value_error(format!("these are more than {MOST} bins")));
    }
    let (low, high) = match args.opt(2).map(|it| numbers(cx, it)).transpose()?.as_deref() {
        Some([low, high]) if low < high => (*low, *high),
        Some(_) => return Err(value_error("range is two numbers, the smaller first")),
        None => ends(sets)?,
    };
    let at = |it: usize| low + (high - low) * it as f64 / count as f64;
    let mut edges: Vec<f64> = (0..=count).map(at).collect();
    edges[count] = high;
    Ok(Bins { edges })
}

fn given_edges(edges: Vec<f64>) -> Result<Bins, Raised> {
    if edges.len() < 2 || !edges.windows(2).all(|it| it[0] <= it[1]) {
        return Err(value_error("`bins` must increase monotonically, when an array"));
    }
    Ok(Bins { edges })
}

/// The least and the greatest value, apart.
fn ends(sets: &[Vec<f64>]) -> Result<(f64, f64), Raised> {
    let values = || sets.iter().flatten().copied();
    if values().any(f64::is_infinite) {
        return Err(value_error("hist() was given infinite values; choose range=(low, high)"));
    }
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    Ok(match (low < high, low.is_finite()) {
        (true, _) => (low, high),
        (false, true) => (low - 0.5, high + 0.5),
        (false, false) => (0.0, 1.0),
    })
}

/// Bars; several sets share the room of a bin.
fn bars_of(bins: &Bins, counts: &[f64], at: usize, sets: usize, sideways: bool) -> Series {
    let least = bins.edges.windows(2).map(|it| it[1] - it[0]).fold(f64::INFINITY, f64::min);
    let width = if sets == 1 { least } else { 0.8 * least / sets as f64 };
    let shift = (at as f64 - (sets - 1) as f64 / 2.0) * width;
    let middles = bins.edges.windows(2).map(|it| (it[0] + it[1]) / 2.0 + shift).collect();
    let (xs, ys, style) = match sideways {
        false => (middles, counts.to_vec(), SeriesStyle::Bar),
        true => (counts.to_vec(), middles, SeriesStyle::LyingBar),
    };
    Series { style, xs, ys, bar_width: width, ..Series::default() }
}

/// The outline of the bars.
fn outline_of(bins: &Bins, counts: &[f64]) -> Series {
    let xs: Vec<f64> = bins.edges.iter().flat_map(|it| [*it; 2]).collect();
    let inner = counts.iter().flat_map(|it| [*it; 2]);
    let ys = std::iter::once(0.0).chain(inner).chain([0.0]).collect();
    Series { xs, ys, ..Series::default() }
}
