//! Colours by name, and colour maps; `colors.txt` has them from matplotlib.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::values::number;
use crate::native::*;
use crate::shown::{CYCLE, Rgb};
use crate::suggest::nearest;

/// Names and maps as `tests/expected/generate_colors.py` writes them.
static FILE: &str = include_str!("colors.txt");

#[derive(Default)]
struct Known {
    names: FxHashMap<&'static str, Rgb>,
    maps: FxHashMap<&'static str, Map>,
}

/// From numbers to colours.
#[derive(Clone, Debug)]
pub(super) struct Map {
    stops: Vec<Rgb>,
    /// Whether there are only the stops, and no mixtures.
    listed: bool,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known = Known::default();
        for line in FILE.lines() {
            let mut words = line.split(' ');
            let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
            let stops: Vec<Rgb> = words.filter_map(hex).collect();
            match (kind, stops.as_slice()) {
                ("name", [color]) => _ = known.names.insert(name, *color),
                ("map", _) => _ = known.maps.insert(name, Map { stops, listed: false }),
                ("list", _) => _ = known.maps.insert(name, Map { stops, listed: true }),
                _ => {}
            }
        }
        known
    })
}

/// Six digits.
fn hex(digits: &str) -> Option<Rgb> {
    let value = u32::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 6)?;
    let [_, red, green, blue] = value.to_be_bytes();
    Some([red, green, blue])
}

/// A colour as matplotlib takes it: a name, `#rrggbb`, `C0`, a grey such as `'0.5'`, or three numbers from 0 to 1.
///
/// `Ok(None)`: 'none', no colour at all.
pub(super) fn color(cx: &mut Cx, value: &Value) -> Result<Option<Rgb>, Raised> {
    if let Some(name) = value.as_str() {
        return named(name);
    }
    let parts: Vec<f64> = match value {
        Value::Tuple(_) | Value::List(_) | Value::Tensor(_) => super::values::numbers(cx, value)?,
        _ => Vec::new(),
    };
    match parts.as_slice() {
        [red, green, blue] | [red, green, blue, _]
            if parts.iter().all(|it| (0.0..=1.0).contains(it)) =>
        {
            Ok(Some([*red, *green, *blue].map(|it| (it * 255.0).round() as u8)))
        }
        _ => Err(value_error(format!(
            "{} is not a valid value for color: give a name, '#rrggbb', or three numbers from 0 to 1",
            cx.repr(value)?
        ))),
    }
}

/// What a colour option means for several things.
pub(super) enum Colors {
    /// One colour for all; `None`: no colour at all.
    One(Option<Rgb>),
    /// A colour for each.
    Each(Vec<Rgb>),
}

/// A colour, or a sequence of them; three numbers from 0 to 1 are one colour.
pub(super) fn colors_of(cx: &mut Cx, value: &Value) -> Result<Colors, Raised> {
    if value.as_str().is_some() {
        return color(cx, value).map(Colors::One);
    }
    let items = match value.as_tensor() {
        Some(it) if it.get().rank() == 1 => return color(cx, value).map(Colors::One),
        _ => cx.collect(value)?,
    };
    if !items.is_empty() && items.iter().all(|it| number(it).is_some()) {
        return color(cx, &Value::list(items)).map(Colors::One);
    }
    let mut colors = Vec::with_capacity(items.len());
    for it in &items {
        cx.poll()?;
        colors.push(color(cx, it)?.unwrap_or([255; 3]));
    }
    Ok(Colors::Each(colors))
}

/// The colours that a value names for `count` things, taken in turn; `None`: it is one colour.
pub(super) fn all_of(cx: &mut Cx, value: &Value, count: usize) -> Result<Option<Vec<Rgb>>, Raised> {
    Ok(match colors_of(cx, value)? {
        Colors::Each(colors) if !colors.is_empty() => {
            Some((0..count).map(|it| colors[it % colors.len()]).collect())
        }
        _ => None,
    })
}

fn named(name: &str) -> Result<Option<Rgb>, Raised> {
    if matches!(name, "none" | "None") {
        return Ok(None);
    }
    let lower = name.to_lowercase();
    let grey = || lower.parse::<f64>().ok().filter(|it| (0.0..=1.0).contains(it));
    let cycle = || name.strip_prefix('C').and_then(|it| it.parse::<usize>().ok());
    let found = known().names.get(lower.as_str()).copied();
    let found = found
        .or_else(|| name.strip_prefix('#').and_then(of_digits))
        .or_else(|| cycle().map(|it| CYCLE[it % CYCLE.len()]))
        .or_else(|| grey().map(|it| [(it * 255.0).round() as u8; 3]));
    if found.is_some() {
        return Ok(found);
    }
    let near = nearest(&lower, known().names.keys().copied());
    let hint = near.map_or_else(
        || "give a name, '#rrggbb', or three numbers from 0 to 1".to_owned(),
        |it| format!("did you mean '{it}'?"),
    );
    Err(value_error(format!("'{name}' is not a valid value for color: {hint}")))
}

/// `rgb`, `rrggbb`, or either with opacity, which is left out.
fn of_digits(digits: &str) -> Option<Rgb> {
    match digits.len() {
        6 => hex(digits),
        8 => hex(digits.get(..6)?),
        3 | 4 => hex(&digits.chars().take(3).flat_map(|it| [it, it]).collect::<String>()),
        _ => None,
    }
}

/// The map of a name; `_r` at its end turns it round.
pub(super) fn map(name: &str) -> Result<Map, Raised> {
    let (plain, is_turned) = match name.strip_suffix("_r") {
        Some(plain) => (plain, true),
        None => (name, false),
    };
    let mut found = known().maps.get(plain).cloned().ok_or_else(|| {
        let mut names: Vec<&str> = known().maps.keys().copied().collect();
        names.sort_unstable();
        let hint = match nearest(plain, names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("there are {}", names.join(", ")),
        };
        value_error(format!("'{name}' is not a valid value for cmap: {hint}"))
    })?;
    if is_turned {
        found.stops.reverse();
    }
    Ok(found)
}

/// The map that an option asks for: by name, or one of `matplotlib.cm`.
pub(super) fn map_of(cx: &mut Cx, value: Option<&Value>) -> Result<Map, Raised> {
    let Some(value) = value else {
        return map(super::settings::settings().map.as_deref().unwrap_or("viridis"));
    };
    if let Some(name) = value.as_str() {
        return map(name);
    }
    let colors = cx.getattr(value, Sym::of("colors"))?;
    if colors.is_none() {
        let name = cx.getattr(value, Sym::of("name"))?;
        return map(name.as_str().unwrap_or("viridis"));
    }
    let mut stops = Vec::new();
    for it in &cx.collect(&colors)? {
        stops.extend(color(cx, it)?);
    }
    match stops.is_empty() {
        true => Err(value_error("a colour map needs a colour")),
        false => Ok(Map { stops, listed: true }),
    }
}

impl Map {
    /// How many colours there are: those listed, or as many as matplotlib tells apart.
    pub(super) fn count(&self) -> usize {
        if self.listed { self.stops.len() } else { 256 }
    }

    /// The colour of a place from 0 to 1; what is no number is grey.
    pub(super) fn at(&self, place: f64) -> Rgb {
        if place.is_nan() {
            return [200; 3];
        }
        let place = place.clamp(0.0, 1.0);
        let count = self.stops.len();
        if self.listed {
            return self.stops[((place * count as f64) as usize).min(count - 1)];
        }
        let place = place * (count - 1) as f64;
        let low = (place as usize).min(count.saturating_sub(2));
        let high = (low + 1).min(count - 1);
        let part = place - low as f64;
        let mix = |at: usize| {
            let (low, high) = (f64::from(self.stops[low][at]), f64::from(self.stops[high][at]));
            (low + (high - low) * part).round() as u8
        };
        [mix(0), mix(1), mix(2)]
    }
}

/// The names of all maps, sorted.
pub(super) fn maps() -> Vec<&'static str> {
    let mut names: Vec<&str> = known().maps.keys().copied().collect();
    names.sort_unstable();
    names
}
