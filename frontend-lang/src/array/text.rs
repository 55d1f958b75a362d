//! How an array prints: NumPy's layout (as few digits as tell the numbers apart, 8 at most, 75 columns, summarised above 1,000 elements).

use std::cell::Cell;

use engine::dtype::{Format, Kind};
use engine::{DType, Result, Tensor};

/// What `np.set_printoptions` sets.
#[derive(Clone, Copy)]
pub struct Options {
    /// Most digits after the point.
    pub precision: usize,
    /// Arrays with more elements are summarised.
    pub threshold: usize,
    /// Elements shown at each end of a summarised dimension.
    pub edge: usize,
    /// Columns of a line.
    pub line: usize,
    /// Small numbers show no exponent.
    pub suppress: bool,
    /// All numbers show as many digits as `precision` says.
    pub fixed: bool,
    /// Positive numbers show their sign.
    pub plus: bool,
}

/// What holds until something else is set.
pub const DEFAULT: Options = Options {
    precision: 8,
    threshold: 1000,
    edge: 3,
    line: 75,
    suppress: false,
    fixed: false,
    plus: false,
};

thread_local! {
    static OPTIONS: Cell<Options> = const { Cell::new(DEFAULT) };
}

/// How arrays print now.
pub fn options() -> Options {
    OPTIONS.get()
}

/// Sets how arrays print.
pub fn set_options(options: Options) {
    OPTIONS.set(options);
}

/// `array([1., 2.])`, with what the elements do not tell.
pub fn repr(array: &Tensor) -> Result<String> {
    let prefix = "array(";
    let options = options();
    let list = array_text(array, &options, ", ", prefix)?;
    let mut extras = Vec::new();
    let summarised = array.numel() > options.threshold;
    if array.numel() == 0 && array.shape()[..] != [0] || summarised {
        let sizes: Vec<String> = array.shape().iter().map(ToString::to_string).collect();
        let comma = if sizes.len() == 1 { "," } else { "" };
        extras.push(format!("shape=({}{comma})", sizes.join(", ")));
    }
    let implied = array.dtype().is_of_numbers();
    if !implied || array.numel() == 0 {
        extras.push(format!("dtype={}", array.dtype().name()));
    }
    if extras.is_empty() {
        return Ok(format!("{prefix}{list})"));
    }
    let (text, extra) = (format!("{prefix}{list},"), extras.join(", ") + ")");
    let last = text.len() - text.rfind('\n').map_or(0, |it| it + 1);
    let gap = if last + extra.len() + 1 > options.line {
        format!("\n{}", " ".repeat(prefix.len()))
    } else {
        " ".into()
    };
    Ok(format!("{text}{gap}{extra}"))
}

/// `[1. 2.]`.
pub fn str(array: &Tensor) -> Result<String> {
    array_text(array, &options(), " ", "")
}

/// The nested brackets alone, `separator` between elements, continuation lines indented for `prefix`.
pub fn array_text(
    array: &Tensor,
    options: &Options,
    separator: &str,
    prefix: &str,
) -> Result<String> {
    if array.numel() == 0 {
        return Ok("[]".into());
    }
    let cells = Cells::read(array, options)?;
    let layout = Layout { cells: &cells, separator };
    let width = options.line.saturating_sub(if prefix.is_empty() { 0 } else { 1 });
    Ok(layout.nested(0, 0, &" ".repeat(prefix.len() + 1), width))
}

/// The elements that are shown, as texts of one width.
struct Cells {
    /// Indices shown per dimension; `None` stands for the dots.
    shown: Vec<Vec<Option<usize>>>,
    texts: Vec<String>,
}

impl Cells {
    fn read(array: &Tensor, options: &Options) -> Result<Self> {
        let summarise = array.numel() > options.threshold;
        let indices = |&size: &usize| {
            if summarise && size > 2 * options.edge {
                let tail = size - options.edge..size;
                return (0..options.edge).map(Some).chain([None]).chain(tail.map(Some)).collect();
            }
            (0..size).map(Some).collect()
        };
        let shown: Vec<Vec<Option<usize>>> = array.shape().iter().map(indices).collect();
        let mut places = vec![0_usize];
        for (list, &size) in shown.iter().zip(array.shape().iter()) {
            let picked: Vec<usize> = list.iter().flatten().copied().collect();
            places =
                places.iter().flat_map(|it| picked.iter().map(move |at| it * size + at)).collect();
        }
        let dtype = array.dtype();
        let texts = match dtype.kind() {
            Kind::Float => {
                let all = array.to_f64_vec()?;
                let shown: Vec<f64> = places.iter().map(|at| all[*at]).collect();
                Floats::texts(&shown, dtype, options)
            }
            Kind::Bool => {
                let all = array.to_vec::<u8>()?;
                let alone = array.rank() == 0;
                let text = |at: &usize| match (all[*at] != 0, alone) {
                    (true, false) => " True".to_owned(),
                    (true, true) => "True".to_owned(),
                    (false, _) => "False".to_owned(),
                };
                let texts: Vec<String> = places.iter().map(text).collect();
                padded(texts)
            }
            Kind::Int | Kind::Complex => {
                let all = array.to_i64_vec()?;
                let plus = |it: i64| {
                    if options.plus && it >= 0 { format!("+{it}") } else { it.to_string() }
                };
                padded(places.iter().map(|at| plus(all[*at])).collect())
            }
        };
        Ok(Cells { shown, texts })
    }

    /// Number of texts below one shown index of dimension `dim`.
    fn stride(&self, dim: usize) -> usize {
        self.shown[dim + 1..].iter().map(|it| it.iter().flatten().count()).product()
    }
}

fn padded(texts: Vec<String>) -> Vec<String> {
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    texts.into_iter().map(|it| format!("{it:>width$}")).collect()
}

/// From where on floats of a dtype are written with an exponent: ten to the digits that it holds.
pub(super) fn plain_below(dtype: DType) -> f64 {
    match dtype.format() {
        Some(Format::F16) => 1e3,
        Some(Format::F32) => 1e6,
        // bfloat16 is none of NumPy's.
        Some(Format::BF16 | Format::F64) | None => 1e16,
    }
}

/// How floats of one array are written.
struct Floats {
    dtype: DType,
    exponents: bool,
    /// Most digits after the point, and least.
    digits: (usize, usize),
    /// Digits of exponents.
    exponent: usize,
}

impl Floats {
    fn texts(values: &[f64], dtype: DType, options: &Options) -> Vec<String> {
        let finite: Vec<f64> = values.iter().copied().filter(|it| it.is_finite()).collect();
        let sizes = finite.iter().map(|it| it.abs()).filter(|it| *it != 0.0);
        let (max, min) = (sizes.clone().fold(0.0, f64::max), sizes.fold(f64::INFINITY, f64::min));
        let limit = plain_below(dtype).min(1e8);
        let small = !options.suppress && (min < 1e-4 || max / min > 1000.0);
        let exponents = max != 0.0 && (max >= limit || small);
        let least = if options.fixed { options.precision } else { 0 };
        let mut floats =
            Floats { dtype, exponents, digits: (options.precision, least), exponent: 2 };
        let after = |text: &String| {
            let rest = text.split('.').nth(1).unwrap_or("");
            rest.split('e').next().unwrap_or("").len()
        };
        let first: Vec<String> = finite.iter().map(|it| floats.one(*it)).collect();
        let most = first.iter().map(after).max().unwrap_or(0);
        if exponents {
            floats.digits = (options.precision, most);
            let size = |it: &String| it.split('e').nth(1).map_or(2, |it| it.len() - 1);
            floats.exponent = first.iter().map(size).max().unwrap_or(2);
        }
        let sign = |value: f64, text: String| {
            if options.plus && value >= 0.0 { format!("+{text}") } else { text }
        };
        let write = |value: &f64| {
            let text = sign(*value, floats.one(*value));
            if !value.is_finite() || exponents {
                return text;
            }
            let gap = most - after(&text).min(most);
            text + &" ".repeat(gap)
        };
        // What is not finite stands to the right.
        padded(values.iter().map(write).collect())
    }

    fn one(&self, value: f64) -> String {
        if value.is_nan() {
            return "nan".into();
        }
        if value.is_infinite() {
            return if value > 0.0 { "inf".into() } else { "-inf".into() };
        }
        let (most, least) = self.digits;
        if self.exponents {
            let shortest = format!("{:e}", self.dtype.shortest(value));
            let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
            let own = mantissa.split('.').nth(1).unwrap_or("").len();
            // Digits that are asked for beyond the shortest are those of the element itself.
            let wanted = own.clamp(least.min(most), most);
            let (mantissa, exponent) = if own != wanted {
                let cut = format!("{value:.wanted$e}");
                let (mantissa, exponent) = cut.split_once('e').unwrap_or((&cut, "0"));
                (mantissa.to_owned(), exponent.to_owned())
            } else {
                (mantissa.to_owned(), exponent.to_owned())
            };
            return format!(
                "{}e{}",
                digits(&mantissa, least),
                exponent_text(&exponent, self.exponent)
            );
        }
        let shortest = self.dtype.shortest(value).to_string();
        let own = shortest.split('.').nth(1).unwrap_or("").len();
        let text = if own > most { format!("{value:.most$}") } else { shortest };
        digits(&text, least)
    }
}

/// A decimal with its point, zeros at the end cut off down to `least` digits, or filled up to them.
fn digits(text: &str, least: usize) -> String {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let rest = rest.trim_end_matches('0');
    format!("{whole}.{rest:0<least$}")
}

/// C's exponent: a sign and at least so many digits.
fn exponent_text(exponent: &str, least: usize) -> String {
    match exponent.strip_prefix('-') {
        Some(digits) => format!("-{digits:0>least$}"),
        None => format!("+{exponent:0>least$}"),
    }
}

/// Puts texts into brackets and lines.
struct Layout<'a> {
    cells: &'a Cells,
    separator: &'a str,
}

impl Layout<'_> {
    fn nested(&self, dim: usize, start: usize, indent: &str, width: usize) -> String {
        let rank = self.cells.shown.len();
        if dim == rank {
            return self.cells.texts[start].trim_start().to_owned();
        }
        let inner = match rank - dim {
            1 => self.row(start, indent, width),
            left => {
                let stride = self.cells.stride(dim);
                let gap = format!("{}{}{indent}", self.separator.trim_end(), "\n".repeat(left - 1));
                let mut at = start;
                let mut parts = Vec::new();
                for index in &self.cells.shown[dim] {
                    if index.is_none() {
                        parts.push("...".to_owned());
                        continue;
                    }
                    parts.push(self.nested(
                        dim + 1,
                        at,
                        &format!("{indent} "),
                        width.saturating_sub(1),
                    ));
                    at += stride;
                }
                parts.join(&gap)
            }
        };
        format!("[{inner}]")
    }

    /// The elements of the last dimension, over as many lines as they need.
    fn row(&self, start: usize, indent: &str, width: usize) -> String {
        let room = width.saturating_sub(self.separator.trim_end().len().max(1));
        let (mut text, mut line) = (String::new(), indent.to_owned());
        let shown = &self.cells.shown[self.cells.shown.len() - 1];
        let mut at = start;
        for (idx, index) in shown.iter().enumerate() {
            let word = match index {
                Some(_) => {
                    at += 1;
                    self.cells.texts[at - 1].as_str()
                }
                None => "...",
            };
            if line.len() + word.len() > room && line.len() > indent.len() {
                text.push_str(line.trim_end());
                text.push('\n');
                line = indent.to_owned();
            }
            line.push_str(word);
            if idx + 1 < shown.len() {
                line.push_str(self.separator);
            }
        }
        text.push_str(&line);
        text[indent.len()..].to_owned()
    }
}
