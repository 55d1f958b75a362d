//! What drawing functions return: series that can be named, coloured and changed afterwards.

use std::any::Any;
use std::rc::Rc;

use super::canvas::{Place, target};
use super::colors::color;
use super::style::{PIXELS, dash};
use super::values::numbers;
use super::words::is_words;
use crate::native::*;
use crate::shown::{ColorBar, Look, Series, SeriesStyle};

/// One series of a set of axes, or a picture on them.
pub(super) struct Artist {
    pub(super) place: Place,
    /// `None`: a picture.
    series: Option<usize>,
    /// What its colours stand for, where they stand for numbers.
    pub(super) mapped: Option<Rc<ColorBar>>,
}

/// The series at `at` of the axes drawn on.
pub(super) fn artist(at: usize, mapped: Option<Rc<ColorBar>>) -> Value {
    Value::object(Artist { place: target(), series: Some(at), mapped })
}

/// The picture drawn last on the axes drawn on.
pub(super) fn picture_artist(mapped: Option<Rc<ColorBar>>) -> Value {
    Value::object(Artist { place: target(), series: None, mapped })
}

/// Several of them, as `plot` returns them.
pub(super) fn artists(items: Vec<Value>) -> Value {
    Value::list(items)
}

/// Whether a value only stands for what was drawn: a cell that ends in it shows the figure alone.
pub(crate) fn is_drawn(value: &Value) -> bool {
    let is_artist = |it: &Value| it.downcast::<Artist>().is_some() || is_words(it);
    // `hist` of several sets gives a tuple that ends in a list of them.
    let last = last(value);
    is_artist(value)
        || last.is_some_and(|it| is_artist(&it) || self::last(&it).is_some_and(|it| is_artist(&it)))
}

/// The last item of a list or a tuple, or the first value of a dict.
fn last(value: &Value) -> Option<Value> {
    match value {
        Value::Dict(items) => items.next_from(0).map(|it| it.2),
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
    function("set_linewidth", "self, w", "Another width in points.", |cx, args| {
        let width = numbers(cx, &args[1])?.first().copied();
        args.object::<Artist>(0)?.with(|it| it.look.line_width = width.map(|it| it * PIXELS))?;
        Ok(Value::None)
    }),
    function("set_alpha", "self, alpha", "From 0, which cannot be seen, to 1.", |_cx, args| {
        let alpha = args.opt(1).map(|_| args.float(1)).transpose()?;
        args.object::<Artist>(0)?.with(|it| it.look.opacity = alpha).map(|()| Value::None)
    }),
    function("set_linestyle", "self, ls", "How it is broken: '-', '--', ':'.", |cx, args| {
        let dash = dash(cx, &args[1])?;
        args.object::<Artist>(0)?.with(|it| {
            it.look.dash = dash.unwrap_or_default();
            if dash.is_none() && it.style == SeriesStyle::Line {
                it.style = SeriesStyle::Scatter;
            }
        })?;
        Ok(Value::None)
    }),
    function("remove", "self", "Takes it away.", |_cx, args| {
        let gone = |it: &mut Series| {
            let look = Look { unlisted: true, ..Look::default() };
            *it = Series { look, style: it.style, ..Series::default() };
        };
        args.object::<Artist>(0)?.with(gone).map(|()| Value::None)
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
    /// Whether it has points.
    pub(super) fn is_series(&self) -> bool {
        self.series.is_some()
    }

    /// Looks at the series or changes it; one that is gone is a `ValueError`.
    pub(super) fn with<T>(&self, change: impl FnOnce(&mut Series) -> T) -> Result<T, Raised> {
        let Some(at) = self.series else {
            return Err(type_error("a picture has no points; draw another one on its axes"));
        };
        let changed = self.place.on_axes(|plot| plot.series.get_mut(at).map(change));
        changed.ok_or_else(|| value_error("this was cleared from its axes; draw it again"))
    }

    /// Its bars, and whether they lie; `None`: it has none.
    pub(super) fn bars(&self) -> Result<Option<(Vec<Bar>, bool)>, Raised> {
        if !self.is_series() {
            return Ok(None);
        }
        self.with(|it| {
            let lying = it.style == SeriesStyle::LyingBar;
            let (middles, ends) = it.along_and_across();
            let bar = |(at, (middle, end)): (usize, (&f64, &f64))| {
                let base = it.base.get(at).copied().unwrap_or(0.0);
                Bar { middle: *middle, width: it.width_of_bars(), end: *end, length: end - base }
            };
            let bars = middles.iter().zip(ends).enumerate().map(bar).collect();
            (lying || it.style == SeriesStyle::Bar).then_some((bars, lying))
        })
    }

    fn items(&self, this: &Value) -> Result<Option<Vec<Value>>, Raised> {
        let Some((bars, lying)) = self.bars()? else { return Ok(None) };
        let patch = |(at, bar)| Value::object(Patch { of: this.clone(), at, bar, lying });
        Ok(Some(bars.into_iter().enumerate().map(patch).collect()))
    }
}

/// One bar, along the axis that its length is told on.
#[derive(Clone, Copy)]
pub(super) struct Bar {
    /// Where its middle stands on the other axis.
    pub(super) middle: f64,
    width: f64,
    /// Where it ends.
    pub(super) end: f64,
    /// From its base to its end.
    pub(super) length: f64,
}

/// One bar as an object.
struct Patch {
    of: Value,
    at: usize,
    bar: Bar,
    lying: bool,
}

static PATCH: NativeType = NativeType {
    module: "matplotlib.patches",
    methods: &[&[
        function("get_x", "self", "Its left side.", |_cx, args| patch(&args, |it| it.corner().0)),
        function("get_y", "self", "Its lower side.", |_cx, args| patch(&args, |it| it.corner().1)),
        function("get_width", "self", "Its width.", |_cx, args| {
            patch(&args, |it| if it.lying { it.bar.length } else { it.bar.width })
        }),
        function("get_height", "self", "Its height.", |_cx, args| {
            patch(&args, |it| if it.lying { it.bar.width } else { it.bar.length })
        }),
        function("set_color", "self, color", "Gives it another colour.", paint),
        function("set_facecolor", "self, color", "Gives it another colour.", paint),
    ]],
    ..NativeType::plain("Rectangle", "One bar.")
};

fn patch(args: &Args<'_>, tell: impl FnOnce(&Patch) -> f64) -> Res {
    Ok(Value::Float(tell(args.object::<Patch>(0)?)))
}

fn paint(cx: &mut Cx, args: Args<'_>) -> Res {
    let patch = args.object::<Patch>(0)?;
    let color = color(cx, &args[1])?.unwrap_or([255; 3]);
    let Some(artist) = patch.of.downcast::<Artist>() else { return Ok(Value::None) };
    artist.with(|it| {
        let usual = it.look.color.unwrap_or_default();
        it.colors.resize(it.xs.len(), usual);
        if let Some(own) = it.colors.get_mut(patch.at) {
            *own = color;
        }
    })?;
    Ok(Value::None)
}

impl Patch {
    /// Its lower left corner.
    fn corner(&self) -> (f64, f64) {
        let (side, base) = (self.bar.middle - self.bar.width / 2.0, self.bar.end - self.bar.length);
        if self.lying { (base, side) } else { (side, base) }
    }
}

impl NativeObject for Patch {
    fn native_type(&self) -> &'static NativeType {
        &PATCH
    }

    fn as_any(&self) -> &dyn Any {
        self
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

    /// Bars are a sequence of bars.
    fn len(&self, _cx: &mut Cx) -> Result<Option<usize>, Raised> {
        Ok(self.bars()?.map(|it| it.0.len()))
    }

    fn truth(&self, _cx: &mut Cx) -> Result<bool, Raised> {
        Ok(true)
    }

    fn getitem(&self, cx: &mut Cx, this: &Value, index: &Value) -> Result<Option<Value>, Raised> {
        let Some(items) = self.items(this)? else { return Ok(None) };
        cx.getitem(&Value::list(items), index).map(Some)
    }

    fn iter(&self, cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        let Some(items) = self.items(this)? else { return Ok(None) };
        cx.iter(&Value::list(items)).map(Some)
    }
}
