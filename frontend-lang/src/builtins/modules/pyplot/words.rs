//! Words at places: texts, notes with an arrow, numbers over bars.

use std::any::Any;

use super::artist::Artist;
use super::canvas::{Place, keep, on_axes, target};
use super::colors::color;
use super::figures::nothing;
use super::options::Options;
use super::style::plain_look;
use super::values::{self, numbers, place_of};
use crate::native::*;
use crate::shown::{Note, Side};

/// The functions that write; as methods of axes, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[
    function("text", "x, y, s, **options", "Words at a place.", text),
    function(
        "annotate",
        "text, xy, xytext=None, **options",
        "Words about a place; arrowprops draws a line to it.",
        annotate,
    ),
    function(
        "bar_label",
        "container, labels=None, fmt='%g', **options",
        "Numbers over the bars that plt.bar returned.",
        bar_label,
    ),
];

fn text(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("text", args.dict(3)?)?;
    let at = (args.float(0)?, args.float(1)?);
    let text = values::text(cx, &args[2])?;
    let in_axes = options.get("transform").is_some_and(|it| is_axes(&it));
    note(cx, Note { text, at, in_axes, ..Note::default() }, options)
}

/// Whether places are parts of the axes: `ax.transAxes`, or the words for it.
fn is_axes(system: &Value) -> bool {
    system.as_str() == Some(IN_AXES)
}

/// What `ax.transAxes` is, and what `xycoords` may be.
pub(super) const IN_AXES: &str = "axes fraction";

fn annotate(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("annotate", args.dict(3)?)?;
    let text = values::text(cx, &args[0])?;
    let place = place_of(&numbers(cx, &args[1])?)?;
    // Offsets in points cannot be told in units of the axes: the words stand at the place itself.
    let is_offset = options.text("textcoords")?.is_some_and(|it| it.starts_with("offset"));
    let words = args.opt(2).filter(|_| !is_offset);
    let at = words.map_or(Ok(place), |it| place_of(&numbers(cx, it)?))?;
    let points_to = options.get("arrowprops").map(|_| place).filter(|it| *it != at);
    let in_axes = options.get("xycoords").is_some_and(|it| is_axes(&it));
    note(cx, Note { text, at, points_to, in_axes, ..Note::default() }, options)
}

fn note(cx: &mut Cx, mut note: Note, options: Options<'_>) -> Res {
    note.color = plain_look(cx, options)?.color;
    let side = |names: [&str; 2], or: Side| {
        options.any(&names).and_then(|it| it.as_str().and_then(side)).unwrap_or(or)
    };
    note.across = side(["ha", "horizontalalignment"], note.across);
    note.up = side(["va", "verticalalignment"], note.up);
    write(note)
}

/// Puts words on the axes drawn on.
pub(super) fn write(note: Note) -> Res {
    keep(size_of::<Note>() + note.text.len())?;
    let note = on_axes(|it| {
        it.notes.push(note);
        it.notes.len() - 1
    });
    Ok(Value::object(Words { place: target(), note }))
}

/// Which part of words stands at their place.
fn side(name: &str) -> Option<Side> {
    match name {
        "left" | "bottom" | "baseline" => Some(Side::Start),
        "center" | "center_baseline" => Some(Side::Middle),
        "right" | "top" => Some(Side::End),
        _ => None,
    }
}

fn bar_label(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("bar_label", args.dict(3)?)?;
    let bars = args.object::<Artist>(0)?.bars()?;
    let Some((bars, lying)) = bars else {
        return Err(type_error("bar_label takes what plt.bar or plt.barh returned"));
    };
    let labels = args.opt(1).map(|it| cx.collect(it)).transpose()?;
    let mut written = Vec::new();
    for (at, bar) in bars.into_iter().enumerate() {
        let text = match labels.as_ref().map(|it| it.get(at)) {
            Some(label) => label.map(|it| cx.str(it)).transpose()?.unwrap_or_default(),
            None => number_text(cx, &args[2], bar.length)?,
        };
        let (beyond, middle) =
            (if bar.length < 0.0 { Side::End } else { Side::Start }, Side::Middle);
        let (at, across, up) = match lying {
            true => ((bar.end, bar.middle), beyond, middle),
            false => ((bar.middle, bar.end), middle, beyond),
        };
        written.push(note(cx, Note { text, at, across, up, ..Note::default() }, options)?);
    }
    Ok(Value::list(written))
}

/// A number as `'%g'`, `'{:.1f}'` or a function writes it.
pub(super) fn number_text(cx: &mut Cx, format: &Value, number: f64) -> Result<String, Raised> {
    let number = Value::Float(number);
    let text = match format.as_str() {
        Some(template) if template.contains('{') => {
            let method = cx.getattr(format, Sym::of("format"))?;
            cx.call(&method, &[number])?
        }
        Some(_) => cx.binary(BinaryOp::Mod, format, &number)?,
        None => cx.call(format, &[number])?,
    };
    cx.str(&text)
}

/// Words on some axes, as an object.
struct Words {
    place: Place,
    note: usize,
}

static WORDS: NativeType = NativeType {
    module: "matplotlib.text",
    methods: &[&[
        function("get_text", "self", "What they say.", |_cx, args| {
            on_note(&args, |it| Value::from(it.text.clone()))
        }),
        function("set_text", "self, s", "Other words.", |cx, args| {
            let text = values::text(cx, &args[1])?;
            keep(text.len())?;
            on_note(&args, |it| it.text = text).map(|()| Value::None)
        }),
        function("get_position", "self", "Where they stand.", |_cx, args| {
            let (x, y) = on_note(&args, |it| it.at)?;
            Ok(Value::tuple([Value::Float(x), Value::Float(y)]))
        }),
        function("set_position", "self, xy", "Another place.", |cx, args| {
            let at = place_of(&numbers(cx, &args[1])?)?;
            on_note(&args, |it| it.at = at).map(|()| Value::None)
        }),
        function("set_color", "self, color", "Another colour.", |cx, args| {
            let color = color(cx, &args[1])?;
            on_note(&args, |it| it.color = color).map(|()| Value::None)
        }),
        function("remove", "self", "Takes them away.", |_cx, args| {
            on_note(&args, |it| it.text.clear()).map(|()| Value::None)
        }),
        function("set_fontsize", "self, size", "Nothing to do: letters have one size.", nothing),
        function("set_size", "self, size", "Nothing to do: letters have one size.", nothing),
        function("set_fontweight", "self, w", "Nothing to do: letters have one look.", nothing),
        function("set_weight", "self, w", "Nothing to do: letters have one look.", nothing),
        function("set_rotation", "self, s", "Nothing to do: words lie level.", nothing),
        function("set_bbox", "self, box", "Nothing to do: words have no frame.", nothing),
    ]],
    ..NativeType::plain("Text", "Words on axes.")
};

/// Looks at the words or changes them; those that are gone are a `ValueError`.
fn on_note<T>(args: &Args<'_>, change: impl FnOnce(&mut Note) -> T) -> Result<T, Raised> {
    let words = args.object::<Words>(0)?;
    let changed = words.place.on_axes(|plot| plot.notes.get_mut(words.note).map(change));
    changed.ok_or_else(|| value_error("this was cleared from its axes; write it again"))
}

impl NativeObject for Words {
    fn native_type(&self) -> &'static NativeType {
        &WORDS
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Whether a value only stands for words that were written.
pub(super) fn is_words(value: &Value) -> bool {
    value.downcast::<Words>().is_some()
}
