//! What drawing functions return: series that can be named, coloured and changed afterwards.

use std::any::Any;

use super::canvas::{Shared, aimed, on_axes, target};
use super::colors::color;
use super::values::numbers;
use crate::native::*;
use crate::shown::{Series, SeriesStyle};

/// One series of a set of axes.
pub(super) struct Artist {
    figure: Shared,
    pane: usize,
    series: usize,
}

/// The series at `at` of the axes drawn on.
pub(super) fn artist(at: usize) -> Res {
    let (figure, pane) = target();
    Ok(Value::object(Artist { figure, pane, series: at }))
}

/// Several of them, as `plot` returns them.
pub(super) fn artists(items: Vec<Value>) -> Value {
    Value::list(items)
}

/// Whether a value only stands for what was drawn: a cell that ends in it shows the figure alone.
pub(crate) fn is_drawn(value: &Value) -> bool {
    let is_artist = |it: &Value| it.downcast::<Artist>().is_some();
    // `hist` of several sets gives a tuple that ends in a list of them.
    let last = last(value);
    is_artist(value)
        || last.is_some_and(|it| is_artist(&it) || self::last(&it).is_some_and(|it| is_artist(&it)))
}

/// The last item of a list or a tuple.
fn last(value: &Value) -> Option<Value> {
    match value {
        Value::List(items) => items.items.borrow().last().cloned(),
        Value::Tuple(items) => items.last().cloned(),
        _ => None,
    }
}

static ARTIST: NativeType = NativeType {
    module: "matplotlib.artist",
    methods: &[METHODS],
    ..NativeType::plain("Artist", "Something drawn on axes: a line, dots, bars, an area.")
};

static METHODS: &[NativeFn] = &[
    function("set_label", "self, s", "Names it in the legend.", set_label),
    function("get_label", "self", "Its name.", |_cx, args| {
        args.object::<Artist>(0)?.with(|it| Value::str(it.look.name.as_str()))
    }),
    function("set_color", "self, color", "Gives it another colour.", set_color),
    function("get_color", "self", "Its colour as '#rrggbb'.", |_cx, args| {
        args.object::<Artist>(0)?.with(|it| {
            let [red, green, blue] = it.look.color.unwrap_or_default();
            Value::from(format!("#{red:02x}{green:02x}{blue:02x}"))
        })
    }),
    function("set_data", "self, x, y", "Gives it other points.", set_data),
    function("set_xdata", "self, x", "Gives its points other x.", |cx, args| {
        let xs = numbers(cx, &args[1])?;
        args.object::<Artist>(0)?.with(|it| it.xs = xs).map(|()| Value::None)
    }),
    function("set_ydata", "self, y", "Gives its points other y.", |cx, args| {
        let ys = numbers(cx, &args[1])?;
        args.object::<Artist>(0)?.with(|it| it.ys = ys).map(|()| Value::None)
    }),
    function("get_xdata", "self", "The x of its points.", |_cx, args| {
        array(&args.object::<Artist>(0)?.with(|it| it.xs.clone())?)
    }),
    function("get_ydata", "self", "The y of its points.", |_cx, args| {
        array(&args.object::<Artist>(0)?.with(|it| it.ys.clone())?)
    }),
];

/// Numbers as an array of NumPy.
pub(super) fn array(values: &[f64]) -> Res {
    let tensor = engine::Tensor::from_vec(values, engine::Shape::new(&[values.len()]))?;
    Ok(crate::array::array(tensor))
}

impl Artist {
    /// Looks at the series or changes it; one that is gone is a `ValueError`.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Series) -> T) -> Result<T, Raised> {
        let changed = aimed(&self.figure, self.pane, || {
            on_axes(|plot| plot.series.get_mut(self.series).map(change))
        });
        changed.ok_or_else(|| value_error("this was cleared from its axes; draw it again"))
    }

    /// The ends of its bars: where each stands, and how far it reaches.
    pub(super) fn bars(&self) -> Result<Option<Vec<(f64, f64)>>, Raised> {
        self.with(|it| match it.style {
            SeriesStyle::Bar => Some(it.xs.iter().copied().zip(it.ys.iter().copied()).collect()),
            _ => None,
        })
    }
}

fn set_label(cx: &mut Cx, args: Args<'_>) -> Res {
    let name = cx.str(&args[1])?;
    args.object::<Artist>(0)?.with(|it| it.look.name = name).map(|()| Value::None)
}

fn set_color(cx: &mut Cx, args: Args<'_>) -> Res {
    let color = color(cx, &args[1])?;
    args.object::<Artist>(0)?.with(|it| it.look.color = color).map(|()| Value::None)
}

fn set_data(cx: &mut Cx, args: Args<'_>) -> Res {
    let (xs, ys) = (numbers(cx, &args[1])?, numbers(cx, &args[2])?);
    super::values::same_length(("x", xs.len()), ("y", ys.len()))?;
    args.object::<Artist>(0)?.with(|it| (it.xs, it.ys) = (xs, ys)).map(|()| Value::None)
}

impl NativeObject for Artist {
    fn native_type(&self) -> &'static NativeType {
        &ARTIST
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
