//! Axes as objects: every drawing function is a method of theirs.

use std::any::Any;

use super::artist::artist;
use super::axis_object::{axis_of, spines};
use super::canvas::{Pane, Place, aimed};
use super::categories::Along;
use super::figures::Figure;
use super::layout::Cell;
use super::ticks::{named_ticks, rename};
use super::values::texts;
use super::words;
use crate::native::*;

/// One set of axes of a figure.
pub(super) struct Axes {
    pub(super) place: Place,
}

/// The axes at a place, which are there from now on.
pub(super) fn axes_of(place: Place) -> Value {
    place.on_pane(|_| ());
    Value::object(Axes { place })
}

static AXES: NativeType = NativeType {
    module: "matplotlib.axes",
    methods: &[OF_AXES],
    getters: &[
        Getter {
            name: "figure",
            doc: "The figure they stand in.",
            get: |_cx, it| place_in(it).map(|it| Value::object(Figure(it.figure))),
        },
        Getter {
            name: "transAxes",
            doc: "Places as parts of the axes: ax.text(0.1, 0.9, 'a', transform=ax.transAxes).",
            get: |_cx, _it| Ok(Value::str(words::IN_AXES)),
        },
        Getter {
            name: "xaxis",
            doc: "The horizontal axis.",
            get: |_cx, it| place_in(it).map(|it| axis_of(&it, Along::X)),
        },
        Getter {
            name: "yaxis",
            doc: "The vertical axis.",
            get: |_cx, it| place_in(it).map(|it| axis_of(&it, Along::Y)),
        },
        Getter { name: "spines", doc: "The lines around them.", get: |_cx, _it| Ok(spines()) },
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
        |cx, args| relabel(cx, &args, Along::X),
    ),
    function(
        "set_yticklabels",
        "self, labels, **options",
        "Names of the places on the y axis.",
        |cx, args| relabel(cx, &args, Along::Y),
    ),
    function(
        "twinx",
        "self",
        "Axes over these that share x and have their own y, told on the right.",
        |_cx, args| Ok(twin_of(&args.object::<Axes>(0)?.place)),
    ),
    function("invert_xaxis", "self", "Numbers grow to the left.", |_cx, args| {
        with(&args[0], |it| it.plot.x.flipped ^= true)
    }),
    function("invert_yaxis", "self", "Numbers grow downwards.", |_cx, args| {
        with(&args[0], |it| it.plot.y.flipped ^= true)
    }),
    function("get_title", "self", "The title.", |_cx, args| {
        place_in(&args[0]).map(|it| it.on_axes(|it| Value::str(it.title.as_str())))
    }),
    function("get_xlabel", "self", "The label of the x axis.", |_cx, args| {
        place_in(&args[0]).map(|it| it.on_axes(|it| Value::str(it.x_label.as_str())))
    }),
    function("get_ylabel", "self", "The label of the y axis.", |_cx, args| {
        place_in(&args[0]).map(|it| it.on_axes(|it| Value::str(it.y_label.as_str())))
    }),
    function("get_figure", "self", "The figure they stand in.", |_cx, args| {
        place_in(&args[0]).map(|it| Value::object(Figure(it.figure)))
    }),
    function("get_xaxis", "self", "The horizontal axis.", |_cx, args| {
        place_in(&args[0]).map(|it| axis_of(&it, Along::X))
    }),
    function("get_yaxis", "self", "The vertical axis.", |_cx, args| {
        place_in(&args[0]).map(|it| axis_of(&it, Along::Y))
    }),
    function(
        "get_legend_handles_labels",
        "self",
        "What has a name, and the names: for ax.legend(handles, labels).",
        handles_and_names,
    ),
    function("clear", "self", "Empties the axes.", |_cx, args| with(&args[0], Pane::clear)),
];

/// The axes over some axes; drawn on from now on.
pub(super) fn twin_of(place: &Place) -> Value {
    let place = place.clone().with_twin(false);
    place.on_pane(|it| _ = it.twin.get_or_insert_with(|| Box::new(Pane::new(Cell::WHOLE))));
    let twin = place.with_twin(true);
    twin.turn_to();
    axes_of(twin)
}

/// Where the axes stand that a value is.
fn place_in(axes: &Value) -> Result<Place, Raised> {
    let axes = axes.downcast::<Axes>().ok_or_else(|| type_error("expected axes"))?;
    Ok(axes.place.clone())
}

/// Changes the pane of axes.
fn with(axes: &Value, change: impl FnOnce(&mut Pane)) -> Res {
    place_in(axes)?.on_pane(change);
    Ok(Value::None)
}

/// The series that have a name, and their names.
fn handles_and_names(_cx: &mut Cx, args: Args<'_>) -> Res {
    let place = place_in(&args[0])?;
    let named: Vec<(usize, String)> = place.on_axes(|it| {
        let named = it.series.iter().enumerate().filter(|(_, it)| !it.look.name.is_empty());
        named.map(|(at, it)| (at, it.look.name.clone())).collect()
    });
    let handles = named.iter().map(|(at, _)| aimed(&place, || artist(*at, None))).collect();
    let names = named.into_iter().map(|(_, name)| Value::from(name)).collect();
    Ok(Value::tuple([Value::list(handles), Value::list(names)]))
}

/// Names for the ticks that are there, or for 0, 1, 2 ...
fn relabel(cx: &mut Cx, args: &Args<'_>, along: Along) -> Res {
    let names = texts(cx, &args[1])?;
    with(&args[0], |it| {
        let ticks = &mut along.scale(&mut it.plot).ticks;
        rename(ticks.get_or_insert_with(|| named_ticks(names.clone())), names);
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
    super::DRAWING.iter().copied().flatten()
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
        Ok(func.map(|func| bound(&self.place, func)))
    }

    fn attributes(&self) -> Vec<Sym> {
        let set = |it: &&str| SETTERS.iter().find(|setter| setter.strip_prefix("set_") == Some(it));
        drawing().map(|it| Sym::of(set(&it.name).unwrap_or(&it.name))).collect()
    }
}

/// A drawing function bound to a set of axes.
struct OnAxes {
    place: Place,
    func: Value,
}

pub(super) fn bound(place: &Place, func: &'static NativeFn) -> Value {
    Value::object(OnAxes { place: place.clone(), func: Value::Native(func) })
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
        aimed(&self.place, || cx.call_with(&self.func, args))
    }
}
