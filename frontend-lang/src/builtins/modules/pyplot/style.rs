//! Keyword options and format strings: how what is drawn looks.

use super::canvas::{Cycle, on_pane};
use super::colors::color;
use super::values::number;
use crate::native::*;
use crate::shown::{Dash, Look, Rgb};
use crate::suggest::nearest;

/// Pixels of a point, the unit of widths and sizes: figures have 80 pixels to the inch, which has 72 points.
pub(super) const PIXELS: f64 = 80.0 / 72.0;

/// Options that change what is drawn.
const KNOWN: &[&str] = &[
    "align",
    "alpha",
    "arrowprops",
    "c",
    "cmap",
    "color",
    "colors",
    "ec",
    "ecolor",
    "edgecolor",
    "edgecolors",
    "extent",
    "facecolor",
    "facecolors",
    "fc",
    "ha",
    "handles",
    "histtype",
    "horizontalalignment",
    "label",
    "labels",
    "linestyle",
    "linestyles",
    "linewidth",
    "linewidths",
    "loc",
    "log",
    "ls",
    "lw",
    "marker",
    "markersize",
    "ms",
    "norm",
    "orientation",
    "origin",
    "projection",
    "stacked",
    "textcoords",
    "tick_label",
    "transform",
    "va",
    "verticalalignment",
    "vmax",
    "vmin",
    "xerr",
    "xycoords",
    "yerr",
];

/// Options that are taken and leave no trace: figures have one size of letters, no frames, and lay themselves out.
const WITHOUT_EFFECT: &[&str] = &[
    "alignment",
    "animated",
    "annotation_clip",
    "antialiased",
    "aspect",
    "axis",
    "backgroundcolor",
    "bbox",
    "bbox_to_anchor",
    "borderaxespad",
    "borderpad",
    "capsize",
    "capthick",
    "clear",
    "clip_on",
    "columnspacing",
    "constrained_layout",
    "dashes",
    "data",
    "dpi",
    "elinewidth",
    "error_kw",
    "extend",
    "family",
    "fancybox",
    "figsize",
    "fill",
    "filternorm",
    "filterrad",
    "fontdict",
    "fontfamily",
    "fontsize",
    "fontstyle",
    "fontweight",
    "framealpha",
    "frameon",
    "gridspec_kw",
    "handlelength",
    "handletextpad",
    "hatch",
    "height_ratios",
    "interpolation",
    "labelcolor",
    "labelpad",
    "labelspacing",
    "layout",
    "linespacing",
    "markeredgecolor",
    "markeredgewidth",
    "markerfacecolor",
    "markerscale",
    "markevery",
    "mec",
    "mew",
    "mfc",
    "minor",
    "mode",
    "multialignment",
    "ncol",
    "ncols",
    "numpoints",
    "pad",
    "picker",
    "prop",
    "rasterized",
    "resample",
    "reverse",
    "rotation",
    "rwidth",
    "scalex",
    "scaley",
    "scatterpoints",
    "shading",
    "shadow",
    "sharex",
    "sharey",
    "size",
    "snap",
    "solid_capstyle",
    "style",
    "subplot_kw",
    "tight_layout",
    "title",
    "title_fontsize",
    "url",
    "visible",
    "weight",
    "which",
    "width",
    "width_ratios",
    "wrap",
    "x",
    "y",
    "zorder",
];

/// The keyword options of a call.
#[derive(Clone, Copy)]
pub(super) struct Options<'a>(&'a Dict);

/// The options that say in which colour something is drawn.
pub(super) const COLOR: &[&str] = &["color", "c", "colors", "facecolor", "fc", "facecolors"];

impl<'a> Options<'a> {
    /// The options that `func` was given; one that nobody knows is a `TypeError`.
    pub(super) fn of(func: &str, options: &'a Dict) -> Result<Options<'a>, Raised> {
        for name in options.keys() {
            let name = name.as_str().unwrap_or_default();
            if KNOWN.contains(&name) || WITHOUT_EFFECT.contains(&name) {
                continue;
            }
            let near = nearest(name, KNOWN.iter().chain(WITHOUT_EFFECT).copied());
            let hint = near.map_or_else(String::new, |it| format!(". Did you mean '{it}'?"));
            let told = format!("{func}() got an unexpected keyword argument '{name}'{hint}");
            return Err(type_error(told));
        }
        Ok(Options(options))
    }

    /// The value of an option; `None` if it was not given or is None.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        self.0.get_str(name).filter(|it| !it.is_none())
    }

    /// The first of several names that was given.
    pub(super) fn any(&self, names: &[&str]) -> Option<Value> {
        names.iter().find_map(|it| self.get(it))
    }

    /// An option that is a number.
    pub(super) fn number(&self, names: &[&str]) -> Result<Option<f64>, Raised> {
        let Some(value) = self.any(names) else { return Ok(None) };
        let found = number(&value).filter(|it| it.is_finite());
        found.map(Some).ok_or_else(|| {
            type_error(format!("{} is a number, not {}", names[0], type_name(&value)))
        })
    }

    /// An option that is on or off; it is off if it was not given.
    pub(super) fn flag(&self, cx: &mut Cx, name: &str) -> Result<bool, Raised> {
        self.get(name).map_or(Ok(false), |it| cx.truth(&it))
    }

    /// An option that is a text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Raised> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let text = value.as_str().map(str::to_owned);
        text.map(Some)
            .ok_or_else(|| type_error(format!("{name} is a string, not {}", type_name(&value))))
    }
}

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
    look.line_width = options.number(&["linewidth", "lw", "linewidths"])?.map(|it| it * PIXELS);
    look.radius = options.number(&["markersize", "ms"])?.map(|it| it / 2.0 * PIXELS);
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

fn dash(cx: &mut Cx, style: &Value) -> Result<Option<Dash>, Raised> {
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
