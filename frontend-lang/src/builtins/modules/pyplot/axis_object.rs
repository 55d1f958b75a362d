//! One axis as an object (`ax.xaxis`), and the frame of the axes (`ax.spines`).

use std::any::Any;

use super::axes_object::axes_of;
use super::canvas::Place;
use super::categories::Along;
use super::figures::nothing;
use crate::native::*;
use crate::shown::Scale;

/// One axis of some axes.
struct Axis {
    place: Place,
    along: Along,
}

/// `ax.xaxis` or `ax.yaxis`.
pub(super) fn axis_of(place: &Place, along: Along) -> Value {
    Value::object(Axis { place: place.clone(), along })
}

static AXIS: NativeType = NativeType {
    module: "matplotlib.axis",
    methods: &[&[
        function("set_visible", "self, b", "Whether its numbers are told.", |cx, args| {
            let shown = cx.truth(&args[1])?;
            args.object::<Axis>(0)?.on_scale(|it| {
                it.ticks = if shown { None } else { Some(Vec::new()) };
            });
            Ok(Value::None)
        }),
        function("set_label_text", "self, label", "Its label.", |cx, args| {
            let text = super::values::text(cx, &args[1])?;
            let axis = args.object::<Axis>(0)?;
            axis.place.on_axes(|it| match axis.along {
                Along::X => it.x_label = text,
                Along::Y => it.y_label = text,
            });
            Ok(Value::None)
        }),
        function(
            "set_major_locator",
            "self, locator",
            "Nothing to do: round numbers are told, as many as there is room for.",
            nothing,
        ),
        function(
            "set_minor_locator",
            "self, locator",
            "Nothing to do: there are no small ticks.",
            nothing,
        ),
        function(
            "set_major_formatter",
            "self, formatter",
            "Nothing to do: numbers are told as they are; set_xticks(places, labels) names places.",
            nothing,
        ),
        function(
            "set_ticks_position",
            "self, position",
            "Nothing to do: ticks stand outside.",
            nothing,
        ),
        function(
            "set_label_position",
            "self, position",
            "Nothing to do: labels stand outside.",
            nothing,
        ),
        function(
            "set_tick_params",
            "self, **options",
            "Nothing to do: ticks have one look.",
            nothing,
        ),
    ]],
    ..NativeType::plain("Axis", "One axis: ax.xaxis or ax.yaxis.")
};

impl Axis {
    fn on_scale<T>(&self, change: impl FnOnce(&mut Scale) -> T) -> T {
        self.place.on_axes(|it| change(self.along.scale(it)))
    }
}

impl NativeObject for Axis {
    fn native_type(&self) -> &'static NativeType {
        &AXIS
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// `ax.xaxis.set_ticks` is `ax.set_xticks`.
    fn getattr(&self, cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let of_axes = match (name.as_str(), self.along) {
            ("set_ticks", Along::X) => "set_xticks",
            ("set_ticks", Along::Y) => "set_yticks",
            ("set_ticklabels", Along::X) => "set_xticklabels",
            ("set_ticklabels", Along::Y) => "set_yticklabels",
            _ => return Ok(None),
        };
        cx.getattr(&axes_of(self.place.clone()), Sym::of(of_axes)).map(Some)
    }
}

/// The lines around axes, or some of them: there are those on the left and below, which look as they do.
struct Spines;

/// `ax.spines`.
pub(super) fn spines() -> Value {
    Value::object(Spines)
}

const SIDES: &[&str] = &["left", "right", "top", "bottom"];

static SPINES: NativeType = NativeType {
    module: "matplotlib.spines",
    methods: &[&[
        function(
            "set_visible",
            "self, b",
            "Nothing to do: lines stand on the left and below.",
            nothing,
        ),
        function("set_color", "self, c", "Nothing to do: lines have one look.", nothing),
        function("set_linewidth", "self, w", "Nothing to do: lines have one look.", nothing),
        function(
            "set_position",
            "self, position",
            "Nothing to do: lines stand at the edges.",
            nothing,
        ),
        function(
            "set_bounds",
            "self, low=None, high=None",
            "Nothing to do: lines are whole.",
            nothing,
        ),
        function("values", "self", "The four of them.", |_cx, _args| {
            Ok(Value::list(SIDES.iter().map(|_| spines()).collect()))
        }),
        function("items", "self", "The four of them, with their names.", |_cx, _args| {
            let pair = |it: &&str| Value::tuple([Value::str(*it), spines()]);
            Ok(Value::list(SIDES.iter().map(pair).collect()))
        }),
    ]],
    ..NativeType::plain("Spines", "The lines around axes: 'left', 'right', 'top', 'bottom'.")
};

impl NativeObject for Spines {
    fn native_type(&self) -> &'static NativeType {
        &SPINES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn getitem(&self, cx: &mut Cx, _this: &Value, key: &Value) -> Result<Option<Value>, Raised> {
        let names = match key {
            Value::List(_) | Value::Tuple(_) => cx.collect(key)?,
            one => vec![one.clone()],
        };
        for name in &names {
            if !name.as_str().is_some_and(|it| SIDES.contains(&it)) {
                return Err(key_error(name.clone()));
            }
        }
        Ok(Some(spines()))
    }

    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        Ok(SIDES.contains(&name.as_str()).then(spines))
    }

    fn iter(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let names = Value::list(SIDES.iter().map(|it| Value::str(*it)).collect());
        cx.iter(&names).map(Some)
    }
}
