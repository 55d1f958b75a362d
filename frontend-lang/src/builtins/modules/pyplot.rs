//! `matplotlib.pyplot`: the part of its surface that draws lines, points, bars and pictures.

use std::any::Any;
use std::cell::RefCell;

use super::notegrad::scale;
use crate::native::*;
use crate::objects::shown::Shown;
use crate::shown::{Figure, Image, Panel, Plot, Series, SeriesStyle};
use crate::tensor::convert;

/// The module `matplotlib.pyplot`.
pub static PYPLOT: NativeModule = NativeModule {
    name: "matplotlib.pyplot",
    doc: "Plots.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::Functions(DRAWING),
        Member::Module("cm", "matplotlib.cm"),
    ],
    aliases: &["notegrad.pyplot"],
};

/// The module `matplotlib`.
pub static MATPLOTLIB: NativeModule = NativeModule {
    name: "matplotlib",
    doc: "Plots; see `matplotlib.pyplot`.",
    members: &[Member::Module("pyplot", "matplotlib.pyplot")],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function("figure", "num=None, figsize=None, **options", "Starts a new figure.", new_figure),
    function(
        "subplots",
        "nrows=1, ncols=1, figsize=None, **options",
        "A new figure and its axes.",
        subplots,
    ),
    function("subplot", "nrows, ncols=1, index=1", "Turns to one place of a grid.", subplot),
    function(
        "add_subplot",
        "nrows=1, ncols=1, index=1, **options",
        "As subplot, of a figure.",
        subplot,
    ),
    function("suptitle", "text, **options", "Title of the whole figure.", suptitle),
    function("show", "", "Shows the figure and starts a new one.", show_now),
    function(
        "tight_layout",
        "**options",
        "Nothing to do: figures are laid out when drawn.",
        nothing,
    ),
    function("close", "fig=None", "Forgets the figure.", close),
    function("colorbar", "*args, **options", "Nothing to do: pictures have no scale.", nothing),
    function("savefig", "*args, **options", "Refused: figures stand in the notebook.", no_file),
];

/// The functions that draw on the current axes; as methods of axes they take `self` first.
static DRAWING: &[NativeFn] = &[
    function(
        "plot",
        "*points, **options",
        "Joins points by lines: plot(y), plot(x, y), plot(x, y, 'o--').",
        plot,
    ),
    function("scatter", "x, y, **options", "Dots.", scatter),
    function("bar", "x, height, width=0.8, **options", "Bars.", bar),
    function(
        "hist",
        "x, bins=10, **options",
        "How many values fall into each of equal bins.",
        hist,
    ),
    function("imshow", "image, **options", "A picture [H, W] or [H, W, 3].", imshow),
    function(
        "contourf",
        "x, y, z, **options",
        "Heights over a grid, as dots of one colour per level.",
        contourf,
    ),
    function("title", "text, **options", "Title of the axes.", title),
    function("xlabel", "text, **options", "Label of the horizontal axis.", x_label),
    function("ylabel", "text, **options", "Label of the vertical axis.", y_label),
    function("xlim", "left, right=None", "Ends of the horizontal axis.", x_limits),
    function("ylim", "bottom, top=None", "Ends of the vertical axis.", y_limits),
    function("xscale", "value", "'linear' or 'log'.", x_scale),
    function("yscale", "value", "'linear' or 'log'.", y_scale),
    function("legend", "*entries, **options", "Names the series.", legend),
    function("grid", "visible=True, **options", "Lines across at the ticks.", grid),
    function("axis", "option", "Accepted; axes are drawn where they help.", axis),
];

/// The figure being drawn.
#[derive(Default)]
struct Canvas {
    title: String,
    columns: usize,
    size: Option<(u32, u32)>,
    panels: Vec<Panel>,
    current: usize,
}

thread_local! {
    static CANVAS: RefCell<Canvas> = RefCell::default();
}

/// Shows a figure that the program drew and did not show; called at the end of a cell.
pub fn show_pending(cx: &mut Cx) {
    let canvas = CANVAS.take();
    let drawn = canvas.panels.iter().any(|panel| match panel {
        Panel::Plot(it) => !it.series.is_empty(),
        Panel::Image(_) => true,
    });
    if !drawn {
        return;
    }
    let figure = Figure { title: canvas.title, columns: canvas.columns, panels: canvas.panels };
    let shown = Shown::Figure(figure);
    let text = shown.text();
    cx.host.display(&Value::object(shown), &text, None, false);
}

fn on_axes(change: impl FnOnce(&mut Plot)) {
    CANVAS.with_borrow_mut(|canvas| {
        let size = canvas.size;
        let at = canvas.current;
        while canvas.panels.len() <= at {
            canvas.panels.push(Panel::Plot(Plot { size, ..Plot::default() }));
        }
        if let Panel::Plot(plot) = &mut canvas.panels[at] {
            change(plot);
        }
    });
}

fn new_figure(cx: &mut Cx, args: Args<'_>) -> Res {
    show_pending(cx);
    let size = size_of_figure(cx, args.opt(1))?;
    CANVAS.with_borrow_mut(|it| it.size = size);
    Ok(Value::object(Axes { at: 0 }))
}

/// Inches as matplotlib has them, at 80 pixels each, within reason.
fn size_of_figure(cx: &mut Cx, value: Option<&Value>) -> Result<Option<(u32, u32)>, Raised> {
    let Some(value) = value else { return Ok(None) };
    let sides = cx.collect(value)?;
    match sides.iter().map(Value::as_float).collect::<Option<Vec<_>>>().as_deref() {
        Some([width, height]) => {
            let pixels = |inches: &f64| (inches * 80.0).clamp(120.0, 1600.0) as u32;
            Ok(Some((pixels(width), pixels(height))))
        }
        _ => Err(value_error("figsize is a pair of numbers: (width, height)")),
    }
}

fn subplots(cx: &mut Cx, args: Args<'_>) -> Res {
    show_pending(cx);
    let (rows, columns) = (args.int(0)?.clamp(1, 64) as usize, args.int(1)?.clamp(1, 64) as usize);
    let size = size_of_figure(cx, args.opt(2))?;
    let each = size.map(|(width, height)| (width / columns as u32, height / rows as u32));
    CANVAS.with_borrow_mut(|it| {
        it.columns = columns;
        it.panels = (0..rows * columns)
            .map(|_| Panel::Plot(Plot { size: each, ..Plot::default() }))
            .collect();
    });
    let axes = |at: usize| Value::object(Axes { at });
    let row =
        |row: usize| (0..columns).map(|column| axes(row * columns + column)).collect::<Vec<_>>();
    let grid = match (rows, columns) {
        (1, 1) => axes(0),
        (1, _) => Value::list(row(0)),
        (_, 1) => Value::list((0..rows).map(axes).collect()),
        _ => Value::list((0..rows).map(|it| Value::list(row(it))).collect()),
    };
    Ok(Value::tuple(vec![axes(0), grid]))
}

fn subplot(_cx: &mut Cx, args: Args<'_>) -> Res {
    let (columns, index) = match args.int(0)? {
        code @ 100..=999 => ((code / 10 % 10) as usize, code % 10),
        _ => (args.int(1)?.max(1) as usize, args.int(2)?),
    };
    let at = (index.max(1) - 1).min(255) as usize;
    CANVAS.with_borrow_mut(|it| {
        it.columns = columns;
        it.current = at;
    });
    on_axes(|_| {});
    Ok(Value::object(Axes { at }))
}

fn suptitle(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.str(&args[0])?;
    CANVAS.with_borrow_mut(|it| it.title = text);
    Ok(Value::None)
}

fn show_now(cx: &mut Cx, _args: Args<'_>) -> Res {
    show_pending(cx);
    Ok(Value::None)
}

fn close(_cx: &mut Cx, _args: Args<'_>) -> Res {
    CANVAS.take();
    Ok(Value::None)
}

fn nothing(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::None)
}

fn no_file(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Err(not_implemented(
        "savefig writes no files here: the figure is part of the notebook, which can be exported as HTML",
    ))
}

fn axis(_cx: &mut Cx, _args: Args<'_>) -> Res {
    Ok(Value::None)
}

fn numbers(cx: &mut Cx, value: &Value) -> Result<Vec<f64>, Raised> {
    if let Value::Tensor(it) = value {
        return Ok(it.get().to_f64_vec()?);
    }
    if let Some(one) = value.as_float() {
        return Ok(vec![one]);
    }
    let number = |it: &Value| {
        let inner = it.as_float().or_else(|| it.as_native().and_then(|it| it.as_float()));
        inner.ok_or_else(|| type_error(format!("plots take numbers, not {}", type_name(it))))
    };
    cx.collect(value)?.iter().map(number).collect()
}

fn option(options: &Dict, name: &str) -> Option<Value> {
    options.get_str(name).filter(|it| !it.is_none())
}

/// A series with the look that keyword options ask for.
fn styled(cx: &mut Cx, options: &Dict, xs: Vec<f64>, ys: Vec<f64>) -> Result<Series, Raised> {
    if xs.len() != ys.len() {
        return Err(value_error(format!("x has {} values, y has {}", xs.len(), ys.len())));
    }
    let mut series = Series { xs, ys, ..Series::default() };
    if let Some(label) = option(options, "label") {
        series.name = cx.str(&label)?;
    }
    if let Some(color) = option(options, "color").or_else(|| option(options, "c")) {
        series.color = color.as_str().and_then(color_of);
    }
    series.markers = option(options, "marker").is_some();
    let line = option(options, "linestyle").or_else(|| option(options, "ls"));
    series.dashed = line
        .and_then(|it| it.as_str().map(|it| it.contains("--") || it == "dashed"))
        .unwrap_or(false);
    Ok(series)
}

/// matplotlib's names and `#rrggbb`; other names take the palette's next colour.
fn color_of(name: &str) -> Option<[u8; 3]> {
    let hex = match name {
        "b" | "blue" | "C0" | "tab:blue" => "#1f77b4",
        "orange" | "C1" | "tab:orange" => "#ff7f0e",
        "g" | "green" | "C2" | "tab:green" => "#2ca02c",
        "r" | "red" | "C3" | "tab:red" => "#d62728",
        "purple" | "m" | "C4" | "tab:purple" => "#9467bd",
        "c" | "cyan" | "tab:cyan" => "#17becf",
        "gray" | "grey" | "tab:gray" => "#7f7f7f",
        other => other,
    };
    let digits = hex.strip_prefix('#').filter(|it| it.len() == 6 && it.is_ascii())?;
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some([byte(0)?, byte(2)?, byte(4)?])
}

fn plot(cx: &mut Cx, args: Args<'_>) -> Res {
    let mut rest = args.rest(0);
    let options = args.dict(1)?;
    while let [first, tail @ ..] = rest {
        let first = numbers(cx, first)?;
        let (xs, ys, tail) = match tail {
            [second, tail @ ..] if second.as_str().is_none() => (first, numbers(cx, second)?, tail),
            tail => ((0..first.len()).map(|it| it as f64).collect(), first, tail),
        };
        let mut series = styled(cx, options, xs, ys)?;
        rest = match tail {
            [format, tail @ ..] if format.as_str().is_some() => {
                apply_format(&mut series, format.as_str().unwrap_or(""));
                tail
            }
            tail => tail,
        };
        on_axes(|it| it.series.push(series));
    }
    Ok(Value::None)
}

/// `'ro--'`: colour, marker and line in one word.
fn apply_format(series: &mut Series, format: &str) {
    series.markers |= format.contains(['o', '.', 'x', 's', '^', '*', '+']);
    series.dashed |= format.contains("--") || format.contains(':');
    if series.markers && !format.contains('-') && !format.contains(':') {
        series.style = SeriesStyle::Scatter;
    }
    let letter = format.chars().find(|it| "bgrcm".contains(*it));
    series.color = series.color.or_else(|| letter.and_then(|it| color_of(&it.to_string())));
}

fn scatter(cx: &mut Cx, args: Args<'_>) -> Res {
    let (xs, ys) = (numbers(cx, &args[0])?, numbers(cx, &args[1])?);
    let mut series = styled(cx, args.dict(2)?, xs, ys)?;
    series.style = SeriesStyle::Scatter;
    on_axes(|it| it.series.push(series));
    Ok(Value::None)
}

fn bar(cx: &mut Cx, args: Args<'_>) -> Res {
    let ys = numbers(cx, &args[1])?;
    let names = match &args[0] {
        Value::List(_) | Value::Tuple(_) => cx.collect(&args[0])?,
        _ => Vec::new(),
    };
    let named = !names.is_empty() && names.iter().all(|it| it.as_str().is_some());
    let xs =
        if named { (0..ys.len()).map(|it| it as f64).collect() } else { numbers(cx, &args[0])? };
    let mut series = styled(cx, args.dict(3)?, xs, ys)?;
    series.style = SeriesStyle::Bar;
    series.bar_width = args.float(2)?;
    on_axes(|it| {
        if named {
            it.x_names = names.iter().filter_map(|it| it.as_str().map(str::to_string)).collect();
        }
        it.series.push(series);
    });
    Ok(Value::None)
}

fn hist(cx: &mut Cx, args: Args<'_>) -> Res {
    let values: Vec<f64> = numbers(cx, &args[0])?.into_iter().filter(|it| it.is_finite()).collect();
    let n_bins = args.int(1)?.clamp(1, 1000) as usize;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = if high > low { (high - low) / n_bins as f64 } else { 1.0 };
    let mut counts = vec![0.0; n_bins];
    for value in &values {
        counts[(((value - low) / width) as usize).min(n_bins - 1)] += 1.0;
    }
    let centres = (0..n_bins).map(|it| low + (it as f64 + 0.5) * width).collect();
    let mut series = styled(cx, args.dict(2)?, centres, counts)?;
    series.style = SeriesStyle::Bar;
    series.bar_width = width;
    on_axes(|it| it.series.push(series));
    Ok(Value::None)
}

/// Heights over a grid: the points of each level are one series.
fn contourf(cx: &mut Cx, args: Args<'_>) -> Res {
    let (xs, ys) = (numbers(cx, &args[0])?, numbers(cx, &args[1])?);
    let heights = numbers(cx, &args[2])?;
    if xs.len() != heights.len() || ys.len() != heights.len() {
        return Err(shape_error("contourf takes x, y and z of one shape, as meshgrid gives them"));
    }
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let step = if high > low { (high - low) / LEVELS.len() as f64 } else { 1.0 };
    for (level, color) in LEVELS.iter().enumerate() {
        let inside = |at: &usize| {
            ((heights[*at] - low) / step).min(LEVELS.len() as f64 - 1.0) as usize == level
        };
        let places: Vec<usize> = (0..heights.len()).filter(inside).collect();
        if places.is_empty() {
            continue;
        }
        let pick = |from: &[f64]| places.iter().map(|&at| from[at]).collect::<Vec<_>>();
        let mut series = styled(cx, args.dict(3)?, pick(&xs), pick(&ys))?;
        series.style = SeriesStyle::Scatter;
        series.color = Some(*color);
        on_axes(|it| it.series.push(series));
    }
    Ok(Value::None)
}

/// Colours of heights, from low to high.
const LEVELS: [[u8; 3]; 5] = [
    [0x5e, 0x4f, 0xa2],
    [0x66, 0xc2, 0xa5],
    [0xe6, 0xf5, 0x98],
    [0xfd, 0xae, 0x61],
    [0x9e, 0x01, 0x42],
];

fn imshow(_cx: &mut Cx, args: Args<'_>) -> Res {
    let value = convert::variable(&args[0])?.get();
    let (height, width, channels) = match **value.shape() {
        [h, w] => (h, w, 1),
        [h, w, c] if matches!(c, 1 | 3 | 4) => (h, w, c),
        _ => {
            return Err(shape_error(format!(
                "imshow takes [H, W] or [H, W, 3], got {}",
                value.shape()
            )));
        }
    };
    if height * width > 1 << 22 {
        return Err(value_error("this picture is too large to show; pick a part of it"));
    }
    // Channels already come last, so the bytes are scaled as one plane.
    let pixels = scale(&value.to_f64_vec()?, 1);
    let image = Image { width, height, channels, pixels, title: String::new() };
    CANVAS.with_borrow_mut(|canvas| {
        let at = canvas.current;
        while canvas.panels.len() <= at {
            canvas.panels.push(Panel::Plot(Plot::default()));
        }
        canvas.panels[at] = Panel::Image(image);
    });
    Ok(Value::None)
}

fn title(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.str(&args[0])?;
    let is_image = CANVAS.with_borrow_mut(|canvas| {
        let at = canvas.current;
        match canvas.panels.get_mut(at) {
            Some(Panel::Image(it)) => {
                it.title.clone_from(&text);
                true
            }
            _ => false,
        }
    });
    if !is_image {
        on_axes(|it| it.title = text);
    }
    Ok(Value::None)
}

fn x_label(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.str(&args[0])?;
    on_axes(|it| it.x_label = text);
    Ok(Value::None)
}

fn y_label(cx: &mut Cx, args: Args<'_>) -> Res {
    let text = cx.str(&args[0])?;
    on_axes(|it| it.y_label = text);
    Ok(Value::None)
}

fn limits(cx: &mut Cx, args: &Args<'_>) -> Result<Option<(f64, f64)>, Raised> {
    let ends = match args.opt(1) {
        Some(_) => vec![args.float(0)?, args.float(1)?],
        None => numbers(cx, &args[0])?,
    };
    match ends.as_slice() {
        [low, high] if low < high => Ok(Some((*low, *high))),
        _ => Err(value_error("limits are two numbers, the smaller first")),
    }
}

fn x_limits(cx: &mut Cx, args: Args<'_>) -> Res {
    let range = limits(cx, &args)?;
    on_axes(|it| it.x_range = range);
    Ok(Value::None)
}

fn y_limits(cx: &mut Cx, args: Args<'_>) -> Res {
    let range = limits(cx, &args)?;
    on_axes(|it| it.y_range = range);
    Ok(Value::None)
}

fn x_scale(_cx: &mut Cx, args: Args<'_>) -> Res {
    let log = args.str(0)? == "log";
    on_axes(|it| it.x_log = log);
    Ok(Value::None)
}

fn y_scale(_cx: &mut Cx, args: Args<'_>) -> Res {
    let log = args.str(0)? == "log";
    on_axes(|it| it.y_log = log);
    Ok(Value::None)
}

fn legend(cx: &mut Cx, args: Args<'_>) -> Res {
    let names = match args.rest(0) {
        [list] => cx.collect(list)?,
        _ => Vec::new(),
    };
    let names = names.iter().map(|it| cx.str(it)).collect::<Result<Vec<_>, _>>()?;
    on_axes(|it| {
        it.legend = true;
        for (series, name) in it.series.iter_mut().zip(names) {
            series.name = name;
        }
    });
    Ok(Value::None)
}

fn grid(cx: &mut Cx, args: Args<'_>) -> Res {
    let on = cx.truth(&args[0])?;
    on_axes(|it| it.grid = on);
    Ok(Value::None)
}

/// One set of axes of the figure.
struct Axes {
    at: usize,
}

static AXES: NativeType =
    NativeType { module: "matplotlib.pyplot", ..NativeType::plain("Axes", "A set of axes.") };

impl NativeObject for Axes {
    fn native_type(&self) -> &'static NativeType {
        &AXES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// `ax.plot` and `ax.set_title` turn to these axes and draw.
    fn getattr(&self, _cx: &mut Cx, _this: &Value, name: Sym) -> Result<Option<Value>, Raised> {
        let text = name.as_str();
        let plain = text.strip_prefix("set_").unwrap_or(text);
        let drawing = DRAWING.iter().chain(FUNCTIONS).find(|it| it.name == plain);
        let at = self.at;
        Ok(drawing.map(|func| Value::object(OnAxes { at, func: Value::Native(func) })))
    }
}

/// A drawing function bound to a set of axes.
struct OnAxes {
    at: usize,
    func: Value,
}

impl NativeObject for OnAxes {
    fn native_type(&self) -> &'static NativeType {
        &AXES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, cx: &mut Cx, _this: &Value, args: CallArgs<'_>) -> Res {
        CANVAS.with_borrow_mut(|it| it.current = self.at);
        cx.call_with(&self.func, args)
    }
}
