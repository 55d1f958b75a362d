//! Axes as objects: every drawing function is a method of theirs; and the grid of axes that `subplots` makes.

use std::any::Any;

use super::canvas::{Pane, Shared, aimed, on_pane};
use super::figures::{Figure, nothing};
use super::{axes, counts, draw, images};
use crate::native::*;

/// One set of axes of a figure.
pub(super) struct Axes {
    figure: Shared,
    at: usize,
}

pub(super) fn axes_of(figure: &Shared, at: usize) -> Value {
    figure.borrow_mut().pane(at);
    Value::object(Axes { figure: figure.clone(), at })
}

static AXES: NativeType = NativeType {
    module: "matplotlib.axes",
    methods: &[OF_AXES],
    getters: &[
        Getter {
            name: "figure",
            doc: "The figure they stand in.",
            get: |_cx, it| {
                let axes = it.downcast::<Axes>();
                Ok(axes.map_or(Value::None, |it| Value::object(Figure(it.figure.clone()))))
            },
        },
        Getter {
            name: "transAxes",
            doc: "Places as parts of the axes: ax.text(0.1, 0.9, 'a', transform=ax.transAxes).",
            get: |_cx, _it| Ok(Value::str(axes::IN_AXES)),
        },
    ],
    ..NativeType::plain("Axes", "A set of axes.")
};

/// Methods of axes that are no functions of the module.
static OF_AXES: &[NativeFn] = &[
    function(
        "set",
        "self, **options",
        "Several things at once: ax.set(title='a', xlabel='b', ylim=(0, 1)).",
        |cx, args| {
            for (name, value) in args.dict(1)?.items() {
                let name = format!("set_{}", name.as_str().unwrap_or_default());
                let set = cx.getattr(&args[0], Sym::new(&name))?;
                cx.call(&set, &[value])?;
            }
            Ok(Value::None)
        },
    ),
    function("set_axis_off", "self", "Leaves the axes themselves out.", |cx, args| {
        let axis = cx.getattr(&args[0], Sym::of("axis"))?;
        cx.call(&axis, &[Value::str("off")])
    }),
    function(
        "set_aspect",
        "self, aspect, **options",
        "'equal': one unit is as long on both axes.",
        |_cx, args| {
            let equal = args[1].as_str() == Some("equal") || args[1].as_float() == Some(1.0);
            with(&args[0], |it| it.plot.square = equal)
        },
    ),
    function(
        "set_xticklabels",
        "self, labels, **options",
        "Names of the places on the x axis.",
        |cx, args| relabel(cx, &args, true),
    ),
    function(
        "set_yticklabels",
        "self, labels, **options",
        "Names of the places on the y axis.",
        |cx, args| relabel(cx, &args, false),
    ),
    function("invert_xaxis", "self", "Numbers grow to the left.", |_cx, args| {
        with(&args[0], |it| it.plot.x.flipped ^= true)
    }),
    function("invert_yaxis", "self", "Numbers grow downwards.", |_cx, args| {
        with(&args[0], |it| it.plot.y.flipped ^= true)
    }),
    function("get_title", "self", "The title.", |_cx, args| {
        let mut text = String::new();
        with(&args[0], |it| {
            text = it.plot.title.clone();
        })?;
        Ok(Value::from(text))
    }),
    function(
        "tick_params",
        "self, *args, **options",
        "Nothing to do: ticks have one look.",
        nothing,
    ),
    function(
        "margins",
        "self, *args, **options",
        "Nothing to do: axes are a little larger than the data.",
        nothing,
    ),
    function("clear", "self", "Empties the axes.", |_cx, args| {
        with(&args[0], |it| *it = Pane::new(it.plot.size))
    }),
];

impl Axes {
    /// The functions of the module draw on these axes from now on.
    pub(super) fn turn_to(&self) {
        self.figure.borrow_mut().current = self.at;
    }
}

/// Changes the pane of axes.
fn with(axes: &Value, change: impl FnOnce(&mut Pane)) -> Res {
    if let Some(axes) = axes.downcast::<Axes>() {
        aimed(&axes.figure, axes.at, || on_pane(change));
    }
    Ok(Value::None)
}

/// Names for the ticks that are there, or for 0, 1, 2 ...
fn relabel(cx: &mut Cx, args: &Args<'_>, is_x: bool) -> Res {
    let mut names = Vec::new();
    for it in &cx.collect(&args[1])? {
        names.push(cx.str(it)?);
    }
    with(&args[0], |it| {
        let axes = &mut it.plot;
        let scale = if is_x { &mut axes.x } else { &mut axes.y };
        let ticks = scale.ticks.get_or_insert_with(|| draw::named_ticks(names.clone()));
        ticks.iter_mut().zip(names).for_each(|(tick, name)| tick.name = Some(name));
    })
}

/// Functions that are called otherwise as methods of axes.
const SETTERS: &[&str] = &[
    "set_title",
    "set_xlabel",
    "set_xlim",
    "set_xscale",
    "set_xticks",
    "set_ylabel",
    "set_ylim",
    "set_yscale",
    "set_yticks",
];

/// The functions that axes have as methods.
fn drawing() -> impl Iterator<Item = &'static NativeFn> {
    [draw::FUNCTIONS, axes::FUNCTIONS, counts::FUNCTIONS, images::FUNCTIONS].into_iter().flatten()
}

impl NativeObject for Axes {
    fn native_type(&self) -> &'static NativeType {
        &AXES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// `ax.plot` and `ax.set_title` draw on these axes.
    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let text = name.as_str();
        // The limits are set and told by the same function.
        let asked = text.strip_prefix("get_").filter(|it| it.ends_with("lim"));
        let plain = text.strip_prefix("set_").or(asked).unwrap_or(text);
        let func = drawing().find(|it| it.name == plain);
        Ok(func.map(|func| bound(&self.figure, self.at, func)))
    }

    fn attributes(&self) -> Vec<Sym> {
        let set = |it: &&str| SETTERS.iter().find(|setter| setter.strip_prefix("set_") == Some(it));
        drawing().map(|it| Sym::of(set(&it.name).unwrap_or(&it.name))).collect()
    }
}

/// A drawing function bound to a set of axes.
struct OnAxes {
    figure: Shared,
    at: usize,
    func: Value,
}

pub(super) fn bound(figure: &Shared, at: usize, func: &'static NativeFn) -> Value {
    Value::object(OnAxes { figure: figure.clone(), at, func: Value::Native(func) })
}

static METHOD: NativeType = NativeType::plain("method", "A method of axes or of a figure.");

impl NativeObject for OnAxes {
    fn native_type(&self) -> &'static NativeType {
        &METHOD
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        aimed(&self.figure, self.at, || cx.call_with(&self.func, args))
    }
}

/// The axes of `subplots`, as NumPy would index them.
pub(super) struct AxesGrid {
    figure: Shared,
    /// One or two dimensions.
    shape: Vec<usize>,
    /// The panel of the first.
    first: usize,
}

static AXES_GRID: NativeType = NativeType {
    module: "matplotlib.axes",
    methods: &[&[
        function("flatten", "self", "All of them in a row.", |_cx, args| Ok(flat(args.object(0)?))),
        function("ravel", "self", "All of them in a row.", |_cx, args| Ok(flat(args.object(0)?))),
        function("reshape", "self, *shape", "All of them in a row.", |_cx, args| {
            Ok(flat(args.object(0)?))
        }),
        function("tolist", "self", "Lists of axes.", |cx, args| {
            let rows = cx.collect(&args[0])?;
            let mut lists = Vec::with_capacity(rows.len());
            for row in rows {
                let is_row = row.downcast::<AxesGrid>().is_some();
                lists.push(if is_row { Value::list(cx.collect(&row)?) } else { row });
            }
            Ok(Value::list(lists))
        }),
    ]],
    getters: &[
        Getter { name: "flat", doc: "All of them in a row.", get: |_cx, it| grid_in(it).map(flat) },
        Getter {
            name: "shape",
            doc: "How many rows and columns there are.",
            get: |_cx, it| Ok(crate::array::object::shape(&grid_in(it)?.shape)),
        },
        Getter {
            name: "size",
            doc: "How many there are.",
            get: |_cx, it| Ok(Value::from(grid_in(it)?.count())),
        },
    ],
    ..NativeType::plain("AxesGrid", "The axes that plt.subplots made: axs[0], axs[1, 2], axs.flat.")
};

fn grid_in(value: &Value) -> Result<&AxesGrid, Raised> {
    value.downcast::<AxesGrid>().ok_or_else(|| type_error("expected the axes of plt.subplots"))
}

fn flat(grid: &AxesGrid) -> Value {
    let (figure, first) = (grid.figure.clone(), grid.first);
    Value::object(AxesGrid { figure, shape: vec![grid.count()], first })
}

impl AxesGrid {
    /// All axes of a figure, in one or two dimensions.
    pub(super) fn value(figure: &Shared, shape: Vec<usize>) -> Value {
        Value::object(AxesGrid { figure: figure.clone(), shape, first: 0 })
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// One of the first dimension: axes, or a row of them.
    fn item(&self, at: usize) -> Value {
        match self.shape.as_slice() {
            [_, columns] => {
                let first = self.first + at * columns;
                let figure = self.figure.clone();
                Value::object(AxesGrid { figure, shape: vec![*columns], first })
            }
            _ => axes_of(&self.figure, self.first + at),
        }
    }

    /// An index within `size`, which may count from the end.
    fn index(value: &Value, axis: usize, size: usize) -> Result<usize, Raised> {
        let at = value.as_int().or_else(|| value.as_native().and_then(|it| it.as_index()));
        let at = at.ok_or_else(|| {
            index_error("axes are indexed by whole numbers: axs[0], axs[1, 2]; axs.flat is all of them in a row")
        })?;
        let from_start = if at < 0 { at + size as i64 } else { at };
        usize::try_from(from_start).ok().filter(|it| *it < size).ok_or_else(|| {
            index_error(format!("index {at} is out of bounds for axis {axis} with size {size}"))
        })
    }
}

impl NativeObject for AxesGrid {
    fn native_type(&self) -> &'static NativeType {
        &AXES_GRID
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(Some(self.shape[0]))
    }

    fn getitem(&self, cx: &mut Cx, _this: &Value, key: &Value) -> Result<Option<Value>, Raised> {
        if let Value::Slice(_) = key {
            let items = Value::list((0..self.shape[0]).map(|it| self.item(it)).collect());
            return cx.getitem(&items, key).map(Some);
        }
        let Some(keys) = key.as_tuple() else {
            return Ok(Some(self.item(Self::index(key, 0, self.shape[0])?)));
        };
        match (keys.as_ref().as_ref(), self.shape.as_slice()) {
            ([row, column], [rows, columns]) => {
                // A whole column.
                if let (Value::Slice(_), Some(_)) = (row, column.as_int()) {
                    let column = Self::index(column, 1, *columns)?;
                    let at =
                        |row: usize| axes_of(&self.figure, self.first + row * columns + column);
                    let items = Value::list((0..*rows).map(at).collect());
                    return cx.getitem(&items, row).map(Some);
                }
                let (row, column) = (Self::index(row, 0, *rows)?, column);
                cx.getitem(&self.item(row), column).map(Some)
            }
            ([only], [count]) => Ok(Some(self.item(Self::index(only, 0, *count)?))),
            (keys, shape) => Err(index_error(format!(
                "too many indices for axes: they are {}-dimensional, but {} were indexed",
                shape.len(),
                keys.len()
            ))),
        }
    }

    fn iter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let items = Value::list((0..self.shape[0]).map(|it| self.item(it)).collect());
        cx.iter(&items).map(Some)
    }

    fn repr(&self, _cx: &mut Cx) -> Result<String, Raised> {
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        Ok(format!("<AxesGrid of {} axes>", sizes.join(" by ")))
    }
}
