//! `rcParams`: the settings that count here. `std/matplotlib/_settings.ng` keeps all of them and hands each change on.

use std::cell::RefCell;

use super::colors::map;
use super::figures::size_of_figure;
use super::options;
use super::values::number;
use crate::native::*;
use crate::suggest::nearest;

/// What the next figures are made with; `None`: as usual.
#[derive(Clone, Default)]
pub(super) struct Settings {
    /// Width and height of figures in pixels.
    pub(super) size: Option<(u32, u32)>,
    /// Whether axes begin with a grid.
    pub(super) grid: bool,
    /// The colour map of numbers.
    pub(super) map: Option<String>,
    /// Width of lines in points.
    pub(super) line_width: Option<f64>,
    /// Diameter of marks in points.
    pub(super) marker_size: Option<f64>,
}

thread_local! {
    static SETTINGS: RefCell<Settings> = RefCell::default();
}

/// What figures are made with now.
pub(super) fn settings() -> Settings {
    SETTINGS.with_borrow(Settings::clone)
}

/// What `std/matplotlib/_settings.ng` is made of.
pub static MODULE: NativeModule = NativeModule {
    name: "matplotlib._rc",
    doc: "Settings of figures.",
    members: &[Member::Functions(FUNCTIONS)],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("defaults", "", "Pairs of a name and its usual value as JSON.", |_cx, _args| {
        let pair =
            |(name, text): &(&str, &str)| Value::tuple([Value::str(*name), Value::str(*text)]);
        Ok(Value::list(options::settings().iter().map(pair).collect()))
    })
    .pure(),
    function("near", "name", "The setting whose name is nearest, or None.", |_cx, args| {
        let names = options::settings().iter().map(|it| it.0);
        Ok(nearest(args.str(0)?, names).map_or(Value::None, Value::str))
    })
    .pure(),
    function("reset", "", "All settings as usual.", |_cx, _args| {
        SETTINGS.take();
        Ok(Value::None)
    }),
    function("apply", "name, value", "Takes a new value from now on; None: as usual.", apply),
];

fn apply(cx: &mut Cx, args: Args<'_>) -> Res {
    let (name, value) = (args.str(0)?, args.opt(1));
    let wrong =
        |what: &str| value_error(format!("Key {name}: {what}, not {}", type_name(&args[1])));
    let positive = || {
        let Some(value) = value else { return Ok(None) };
        let found = number(value).filter(|it| it.is_finite() && *it >= 0.0);
        found.map(Some).ok_or_else(|| wrong("it is a number"))
    };
    let mut now = settings();
    match name {
        "figure.figsize" => {
            let size = size_of_figure(cx, value);
            now.size = size.map_err(|_| wrong("it is (width, height) in inches"))?;
        }
        "axes.grid" => now.grid = value.map_or(Ok(false), |it| cx.truth(it))?,
        "image.cmap" => {
            let name =
                value.map(|it| it.as_str().ok_or_else(|| wrong("it is the name of a colour map")));
            now.map = name.transpose()?.map(str::to_owned);
            now.map.as_deref().map(map).transpose()?;
        }
        "lines.linewidth" => now.line_width = positive()?,
        "lines.markersize" => now.marker_size = positive()?,
        _ => {}
    }
    SETTINGS.set(now);
    Ok(Value::None)
}
