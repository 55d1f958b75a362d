//! How what is drawn looks, as options and format strings say.

use super::canvas::{Cycle, on_pane};
use super::colors::color;
use super::options::Options;
use super::settings::settings;
use crate::native::*;
use crate::shown::{Dash, Look, Rgb};

/// Pixels of a point, the unit of widths and sizes: figures have 80 pixels to the inch, which has 72 points.
pub(super) const PIXELS: f64 = 80.0 / 72.0;

/// The options that say in which colour something is drawn.
pub(super) const COLOR: &[&str] = &["color", "c", "colors", "facecolor", "fc", "facecolors"];

/// How a series is to look; without a colour it takes the next one of its cycle.
pub(super) fn look(cx: &mut Cx, options: Options<'_>, cycle: Cycle) -> Result<Look, Raised> {
    let mut look = plain_look(cx, options)?;
    if look.color.is_none() {
        look.color = Some(on_pane(|it| it.next_color(cycle)));
    }
    Ok(look)
}

/// How something is to look, without a colour if none was asked for.
pub(super) fn plain_look(cx: &mut Cx, options: Options<'_>) -> Result<Look, Raised> {
    let mut look = uncolored_look(cx, options)?;
    if let Some(value) = options.any(COLOR) {
        match color(cx, &value)? {
            Some(color) => look.color = Some(color),
            None => hollow(cx, options, &mut look)?,
        }
    }
    Ok(look)
}

/// Leaves out the inside: dots have edges only, and without a colour of those there is nothing to see.
pub(super) fn hollow(cx: &mut Cx, options: Options<'_>, look: &mut Look) -> Result<(), Raised> {
    look.hollow = true;
    let edge = options.any(&["edgecolors", "edgecolor", "ec"]);
    look.color = edge.map_or(Ok(None), |it| color(cx, &it))?;
    if look.color.is_none() {
        look.opacity = Some(0.0);
    }
    Ok(())
}

/// How something is to look but for its colour.
pub(super) fn uncolored_look(cx: &mut Cx, options: Options<'_>) -> Result<Look, Raised> {
    let mut look = Look::default();
    if let Some(label) = options.get("label") {
        look.name = cx.str(&label)?;
        // As in matplotlib, such names stay out of the legend.
        if look.name.starts_with('_') {
            look.name.clear();
        }
    }
    if let Some(opacity) = options.number(&["alpha"])? {
        if !(0.0..=1.0).contains(&opacity) {
            return Err(value_error(format!("alpha ({opacity}) is outside 0-1 range")));
        }
        look.opacity = Some(opacity);
    }
    let usual = settings();
    let width = options.number(&["linewidth", "lw", "linewidths"])?.or(usual.line_width);
    look.line_width = width.map(|it| it * PIXELS);
    let size = options.number(&["markersize", "ms"])?.or(usual.marker_size);
    look.radius = size.map(|it| it / 2.0 * PIXELS);
    if let Some(value) = options.get("marker") {
        look.markers = !matches!(value.as_str(), Some("" | " " | "None" | "none"));
    }
    if let Some(style) = options.any(&["linestyle", "ls", "linestyles"]) {
        // Of several, for several lines, the first.
        let first = style.as_list().and_then(|it| it.items.borrow().first().cloned());
        look.dash = dash(cx, &first.unwrap_or(style))?.unwrap_or_default();
    }
    Ok(look)
}

/// Whether the options say that points are not joined.
pub(super) fn is_unjoined(options: Options<'_>) -> bool {
    let style = options.any(&["linestyle", "ls"]);
    style.is_some_and(|it| matches!(it.as_str(), Some("" | " " | "None" | "none")))
}

pub(super) fn dash(cx: &mut Cx, style: &Value) -> Result<Option<Dash>, Raised> {
    Ok(Some(match style.as_str() {
        Some("-" | "solid") => Dash::Solid,
        Some("--" | "dashed" | "-." | "dashdot") => Dash::Dashed,
        Some(":" | "dotted") => Dash::Dotted,
        Some("" | " " | "None" | "none") => return Ok(None),
        // (offset, (on, off ...))
        None if style.as_tuple().is_some() => Dash::Dashed,
        _ => {
            return Err(value_error(format!(
                "{} is not a valid value for ls; supported values are '-', '--', '-.', ':', 'None'",
                cx.repr(style)?
            )));
        }
    }))
}

/// What a format string such as `'ro--'` says.
#[derive(Default)]
pub(super) struct Format {
    pub(super) color: Option<Rgb>,
    pub(super) markers: bool,
    /// `None`: nothing was said of a line.
    pub(super) line: Option<Dash>,
}

/// Reads a format string: a colour, a marker and a line, in any order.
pub(super) fn format(cx: &mut Cx, text: &str) -> Result<Format, Raised> {
    let mut format = Format::default();
    // A whole name, such as 'green'.
    if text.chars().count() > 1
        && let Ok(Some(found)) = color(cx, &Value::str(text))
    {
        format.color = Some(found);
        return Ok(format);
    }
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let lines =
            [("--", Dash::Dashed), ("-.", Dash::Dashed), ("-", Dash::Solid), (":", Dash::Dotted)];
        if let Some((mark, dash)) = lines.iter().find(|it| rest.starts_with(it.0)) {
            format.line = Some(*dash);
            rest = &rest[mark.len()..];
            continue;
        }
        let digits = |it: &str| it.bytes().take_while(u8::is_ascii_digit).count();
        let cycle = rest.strip_prefix('C').map_or(0, digits);
        if cycle > 0 {
            format.color = color(cx, &Value::str(&rest[..=cycle]))?;
            rest = &rest[1 + cycle..];
            continue;
        }
        if "bgrcmykw".contains(letter) {
            format.color = color(cx, &Value::str(letter.to_string()))?;
        } else if ".,ov^<>12348spP*hH+xXDd|_".contains(letter) {
            format.markers = true;
        } else {
            return Err(value_error(format!(
                "'{text}' is not a valid format string (unrecognized character '{letter}')"
            )));
        }
        rest = &rest[letter.len_utf8()..];
    }
    Ok(format)
}
