//! `matplotlib.pyplot`: the part of its surface that draws lines, points, bars, areas and pictures.
//!
//! Drawing functions change plain data ([`crate::shown::Plot`]) of the axes that are meant: those of the current
//! figure, or those whose method is running (`canvas`). A figure is shown by `plt.show()` or when its cell ends; the kernel draws it.
//! Functions stand in tables by what they do: `draw` points, `bars`, `shapes`, `words`, `counts` and `boxes` of values, `images` of
//! matrices, `coloring` of numbers, `axes` around them, `figures`, `saving` of these.
//! Each drawing function is a method of axes, too.

mod artist;
mod axes;
mod axes_grid;
mod axes_object;
mod axis_object;
mod bars;
mod boxes;
mod canvas;
mod categories;
mod coloring;
mod colors;
mod counts;
mod draw;
mod figures;
mod images;
mod layout;
mod options;
mod saving;
mod settings;
mod shapes;
mod style;
mod ticks;
mod values;
mod words;

use crate::native::*;

pub(crate) use artist::is_drawn;
pub use figures::Figure;
pub use settings::MODULE as SETTINGS;

/// The functions that draw; as methods of axes, too.
static DRAWING: &[&[NativeFn]] = &[
    draw::FUNCTIONS,
    bars::FUNCTIONS,
    shapes::FUNCTIONS,
    axes::FUNCTIONS,
    words::FUNCTIONS,
    counts::FUNCTIONS,
    boxes::FUNCTIONS,
    images::FUNCTIONS,
];

/// The module `matplotlib.pyplot`.
pub static PYPLOT: NativeModule = NativeModule {
    name: "matplotlib.pyplot",
    doc: "Plots.",
    members: &[
        Member::Functions(figures::FUNCTIONS),
        Member::Functions(coloring::FUNCTIONS),
        Member::Functions(saving::FUNCTIONS),
        Member::Functions(draw::FUNCTIONS),
        Member::Functions(bars::FUNCTIONS),
        Member::Functions(shapes::FUNCTIONS),
        Member::Functions(axes::FUNCTIONS),
        Member::Functions(words::FUNCTIONS),
        Member::Functions(counts::FUNCTIONS),
        Member::Functions(boxes::FUNCTIONS),
        Member::Functions(images::FUNCTIONS),
        Member::These("matplotlib.gridspec", &["subplot2grid", "subplot_mosaic"]),
        Member::Module("cm", "matplotlib.cm"),
        Member::Module("style", "matplotlib.style"),
        Member::These(
            "matplotlib._settings",
            &["rcParams", "rcParamsDefault", "rc", "rcdefaults", "rc_context"],
        ),
    ],
    aliases: &["notegrad.pyplot"],
};

/// The module `matplotlib`.
pub static MATPLOTLIB: NativeModule = NativeModule {
    name: "matplotlib",
    doc: "Plots; see `matplotlib.pyplot`.",
    members: &[
        Member::Functions(BACKENDS),
        Member::Module("pyplot", "matplotlib.pyplot"),
        Member::These(
            "matplotlib._settings",
            &["rcParams", "rcParamsDefault", "rc", "rcdefaults", "rc_context"],
        ),
    ],
    aliases: &[],
};

static BACKENDS: &[NativeFn] = &[function(
    "use",
    "backend, **options",
    "Nothing to do: figures always stand in the notebook.",
    |_cx, _args| Ok(Value::None),
)];

/// The module `matplotlib.style`.
pub static STYLE: NativeModule = NativeModule {
    name: "matplotlib.style",
    doc: "Looks of figures; there is one.",
    members: &[Member::Functions(STYLES)],
    aliases: &[],
};

static STYLES: &[NativeFn] =
    &[function("use", "style", "Nothing to do: figures have one look.", |_cx, _args| {
        Ok(Value::None)
    })];

/// What `matplotlib.cm` is made of.
pub static MAPS: NativeModule = NativeModule {
    name: "matplotlib._maps",
    doc: "Colour maps.",
    members: &[Member::Functions(MAP_FUNCTIONS)],
    aliases: &[],
};

static MAP_FUNCTIONS: &[NativeFn] = &[
    function("names", "", "The names of all maps.", |_cx, _args| {
        Ok(Value::list(colors::maps().into_iter().map(Value::from).collect()))
    })
    .pure(),
    function("rgb", "color", "Red, green and blue of a colour, from 0 to 1.", |cx, args| {
        let found = colors::color(cx, &args[0])?.unwrap_or_default();
        Ok(Value::list(found.iter().map(|it| Value::Float(f64::from(*it) / 255.0)).collect()))
    })
    .pure(),
    function("count", "map", "How many colours a map has.", |cx, args| {
        Ok(Value::from(colors::map_of(cx, args.opt(0))?.count()))
    })
    .pure(),
    function(
        "colors_at",
        "map, places",
        "Red, green and blue from 0 to 1 at places from 0 to 1, in one row.",
        |cx, args| {
            let map = colors::map_of(cx, args.opt(0))?;
            let places = values::numbers(cx, &args[1])?;
            let rows = places.iter().flat_map(|it| map.at(*it)).map(|it| f64::from(it) / 255.0);
            Ok(Value::list(rows.map(Value::Float).collect()))
        },
    )
    .pure(),
];

/// Shows the figures that a cell drew and did not show.
pub fn show_pending(cx: &mut Cx) {
    canvas::show_open(cx);
}

/// Notes that a cell shows this value as its result: a figure need not be shown again.
pub(crate) fn shown_as_result(value: &Value) {
    if let Some(figure) = value.downcast::<Figure>() {
        figure.forget();
    }
}
