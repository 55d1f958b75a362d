//! `notegrad`: what no other library has a name for: files beside the notebook, tables, pictures, progress.

use std::any::Any;
use std::cell::{Cell, RefCell};

use engine::{Shape, Tensor};

use super::os::path_of;
use crate::memory;
use crate::native::*;
use crate::objects::shown::Shown;
use crate::shown::{Image, Images, Progress, Table};
use crate::tensor::convert;

/// The module `notegrad`.
pub static NOTEGRAD: NativeModule = NativeModule {
    name: "notegrad",
    doc: "Files beside the notebook, tables, pictures and progress.",
    members: &[
        Member::Functions(FUNCTIONS),
        Member::Module("jit", "notegrad.jit"),
        Member::These("notegrad.jit", &["trace", "load"]),
    ],
    aliases: &[],
};

static FUNCTIONS: &[NativeFn] = &[
    function(
        "memory_limit",
        "",
        "Bytes that strings, containers and objects may use; tensors have a budget of their own.",
        |cx, _args| Ok(Value::from(cx.memory_limit)),
    ),
    function("memory_used", "", "Bytes that strings, containers and objects use.", |_cx, _args| {
        Ok(Value::from(memory::used()))
    }),
    function(
        "set_memory_limit",
        "bytes=None",
        "Sets the limit of `memory_limit()`; None is a fifth of the memory of the machine; tensors have three quarters.",
        set_memory_limit,
    ),
    function(
        "read_csv",
        "path, delimiter=',', skip_header=None",
        "A file of numbers as a float32 tensor [rows, columns]. A first line that is not all numbers is skipped.",
        read_csv,
    ),
    function(
        "show_images",
        "images, titles=None, columns=0, title=''",
        "Shows grey images [N, H, W] or colour images [N, C, H, W], each scaled to its own range.",
        show_images,
    ),
    function(
        "show_table",
        "rows, head=None, caption=''",
        "Shows rows of values as a table.",
        show_table,
    ),
    function(
        "progress",
        "iterable, label='', total=None",
        "Goes through `iterable` and shows a bar that updates in place.",
        progress,
    ),
];

fn set_memory_limit(cx: &mut Cx, args: Args<'_>) -> Res {
    let bytes = match args.opt_int(0)? {
        Some(bytes) => usize::try_from(bytes)
            .map_err(|_| value_error(format!("a limit is a number of bytes, not {bytes}")))?,
        None => memory::default_limit(),
    };
    cx.memory_limit = bytes;
    memory::set_limit(bytes);
    Ok(Value::None)
}

fn read_csv(cx: &mut Cx, args: Args<'_>) -> Res {
    let path = path_of(cx, &args[0])?;
    let delimiter = args.str(1)?;
    let bytes = cx.read_file(&path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| value_error(format!("{path} is not text; read_csv takes UTF-8 files")))?;
    let skip = args.opt(2).map(|it| cx.truth(it)).transpose()?;
    parse_csv(&path, &text, delimiter, skip).map(Value::tensor)
}

fn parse_csv(
    path: &str,
    text: &str,
    delimiter: &str,
    skip: Option<bool>,
) -> Result<Tensor, Raised> {
    let mut values: Vec<f32> = Vec::new();
    let (mut n_rows, mut n_columns) = (0, 0);
    for (at, line) in text.lines().enumerate().filter(|it| !it.1.trim().is_empty()) {
        let cells: Vec<Option<f32>> =
            line.split(delimiter).map(|it| it.trim().parse().ok()).collect();
        let is_header = at == 0 && skip.unwrap_or_else(|| cells.iter().any(Option::is_none));
        if is_header {
            continue;
        }
        if n_rows > 0 && cells.len() != n_columns {
            return Err(value_error(format!(
                "{path}, line {}: {} values, but the lines before have {n_columns}",
                at + 1,
                cells.len()
            )));
        }
        n_columns = cells.len();
        for (column, cell) in cells.into_iter().enumerate() {
            values.push(cell.ok_or_else(|| {
                value_error(format!("{path}, line {}, column {}: not a number", at + 1, column + 1))
            })?);
        }
        n_rows += 1;
    }
    Ok(Tensor::from_vec(&values, Shape::from([n_rows, n_columns]))?)
}

fn show(cx: &mut Cx, shown: Shown) -> Res {
    let text = shown.text();
    let value = Value::object(shown);
    cx.host.display(&value, &text, None, false);
    Ok(Value::None)
}

fn show_images(cx: &mut Cx, args: Args<'_>) -> Res {
    let images = convert::variable(&args[0])?.get();
    let titles = match args.opt(1) {
        None => Vec::new(),
        Some(it) => cx.collect(it)?,
    };
    let titles = titles.iter().map(|it| cx.str(it)).collect::<Result<Vec<_>, _>>()?;
    let images = pictures(&images, &titles)?;
    let columns = args.int(2)?.max(0) as usize;
    show(cx, Shown::Images(Images { title: args.str(3)?.to_string(), columns, images }))
}

/// Each image of a batch [N, H, W] or [N, C, H, W] (C 1, 3 or 4), scaled to 0..255 from its own range.
fn pictures(batch: &Tensor, titles: &[String]) -> Result<Vec<Image>, Raised> {
    let (count, channels, height, width) = match **batch.shape() {
        [h, w] => (1, 1, h, w),
        [n, h, w] => (n, 1, h, w),
        [n, c, h, w] if matches!(c, 1 | 3 | 4) => (n, c, h, w),
        _ => {
            return Err(shape_error(format!(
                "show_images takes [N, H, W] or [N, C, H, W] with 1, 3 or 4 channels, got {}",
                batch.shape()
            )));
        }
    };
    if count > 256 {
        return Err(value_error(format!(
            "{count} images are too many for one cell; pick up to 256"
        )));
    }
    let values = batch.to_f64_vec()?;
    let size = channels * height * width;
    let picture = |at: usize| {
        let pixels = scale(&values[at * size..(at + 1) * size], channels);
        let title = titles.get(at).cloned().unwrap_or_default();
        Image { width, height, channels, pixels, title }
    };
    Ok((0..count).map(picture).collect())
}

/// From planes of numbers to interleaved bytes, least value black, greatest white.
pub fn scale(values: &[f64], channels: usize) -> Vec<u8> {
    let finite = values.iter().copied().filter(|it| it.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    let span = if high > low { high - low } else { 1.0 };
    let n_pixels = values.len() / channels.max(1);
    let byte = |it: f64| ((it - low) / span * 255.0).round().clamp(0.0, 255.0) as u8;
    (0..n_pixels)
        .flat_map(|pixel| (0..channels).map(move |channel| channel * n_pixels + pixel))
        .map(|at| byte(values[at]))
        .collect()
}

fn show_table(cx: &mut Cx, args: Args<'_>) -> Res {
    let rows = match &args[0] {
        Value::Tensor(it) => convert::to_list(cx, &it.get())?,
        other => other.clone(),
    };
    let mut table = Table { caption: args.str(2)?.to_string(), ..Table::default() };
    let mut is_number: Vec<bool> = Vec::new();
    for row in cx.collect(&rows)? {
        let cells = cx.collect(&row)?;
        is_number.resize(is_number.len().max(cells.len()), true);
        for (at, cell) in cells.iter().enumerate() {
            is_number[at] &= cell.as_float().is_some();
        }
        table.rows.push(cells.iter().map(|it| cx.str(it)).collect::<Result<_, _>>()?);
    }
    table.numeric = (0..is_number.len()).filter(|&at| is_number[at]).collect();
    if let Some(head) = args.opt(1) {
        let head = cx.collect(head)?;
        table.head = head.iter().map(|it| cx.str(it)).collect::<Result<_, _>>()?;
    }
    show(cx, Shown::Table(table))
}

/// Seconds between two updates of a bar.
const REFRESH: f64 = 0.1;

struct Loop {
    items: Value,
    state: RefCell<Progress>,
    started: f64,
    shown: Cell<f64>,
}

fn progress(cx: &mut Cx, args: Args<'_>) -> Res {
    thread_local! {
        static COUNT: Cell<u32> = const { Cell::new(0) };
    }
    COUNT.set(COUNT.get() + 1);
    let total = match args.opt(2) {
        Some(_) => Some(args.int(2)?.max(0) as u64),
        None => cx.len(&args[0]).ok().map(|it| it as u64),
    };
    let state = Progress {
        id: format!("progress-{}", COUNT.get()),
        label: args.str(1)?.to_string(),
        total,
        ..Progress::default()
    };
    let items = cx.iter(&args[0])?;
    let started = cx.host.monotonic();
    let this =
        Loop { items, state: RefCell::new(state), started, shown: Cell::new(f64::NEG_INFINITY) };
    this.draw(cx, false);
    Ok(Value::object(this))
}

impl Loop {
    fn draw(&self, cx: &mut Cx, update: bool) {
        let now = cx.host.monotonic();
        self.shown.set(now);
        self.state.borrow_mut().seconds = now - self.started;
        let state = self.state.borrow().clone();
        let id = state.id.clone();
        let shown = Shown::Progress(state);
        let text = shown.text();
        cx.host.display(&Value::object(shown), &text, Some(&id), update);
    }
}

static PROGRESS_METHODS: &[NativeFn] =
    &[function("set_note", "self, note", "Text shown at the end of the bar.", set_note)];

fn set_note(cx: &mut Cx, args: Args<'_>) -> Res {
    let note = cx.str(&args[1])?;
    args.object::<Loop>(0)?.state.borrow_mut().note = note;
    Ok(Value::None)
}

static LOOP: NativeType = NativeType {
    module: "notegrad",
    methods: &[PROGRESS_METHODS],
    ..NativeType::plain("progress", "A loop that shows how far it is.")
};

impl NativeObject for Loop {
    fn native_type(&self) -> &'static NativeType {
        &LOOP
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn iter(&self, _cx: &mut Cx, this: &Value) -> Result<Option<Value>, Raised> {
        Ok(Some(this.clone()))
    }

    fn is_iterator(&self) -> bool {
        true
    }

    fn next(&self, cx: &mut Cx, _this: &Value) -> Result<Option<Value>, Raised> {
        let item = cx.next(&self.items)?;
        let is_first = self.shown.get() == f64::NEG_INFINITY;
        if item.is_none() {
            self.draw(cx, true);
            return Ok(None);
        }
        if !is_first && cx.host.monotonic() - self.shown.get() >= REFRESH {
            self.draw(cx, true);
        }
        self.state.borrow_mut().done += 1;
        Ok(item)
    }

    fn traverse(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.items);
    }
}
