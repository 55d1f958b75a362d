//! Numbers as colours: a map, the numbers at its ends, and the bar beside the axes that tells both.

use std::any::Any;
use std::rc::Rc;

use super::artist::Artist;
use super::axes_object::Axes;
use super::canvas::{Place, on_pane, target};
use super::colors::{Map, map_of};
use super::options::Options;
use super::ticks::{rename, ticks};
use super::values::{self, number, numbers, texts};
use crate::native::*;
use crate::shown::{ColorBar, Rgb, Scale};

/// The functions about colours of numbers; as methods of figures, too.
pub(super) static FUNCTIONS: &[NativeFn] = &[function(
    "colorbar",
    "mappable=None, cax=None, ax=None, **options",
    "Tells beside the axes which numbers the colours of a picture, dots or contours stand for. Options: label, ticks.",
    color_bar,
)];

/// The most colours of a bar.
const STEPS: usize = 256;

/// From numbers to colours.
pub(super) struct Coloring {
    map: Map,
    /// What has the first colour; its power of ten if `log`.
    low: f64,
    /// What has the last colour; its power of ten if `log`.
    high: f64,
    log: bool,
}

impl Coloring {
    /// As `cmap`, `vmin`, `vmax` and `norm` ask for; ends that are not given are the least and the greatest of the values.
    pub(super) fn asked(
        cx: &mut Cx,
        cmap: Option<&Value>,
        options: Options<'_>,
        values: &[f64],
    ) -> Result<Coloring, Raised> {
        let map = map_of(cx, cmap)?;
        let (mut low, mut high) = (options.number(&["vmin"])?, options.number(&["vmax"])?);
        let mut log = false;
        if let Some(norm) = options.get("norm") {
            if low.is_some() || high.is_some() {
                return Err(value_error(
                    "Passing a Normalize instance simultaneously with vmin/vmax is not supported: give vmin and vmax to the norm",
                ));
            }
            (low, high, log) = ends_of(cx, &norm)?;
        }
        let of = |it: f64| if log { it.log10() } else { it };
        let finite = || values.iter().map(|it| of(*it)).filter(|it| it.is_finite());
        let low = low.map_or_else(|| finite().fold(f64::INFINITY, f64::min), of);
        let high = high.map_or_else(|| finite().fold(f64::NEG_INFINITY, f64::max), of);
        Ok(Coloring { map, low, high, log })
    }

    /// Over the whole range of ascending levels.
    pub(super) fn of_levels(map: Map, levels: &[f64]) -> Coloring {
        let end = |it: Option<&f64>| it.copied().unwrap_or_default();
        Coloring { map, low: end(levels.first()), high: end(levels.last()), log: false }
    }

    /// The colour of a number; what is no number is grey.
    pub(super) fn at(&self, value: f64) -> Rgb {
        let value = if self.log { value.log10() } else { value };
        let span = if self.high > self.low { self.high - self.low } else { 1.0 };
        self.map.at((value - self.low) / span)
    }

    /// The bar that tells these colours.
    pub(super) fn bar(&self) -> ColorBar {
        let value = |it: f64| if self.log { 10_f64.powf(it) } else { it };
        let is_known = self.low.is_finite() && self.high.is_finite();
        let ends = if is_known { (self.low, self.high) } else { (0.0, 1.0) };
        let range = Some((value(ends.0), value(ends.1)));
        let place = |it: usize| (it as f64 + 0.5) / STEPS as f64;
        let colors = (0..STEPS).map(|it| self.map.at(place(it))).collect();
        let scale = Scale { range, log: self.log, ..Scale::default() };
        ColorBar { colors, scale, label: String::new() }
    }

    /// The bar of areas between levels, which `color` gives a colour each.
    pub(super) fn bar_of_bands(levels: &[f64], color: impl Fn(usize) -> Rgb) -> ColorBar {
        let (low, high) = (levels[0], levels[levels.len() - 1]);
        let value = |it: usize| low + (high - low) * (it as f64 + 0.5) / STEPS as f64;
        let band =
            |it: f64| levels.partition_point(|level| *level <= it).clamp(1, levels.len() - 1);
        let colors = (0..STEPS).map(|it| color(band(value(it)) - 1)).collect();
        let ticks = ticks(levels, None).ok();
        let scale = Scale { range: Some((low, high)), ticks, ..Scale::default() };
        ColorBar { colors, scale, label: String::new() }
    }
}

/// The ends of a norm, and whether it is logarithmic.
fn ends_of(cx: &mut Cx, norm: &Value) -> Result<(Option<f64>, Option<f64>, bool), Raised> {
    match norm.as_str() {
        Some("linear") => return Ok((None, None, false)),
        Some("log") => return Ok((None, None, true)),
        Some(other) => {
            return Err(value_error(format!(
                "Invalid norm str name; the following values are supported: 'linear', 'log', not '{other}'"
            )));
        }
        None => {}
    }
    let wrong = || {
        format!(
            "norm must be an instance of matplotlib.colors.Normalize, of LogNorm, or 'log', not {}",
            type_name(norm)
        )
    };
    let mut attr = |name| {
        cx.getattr(norm, Sym::of(name)).map_err(|it| match it.is(&ATTRIBUTE_ERROR) {
            true => type_error(wrong()),
            false => it,
        })
    };
    let (low, high) = (attr("vmin")?, attr("vmax")?);
    let log = attr("_is_log")?;
    let end = |it: &Value| number(it).filter(|it| it.is_finite());
    Ok((end(&low), end(&high), cx.truth(&log)?))
}

/// Notes what the colours drawn last stand for.
pub(super) fn mapped(bar: ColorBar) -> Rc<ColorBar> {
    let bar = Rc::new(bar);
    on_pane(|it| it.mapped = Some(bar.clone()));
    bar
}

fn color_bar(cx: &mut Cx, args: Args<'_>) -> Res {
    let options = Options::of("colorbar", args.dict(3)?)?;
    let mapped = match args.opt(0) {
        Some(drawn) => {
            let drawn = drawn.downcast::<Artist>().ok_or_else(|| {
                let told = format!(
                    "colorbar takes what plt.imshow, scatter or contourf returned, not {}",
                    type_name(drawn)
                );
                type_error(told)
            })?;
            drawn.mapped.clone().map(|it| (it, drawn.place.clone()))
        }
        None => on_pane(|it| it.mapped.clone()).map(|it| (it, target())),
    };
    let Some((bar, own)) = mapped else {
        return Err(runtime_error(
            "No mappable was found to use for colorbar creation. First define a mappable such as an image (with imshow) or a contour set (with contourf).",
        ));
    };
    // Of several axes, beside the last.
    let beside = args.opt(2).map(|it| last_axes(cx, it)).transpose()?.unwrap_or(own);
    let mut bar = Box::new(ColorBar::clone(&bar));
    if let Some(label) = options.get("label") {
        bar.label = values::text(cx, &label)?;
    }
    if let Some(places) = options.get("ticks") {
        bar.scale.ticks = Some(ticks(&numbers(cx, &places)?, None)?);
    }
    beside.on_axes(|it| it.color_bar = Some(bar));
    Ok(Value::object(Bar { place: beside }))
}

/// The last of the axes that an option names: axes, a row of them, or rows.
fn last_axes(cx: &mut Cx, value: &Value) -> Result<Place, Raised> {
    let mut last = value.clone();
    for _ in 0..3 {
        if let Some(axes) = last.downcast::<Axes>() {
            return Ok(axes.place.clone());
        }
        let items = if last.as_str().is_some() { Vec::new() } else { cx.collect(&last)? };
        match items.into_iter().next_back() {
            Some(item) => last = item,
            None => break,
        }
    }
    Err(type_error(format!("ax is axes, or a sequence of axes, not {}", type_name(value))))
}

/// The bar beside some axes, as an object; it stands for its own axes, too.
struct Bar {
    place: Place,
}

static BAR: NativeType = NativeType {
    module: "matplotlib.colorbar",
    methods: &[&[
        function("set_label", "self, label, **options", "Words beside it.", label),
        function("set_ylabel", "self, label, **options", "Words beside it.", label),
        function("set_title", "self, label, **options", "Words beside it.", label),
        function(
            "set_ticks",
            "self, ticks, labels=None, **options",
            "The numbers that are named.",
            |cx, args| {
                let names = args.opt(2).map(|it| texts(cx, it)).transpose()?;
                let ticks = ticks(&numbers(cx, &args[1])?, names)?;
                on_bar(&args, |it| it.scale.ticks = Some(ticks))
            },
        ),
        function("set_ticklabels", "self, labels, **options", "Names of its ticks.", name_ticks),
        function("set_yticklabels", "self, labels, **options", "Names of its ticks.", name_ticks),
        function(
            "tick_params",
            "self, *args, **options",
            "Nothing to do: ticks have one look.",
            super::figures::nothing,
        ),
    ]],
    getters: &[Getter { name: "ax", doc: "Its axes.", get: |_cx, it| Ok(it.clone()) }],
    ..NativeType::plain("Colorbar", "The scale of colours beside some axes.")
};

/// Changes the bar, if its axes still have it.
fn on_bar(args: &Args<'_>, change: impl FnOnce(&mut ColorBar)) -> Res {
    let bar = args.object::<Bar>(0)?;
    bar.place.on_axes(|it| it.color_bar.as_deref_mut().map(change));
    Ok(Value::None)
}

fn label(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = values::text(cx, &args[1])?;
    on_bar(&args, |it| it.label = text)
}

fn name_ticks(cx: &mut Cx, args: Args<'_>) -> Res {
    let names = texts(cx, &args[1])?;
    on_bar(&args, |it| rename(it.scale.ticks.get_or_insert_default(), names))
}

impl NativeObject for Bar {
    fn native_type(&self) -> &'static NativeType {
        &BAR
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
