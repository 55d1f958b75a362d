//! Sets of values in five numbers each: box plots.

use super::artist::artists;
use super::canvas::on_axes;
use super::counts::sets;
use super::draw::add;
use super::options::Options;
use super::style::plain_look;
use super::ticks::ticks;
use super::values::{numbers, same_length, texts};
use crate::native::*;
use crate::shown::{Look, Rgb, Series, SeriesStyle};

/// The functions that sum values up; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[function(
    "boxplot",
    "x, *, vert=True, whis=1.5, positions=None, widths=None, tick_labels=None, showfliers=True, showmeans=False, **options",
    "A box from the first quartile to the third of each set, a line at its median, whiskers to the last values within 1.5 of its height.",
    boxplot,
)];

const INK: Rgb = [40; 3];
const MEDIAN: Rgb = [213, 94, 0];
const MEAN: Rgb = [0, 158, 115];

/// What is told of a set of values.
struct Summary {
    mean: f64,
    /// First quartile, median, third quartile.
    quartiles: [f64; 3],
    /// The ends of the whiskers.
    low: f64,
    high: f64,
    /// The values beyond them.
    beyond: Vec<f64>,
}

impl Summary {
    /// Whiskers end at the last values within `reach` times the distance of the quartiles; NaN where there are no values.
    fn of(mut values: Vec<f64>, reach: f64) -> Summary {
        values.retain(|it| !it.is_nan());
        values.sort_by(f64::total_cmp);
        let quartiles = [0.25, 0.5, 0.75].map(|it| quantile(&values, it));
        let [first, _, third] = quartiles;
        let far = reach * (third - first);
        let within = |it: &&f64| (first - far..=third + far).contains(*it);
        let low = values.iter().find(within).map_or(first, |it| it.min(first));
        let high = values.iter().rev().find(within).map_or(third, |it| it.max(third));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let beyond = values.iter().copied().filter(|it| *it < low || *it > high).collect();
        Summary { mean, quartiles, low, high, beyond }
    }
}

/// The value that so large a part of the sorted values lies below, between the two nearest (Hyndman and Fan 1996, type 7).
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = part * last as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * place.fract()
}

fn boxplot(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("boxplot", args.dict(8)?)?;
    let look = plain_look(cx, options)?;
    let sets = sets(cx, &args[0])?;
    let (upright, reach) = (cx.truth(&args[1])?, args.float(2)?);
    let sideways = options.text("orientation")?.as_deref() == Some("horizontal");
    let upright = upright && !sideways;
    let count = sets.len();
    let places = match args.opt(3) {
        Some(it) => numbers(cx, it)?,
        None => (1..=count).map(|it| it as f64).collect(),
    };
    same_length(("positions", places.len()), ("x", count))?;
    let span = places.iter().fold(f64::NEG_INFINITY, |most, it| most.max(*it))
        - places.iter().fold(f64::INFINITY, |least, it| least.min(*it));
    let widths = match args.opt(4).map(|it| numbers(cx, it)).transpose()? {
        Some(one) if one.len() == 1 => vec![one[0]; count],
        Some(all) => all,
        None => vec![(0.15 * span).clamp(0.15, 0.5); count],
    };
    same_length(("widths", widths.len()), ("x", count))?;
    name_places(cx, args.opt(5), &places, upright)?;
    let (with_beyond, with_means) = (cx.truth(&args[6])?, cx.truth(&args[7])?);
    let mut drawn = Parts { upright, look, ..Parts::default() };
    for ((values, at), width) in sets.into_iter().zip(&places).zip(&widths) {
        cx.poll()?;
        let summary = Summary::of(values, reach);
        drawn.draw(*at, width / 2.0, &summary)?;
        if with_beyond {
            let points = vec![*at; summary.beyond.len()];
            drawn.fliers.push(drawn.dots(points, summary.beyond, INK)?);
        }
        if with_means {
            drawn.means.push(drawn.dots(vec![*at], vec![summary.mean], MEAN)?);
        }
    }
    Ok(drawn.into_dict())
}

/// Names where the boxes stand: those given, or their numbers.
fn name_places(
    cx: &mut Cx,
    names: Option<&Value>,
    places: &[f64],
    upright: bool,
) -> Result<(), Raised> {
    let names = names.map(|it| texts(cx, it)).transpose()?;
    let ticks = ticks(places, names)?;
    let ends = |far: fn(f64, f64) -> f64, start| places.iter().fold(start, |end, it| far(end, *it));
    let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY));
    on_axes(|it| {
        let scale = if upright { &mut it.x } else { &mut it.y };
        scale.ticks.get_or_insert_default().extend(ticks);
        let (from, to) = scale.range.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
        if low <= high {
            scale.range = Some((from.min(low - 0.5), to.max(high + 0.5)));
        }
    });
    Ok(())
}

/// What was drawn, by kind, as `boxplot` returns it.
#[derive(Default)]
struct Parts {
    upright: bool,
    look: Look,
    boxes: Vec<Value>,
    medians: Vec<Value>,
    whiskers: Vec<Value>,
    caps: Vec<Value>,
    fliers: Vec<Value>,
    means: Vec<Value>,
}

impl Parts {
    /// The box of a set with its whiskers, `half` to both sides of its place.
    fn draw(&mut self, at: f64, half: f64, of: &Summary) -> Result<(), Raised> {
        let [first, median, third] = of.quartiles;
        let (left, right) = (at - half, at + half);
        let corners = vec![left, right, right, left, left];
        self.boxes.push(self.line(corners, vec![first, first, third, third, first], INK)?);
        for (from, to) in [(first, of.low), (third, of.high)] {
            self.whiskers.push(self.line(vec![at, at], vec![from, to], INK)?);
            let cap = vec![at - half / 2.0, at + half / 2.0];
            self.caps.push(self.line(cap, vec![to, to], INK)?);
        }
        self.medians.push(self.line(vec![left, right], vec![median, median], MEDIAN)?);
        Ok(())
    }

    fn line(&self, along: Vec<f64>, values: Vec<f64>, color: Rgb) -> Res {
        self.add(SeriesStyle::Line, along, values, color)
    }

    fn dots(&self, along: Vec<f64>, values: Vec<f64>, color: Rgb) -> Res {
        self.add(SeriesStyle::Scatter, along, values, color)
    }

    fn add(&self, style: SeriesStyle, along: Vec<f64>, values: Vec<f64>, color: Rgb) -> Res {
        let color = self.look.color.unwrap_or(color);
        let hollow = style == SeriesStyle::Scatter;
        let look = Look { color: Some(color), hollow, line_width: Some(1.5), ..self.look.clone() };
        let (xs, ys) = if self.upright { (along, values) } else { (values, along) };
        add(Series { look, style, xs, ys, ..Series::default() })
    }

    fn into_dict(self) -> Value {
        let kinds = [
            ("whiskers", self.whiskers),
            ("caps", self.caps),
            ("boxes", self.boxes),
            ("medians", self.medians),
            ("fliers", self.fliers),
            ("means", self.means),
        ];
        let all = Dict::default();
        for (name, drawn) in kinds {
            all.insert_name(Sym::of(name), artists(drawn));
        }
        Value::Dict(all.into())
    }
}
