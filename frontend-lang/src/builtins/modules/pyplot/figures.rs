//! Figures and their axes as objects, and the functions that make, show and forget them.

use std::any::Any;

use super::axes_grid::AxesGrid;
use super::axes_object::{Axes, axes_of, bound, twin_of};
use super::canvas::{
    Pane, Place, Shared, forget, numbered, numbers_of_open, show_open, target, turn_to,
};
use super::layout::{Cell, cell_of};
use super::options::Options;
use super::{coloring, saving};
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
        |cx, args| {
            let at = place(cx, &target().figure, &args, 0)?;
            at.turn_to();
            Ok(axes_of(at))
        },
    ),
    function("suptitle", "t, **options", "Title of the whole figure.", |cx, args| {
        let text = super::values::text(cx, &args[0])?;
        target().figure.borrow_mut().title = text;
        Ok(Value::None)
    }),
    function("gca", "", "The axes that are drawn on.", |_cx, _args| Ok(axes_of(target()))),
    function("gcf", "", "The figure that is drawn on.", |_cx, _args| {
        Ok(Value::object(Figure(target().figure)))
    }),
    function(
        "twinx",
        "ax=None",
        "Axes over the current ones that share x and have their own y, told on the right.",
        |_cx, args| {
            let axes = args.opt(0).map(|_| args.object::<Axes>(0)).transpose()?;
            Ok(twin_of(&axes.map_or_else(target, |it| it.place.clone())))
        },
    ),
    function("sca", "ax", "Turns to these axes.", |_cx, args| {
        args.object::<Axes>(0)?.place.turn_to();
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
        let figure = target().figure;
        let mut figure = figure.borrow_mut();
        figure.panes.clear();
        figure.current = (0, false);
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
    function("draw", "", "Nothing to do: figures appear when a cell ends.", nothing),
    function(
        "pause",
        "interval",
        "Shows the figures drawn so far; it does not wait.",
        |cx, _args| {
            show_open(cx);
            Ok(Value::None)
        },
    ),
    function("get_fignums", "", "The numbers of the open figures.", |_cx, _args| {
        Ok(Value::list(numbers_of_open().into_iter().map(Value::Int).collect()))
    }),
    function("axes", "arg=None, **options", "The axes that are drawn on.", |_cx, args| {
        refuse_projection(Options::of("subplot", args.dict(1)?)?)?;
        if args.opt(0).is_some() {
            return Err(not_implemented(
                "axes stand in grids: use plt.subplot(2, 2, 1), plt.subplot_mosaic('AB;CC') or plt.subplot2grid",
            ));
        }
        Ok(axes_of(target()))
    }),
    function("ion", "", "Nothing to do: figures appear when a cell ends.", nothing),
    function("ioff", "", "Nothing to do: figures appear when a cell ends.", nothing),
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
        |cx, args| {
            let figure = &args.object::<Figure>(0)?.0;
            let at = place(cx, figure, &args, 1)?;
            at.turn_to();
            Ok(axes_of(at))
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
    function(
        "add_gridspec",
        "self, nrows=1, ncols=1, **options",
        "A grid whose parts add_subplot takes: fig.add_subplot(gs[0, :]).",
        |cx, args| {
            let module = cx.import("matplotlib.gridspec")?;
            let make = cx.getattr(&module, Sym::of("GridSpec"))?;
            cx.call(&make, &[args[1].clone(), args[2].clone()])
        },
    ),
    function(
        "subplot_mosaic",
        "self, mosaic, *, empty_sentinel='.', **options",
        "Axes by the names that a picture made of letters has: fig.subplot_mosaic('AB;CC').",
        |cx, args| {
            let module = cx.import("matplotlib.gridspec")?;
            let lay = cx.getattr(&module, Sym::of("_mosaic_on"))?;
            cx.call(&lay, &[args[0].clone(), args[1].clone(), args[2].clone()])
        },
    ),
    function("gca", "self", "The axes drawn on last.", |_cx, args| {
        let figure = &args.object::<Figure>(0)?.0;
        let (pane, twin) = figure.borrow().current;
        Ok(axes_of(Place::of(figure, pane).with_twin(twin)))
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
pub(super) fn size_of_figure(
    cx: &mut Cx,
    value: Option<&Value>,
) -> Result<Option<(u32, u32)>, Raised> {
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
    if size.is_some() {
        figure.borrow_mut().size = size;
    }
    let grid = grid_of(&figure, args.int(0)?, args.int(1)?, squeeze)?;
    Ok(Value::tuple([Value::object(Figure(figure)), grid]))
}

/// Empty axes in rows and columns: one, a row or column of them, or a grid.
fn grid_of(figure: &Shared, rows: i64, columns: i64, squeeze: bool) -> Res {
    let cells = Cell::all(rows, columns)?;
    let mut canvas = figure.borrow_mut();
    canvas.panes = cells.into_iter().map(Pane::new).collect();
    canvas.current = (canvas.panes.len() - 1, false);
    drop(canvas);
    let shape = match (rows as usize, columns as usize) {
        (1, 1) if squeeze => return Ok(axes_of(Place::of(figure, 0))),
        (1, count) | (count, 1) if squeeze => vec![count],
        (rows, columns) => vec![rows, columns],
    };
    Ok(AxesGrid::value(figure, shape))
}

/// The axes that `(rows, columns, index)`, a number such as 231, or a part of a `GridSpec` means.
fn place(cx: &mut Cx, figure: &Shared, args: &Args<'_>, first: usize) -> Result<Place, Raised> {
    refuse_projection(Options::of("subplot", args.dict(first + 3)?)?)?;
    let cell = cell_of(cx, args, first)?;
    let pane = figure.borrow_mut().pane_in(cell);
    Ok(Place::of(figure, pane))
}

fn refuse_projection(options: Options<'_>) -> Result<(), Raised> {
    match options.text("projection")?.as_deref() {
        None | Some("rectilinear") => Ok(()),
        Some(_) => Err(not_implemented(
            "there are axes of two straight dimensions only; draw two of three dimensions, and the third as colour: plt.scatter(x, y, c=z)",
        )),
    }
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
            let canvas = figure.borrow();
            let has_twin = |pane: &usize| canvas.panes[*pane].twin.is_some();
            let twins: Vec<usize> = (0..canvas.panes.len()).filter(has_twin).collect();
            let panes = 0..canvas.panes.len();
            drop(canvas);
            let twins = twins.into_iter().map(|it| Place::of(figure, it).with_twin(true));
            let all = panes.map(|it| Place::of(figure, it)).chain(twins);
            Ok(Value::list(all.map(axes_of).collect()))
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
        let all = FUNCTIONS.iter().chain(coloring::FUNCTIONS).chain(saving::FUNCTIONS);
        let func = all.into_iter().find(|it| it.name == name.as_str());
        let func = func.filter(|it| OF_FIGURES.contains(&it.name));
        let (pane, twin) = self.0.borrow().current;
        let place = Place { figure: self.0.clone(), pane, twin };
        Ok(func.map(|func| bound(&place, func)))
    }

    fn attributes(&self) -> Vec<Sym> {
        OF_FIGURES.iter().map(|it| Sym::of(it)).collect()
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let (width, height) = self.0.borrow().size.unwrap_or((560, 340));
        Ok(format!("<Figure size {width}x{height} with {} Axes>", self.0.borrow().panes.len()))
    }
}
