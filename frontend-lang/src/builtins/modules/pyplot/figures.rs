//! Figures and their axes as objects, and the functions that make, show and forget them.

use std::any::Any;

use super::axes_object::{Axes, AxesGrid, axes_of, bound};
use super::canvas::{Pane, Shared, forget, numbered, show_open, target, turn_to};
use super::style::Options;
use crate::native::*;
use crate::shown::Figure as Drawn;

/// The functions of the module that are no drawing.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function(
        "figure",
        "num=None, figsize=None, **options",
        "Starts a new figure; figsize: (width, height) in inches.",
        new_figure,
    ),
    function(
        "subplots",
        "nrows=1, ncols=1, figsize=None, squeeze=True, **options",
        "A new figure and its axes: fig, ax = plt.subplots(); fig, axs = plt.subplots(2, 3).",
        subplots,
    ),
    function(
        "subplot",
        "nrows=1, ncols=1, index=1, **options",
        "Turns to one place of a grid: subplot(2, 3, 1) or subplot(231).",
        |_cx, args| {
            let (figure, _) = target();
            let at = place(&figure, &args, 0)?;
            figure.borrow_mut().current = at;
            Ok(axes_of(&figure, at))
        },
    ),
    function("suptitle", "t, **options", "Title of the whole figure.", |cx, args| {
        let text = cx.str(&args[0])?;
        target().0.borrow_mut().title = text;
        Ok(Value::None)
    }),
    function("gca", "", "The axes that are drawn on.", |_cx, _args| {
        let (figure, at) = target();
        Ok(axes_of(&figure, at))
    }),
    function("gcf", "", "The figure that is drawn on.", |_cx, _args| {
        Ok(Value::object(Figure(target().0)))
    }),
    function("sca", "ax", "Turns to these axes.", |_cx, args| {
        args.object::<Axes>(0)?.turn_to();
        Ok(Value::None)
    }),
    function("show", "*args, **options", "Shows the figures drawn so far.", |cx, _args| {
        show_open(cx);
        Ok(Value::None)
    }),
    function(
        "close",
        "fig=None",
        "Forgets a figure without showing it: the current one, one by its number, or 'all'.",
        |_cx, args| {
            let Some(which) = args.opt(0) else {
                forget(None, false);
                return Ok(Value::None);
            };
            let figure = match (which.downcast::<Figure>(), which.as_int(), which.as_str()) {
                (Some(it), ..) => Some(it.0.clone()),
                (_, Some(number), _) => numbered(number),
                (_, _, Some("all")) => {
                    forget(None, true);
                    None
                }
                (_, _, Some(_)) => None,
                _ => {
                    let told = format!(
                        "close() takes a figure, its number or 'all', not {}",
                        type_name(which)
                    );
                    return Err(type_error(told));
                }
            };
            if let Some(figure) = figure {
                forget(Some(&figure), false);
            }
            Ok(Value::None)
        },
    ),
    function("clf", "", "Empties the figure.", |_cx, _args| {
        let (figure, _) = target();
        let mut figure = figure.borrow_mut();
        figure.panes.clear();
        (figure.current, figure.columns) = (0, 0);
        figure.title.clear();
        Ok(Value::None)
    }),
    function(
        "tight_layout",
        "*args, **options",
        "Nothing to do: figures are laid out when drawn.",
        nothing,
    ),
    function(
        "subplots_adjust",
        "**options",
        "Nothing to do: figures are laid out when drawn.",
        nothing,
    ),
    function("colorbar", "*args, **options", "Nothing to do: pictures have no scale.", nothing),
    function("ion", "", "Nothing to do: figures appear when a cell ends.", nothing),
    function("ioff", "", "Nothing to do: figures appear when a cell ends.", nothing),
    function(
        "savefig",
        "*args, **options",
        "Writes no file, and says so: figures stand in the notebook.",
        no_file,
    ),
    function("get_cmap", "name='viridis', lut=None", "The colour map of a name.", |cx, args| {
        let maps = cx.import("matplotlib.cm")?;
        let get = cx.getattr(&maps, Sym::of("get_cmap"))?;
        cx.call(&get, &[args[0].clone()])
    }),
];

/// What figures have besides the functions of the module that draw.
static OF_FIGURES: &[&str] =
    &["clf", "colorbar", "savefig", "show", "subplots_adjust", "suptitle", "tight_layout"];

static ADDED: &[NativeFn] = &[
    function(
        "add_subplot",
        "self, nrows=1, ncols=1, index=1, **options",
        "Axes in one place of a grid.",
        |_cx, args| {
            let figure = &args.object::<Figure>(0)?.0;
            let at = place(figure, &args, 1)?;
            figure.borrow_mut().current = at;
            Ok(axes_of(figure, at))
        },
    ),
    function(
        "subplots",
        "self, nrows=1, ncols=1, squeeze=True, **options",
        "Axes in a grid.",
        |cx, args| {
            let figure = &args.object::<Figure>(0)?.0;
            let squeeze = cx.truth(&args[3])?;
            grid_of(figure, args.int(1)?, args.int(2)?, squeeze)
        },
    ),
    function("gca", "self", "The axes drawn on last.", |_cx, args| {
        let figure = &args.object::<Figure>(0)?.0;
        let at = figure.borrow().current;
        Ok(axes_of(figure, at))
    }),
    function("set_size_inches", "self, w, h=None", "Another size.", |cx, args| {
        let both = match args.opt(2) {
            Some(height) => Value::tuple([args[1].clone(), height.clone()]),
            None => args[1].clone(),
        };
        let size = size_of_figure(cx, Some(&both))?;
        args.object::<Figure>(0)?.0.borrow_mut().size = size;
        Ok(Value::None)
    }),
];

pub(super) fn nothing(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::None)
}

fn no_file(cx: &mut Cx, _args: Args<'_>) -> Res {
    cx.host.stdout(
        "savefig: no file is written here; the figure is part of the notebook, which can be exported as HTML\n",
    );
    Ok(Value::None)
}

fn new_figure(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("figure", args.dict(2)?)?;
    let size = size_of_figure(cx, args.opt(1))?;
    let figure = turn_to(args.opt_int(0).ok().flatten());
    if size.is_some() {
        figure.borrow_mut().size = size;
    }
    Ok(Value::object(Figure(figure)))
}

/// Inches as matplotlib has them, at 80 pixels each, within reason.
fn size_of_figure(cx: &mut Cx, value: Option<&Value>) -> Result<Option<(u32, u32)>, Raised> {
    let Some(value) = value else { return Ok(None) };
    match super::values::numbers(cx, value)?.as_slice() {
        [width, height] if *width > 0.0 && *height > 0.0 => {
            let pixels = |inches: &f64| (inches * 80.0).clamp(120.0, 1600.0) as u32;
            Ok(Some((pixels(width), pixels(height))))
        }
        _ => Err(value_error("figure size must be positive finite: (width, height) in inches")),
    }
}

fn subplots(cx: &mut Cx, args: Args<'_>) -> Res {
    Options::of("subplots", args.dict(4)?)?;
    let size = size_of_figure(cx, args.opt(2))?;
    let squeeze = cx.truth(&args[3])?;
    let figure = turn_to(None);
    figure.borrow_mut().size = size;
    let grid = grid_of(&figure, args.int(0)?, args.int(1)?, squeeze)?;
    Ok(Value::tuple([Value::object(Figure(figure)), grid]))
}

/// The most panels of a figure.
const PANELS: i64 = 400;

/// Empty axes in rows and columns: one, a row or column of them, or a grid.
fn grid_of(figure: &Shared, rows: i64, columns: i64, squeeze: bool) -> Res {
    let all = rows.checked_mul(columns).unwrap_or(i64::MAX);
    if rows < 1 || columns < 1 || all > PANELS {
        return Err(value_error(format!(
            "Number of rows and columns must be positive, and at most {PANELS} axes; these are {rows} by {columns}"
        )));
    }
    let (rows, columns) = (rows as usize, columns as usize);
    let mut canvas = figure.borrow_mut();
    let each = canvas.size.map(|(width, height)| (width / columns as u32, height / rows as u32));
    canvas.columns = columns;
    canvas.panes = (0..rows * columns).map(|_| Pane::new(each)).collect();
    canvas.current = rows * columns - 1;
    drop(canvas);
    let shape = match (rows, columns) {
        (1, 1) if squeeze => return Ok(axes_of(figure, 0)),
        (1, count) | (count, 1) if squeeze => vec![count],
        _ => vec![rows, columns],
    };
    Ok(AxesGrid::value(figure, shape))
}

/// The place that `(rows, columns, index)` or a number such as 231 means, counted from 0.
fn place(figure: &Shared, args: &Args<'_>, first: usize) -> Result<usize, Raised> {
    let options = Options::of("subplot", args.dict(first + 3)?)?;
    if options.text("projection")?.is_some_and(|it| it != "rectilinear") {
        return Err(not_implemented(
            "there are axes of two straight dimensions only; draw two of three dimensions, and the third as colour: plt.scatter(x, y, c=z)",
        ));
    }
    let (rows, columns, index) = match args.int(first)? {
        code @ 100..=999 => (code / 100, code / 10 % 10, code % 10),
        rows => (rows, args.int(first + 1)?, args.int(first + 2)?),
    };
    let all = rows.checked_mul(columns).unwrap_or(i64::MAX);
    if rows < 1 || columns < 1 || all > PANELS || !(1..=all).contains(&index) {
        return Err(value_error(format!(
            "num must be an integer with 1 <= num <= {all}, not {index}"
        )));
    }
    let mut canvas = figure.borrow_mut();
    canvas.columns = columns as usize;
    let each = canvas.size.map(|(width, height)| (width / columns as u32, height / rows as u32));
    while canvas.panes.len() < index as usize {
        canvas.panes.push(Pane::new(each));
    }
    Ok(index as usize - 1)
}

/// A figure.
pub struct Figure(pub(super) Shared);

static FIGURE: NativeType = NativeType {
    module: "matplotlib.figure",
    methods: &[ADDED],
    getters: &[Getter {
        name: "axes",
        doc: "Its axes in reading order.",
        get: |_cx, it| {
            let Some(Figure(figure)) = it.downcast::<Figure>() else { return Ok(Value::None) };
            let count = figure.borrow().panes.len();
            Ok(Value::list((0..count).map(|at| axes_of(figure, at)).collect()))
        },
    }],
    ..NativeType::plain("Figure", "A figure with one or more axes.")
};

impl Figure {
    /// Takes it from the figures that are shown when the cell ends.
    pub(super) fn forget(&self) {
        forget(Some(&self.0), false);
    }

    /// The figure as plain data, as it is now.
    pub fn shown(&self) -> Drawn {
        self.0.borrow().figure()
    }
}

impl NativeObject for Figure {
    fn native_type(&self) -> &'static NativeType {
        &FIGURE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let func = FUNCTIONS.iter().find(|it| it.name == name.as_str());
        let func = func.filter(|it| OF_FIGURES.contains(&it.name));
        let at = self.0.borrow().current;
        Ok(func.map(|func| bound(&self.0, at, func)))
    }

    fn attributes(&self) -> Vec<Sym> {
        OF_FIGURES.iter().map(|it| Sym::of(it)).collect()
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let (width, height) = self.0.borrow().size.unwrap_or((560, 340));
        Ok(format!("<Figure size {width}x{height} with {} Axes>", self.0.borrow().panes.len()))
    }
}
