//! How a tensor prints: PyTorch's layout (four digits, summarised above 1,000 elements, 80 columns, unless set otherwise).

use std::cell::Cell;

use engine::apply::default_dtype;
use engine::dtype::Kind;
use engine::{DType, Device, Number, Result, Tensor};

/// What `torch.set_printoptions` sets.
#[derive(Clone, Copy)]
pub struct PrintOptions {
    /// Digits after the point.
    pub precision: usize,
    /// Tensors with more elements are summarised.
    pub threshold: usize,
    /// Elements shown at each end of a summarised dimension.
    pub edge: usize,
    /// Columns of a line.
    pub line: usize,
    /// Whether floats show an exponent; `None`: where they differ much in size.
    pub scientific: Option<bool>,
}

/// What holds until something else is set.
pub const DEFAULT_OPTIONS: PrintOptions =
    PrintOptions { precision: 4, threshold: 1000, edge: 3, line: 80, scientific: None };

thread_local! {
    static OPTIONS: Cell<PrintOptions> = const { Cell::new(DEFAULT_OPTIONS) };
}

/// How tensors print now.
pub fn options() -> PrintOptions {
    OPTIONS.get()
}

/// Sets how tensors print.
pub fn set_options(options: PrintOptions) {
    OPTIONS.set(options);
}

/// The text of `print(tensor)`: `tensor([1., 2.], requires_grad=True)`.
pub fn repr(tensor: &Tensor) -> Result<String> {
    let prefix = "tensor(";
    let mut body = String::from("[]");
    let mut suffixes = Vec::new();
    if tensor.is_meta() {
        let place = ["device='meta'".to_owned(), format!("size={}", tuple(tensor.shape()))];
        let dtype = (tensor.dtype() != default_dtype::get())
            .then(|| format!("dtype=torch.{}", tensor.dtype()));
        suffixes.extend(place.into_iter().chain(dtype).chain(grad_suffix(tensor)));
        return Ok(with_suffixes(&format!("{prefix}..."), &suffixes, prefix.len()));
    }
    if tensor.is_on_gpu() {
        suffixes.push(format!("device='{}'", tensor.device()));
    }
    let float = default_dtype::get();
    let is_default = [float, float.complex(), DType::I64, DType::Bool].contains(&tensor.dtype());
    if tensor.numel() == 0 {
        if tensor.rank() != 1 {
            suffixes.push(format!("size={}", tuple(tensor.shape())));
        }
        if tensor.dtype() != float {
            suffixes.push(format!("dtype=torch.{}", tensor.dtype()));
        }
    } else {
        if !is_default {
            suffixes.push(format!("dtype=torch.{}", tensor.dtype()));
        }
        body = values(tensor, prefix.len())?;
    }
    suffixes.extend(grad_suffix(tensor));
    Ok(with_suffixes(&format!("{prefix}{body}"), &suffixes, prefix.len()))
}

/// The nested brackets alone, continuation lines indented by `indent`.
pub fn values(tensor: &Tensor, indent: usize) -> Result<String> {
    let cells = Cells::read(&tensor.moved_to(Device::Cpu)?)?;
    let format = Format::of(&cells);
    Ok(nested(&cells, &format, 0, 0, indent))
}

/// `(2, 3)`, and `(2,)` for one dimension.
fn tuple(shape: &[usize]) -> String {
    let inner = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if shape.len() == 1 { format!("({inner},)") } else { format!("({inner})") }
}

fn grad_suffix(tensor: &Tensor) -> Option<String> {
    let edge = tensor.edge()?;
    Some(match super::grad_fn::name(edge, Some(tensor.rank())) {
        Some(name) => format!("grad_fn=<{name}>"),
        None => "requires_grad=True".into(),
    })
}

fn with_suffixes(text: &str, suffixes: &[String], indent: usize) -> String {
    let mut res = text.to_string();
    // As PyTorch counts, with two columns for what closes the brackets.
    let mut column = text.len() - text.rfind('\n').map_or(0, |it| it + 1) + 2;
    for suffix in suffixes {
        if column + suffix.len() + 2 > options().line {
            res.push_str(",\n");
            res.push_str(&" ".repeat(indent));
            column = indent + suffix.len();
        } else {
            res.push_str(", ");
            column += suffix.len() + 2;
        }
        res.push_str(suffix);
    }
    res.push(')');
    res
}

/// The elements that are shown: all of them, or the ends of each long dimension.
struct Cells {
    dtype: DType,
    /// Indices shown per dimension; `None` stands for the dots.
    shown: Vec<Vec<Option<usize>>>,
    /// Values of the shown elements, row-major over the indices that are not dots.
    values: Vec<f64>,
    /// The same as integers, for integer dtypes.
    ints: Vec<i64>,
    /// The imaginary parts; the others are the real ones.
    imag: Option<Box<Cells>>,
}

impl Cells {
    fn read(tensor: &Tensor) -> Result<Self> {
        let summarise = tensor.numel() > options().threshold;
        let shown: Vec<Vec<Option<usize>>> =
            tensor.shape().iter().map(|&size| indices(size, summarise)).collect();
        let mut offsets = vec![tensor.layout().offset as isize];
        for (list, &stride) in shown.iter().zip(&tensor.layout().strides) {
            let steps: Vec<isize> =
                list.iter().flatten().map(|&idx| idx as isize * stride).collect();
            offsets =
                offsets.iter().flat_map(|base| steps.iter().map(move |step| base + step)).collect();
        }
        let numbers: Vec<Number> = tensor.with_view(|view| {
            offsets.iter().filter_map(|&at| view.number_at(at as usize)).collect()
        })?;
        let (values, ints) = numbers.iter().map(|it| (it.as_f64(), it.as_i64())).unzip();
        let dtype = tensor.dtype().part();
        let imag = tensor.dtype().is_complex().then(|| {
            let values = numbers.iter().map(|it| it.imag()).collect();
            Box::new(Self { dtype, shown: Vec::new(), values, ints: Vec::new(), imag: None })
        });
        Ok(Self { dtype, shown, values, ints, imag })
    }

    /// Number of values below one shown index of dimension `dim`.
    fn stride(&self, dim: usize) -> usize {
        self.shown[dim + 1..].iter().map(|it| it.iter().flatten().count()).product()
    }
}

fn indices(size: usize, summarise: bool) -> Vec<Option<usize>> {
    let edge = options().edge;
    if summarise && size > 2 * edge {
        let tail = size - edge..size;
        return (0..edge).map(Some).chain([None]).chain(tail.map(Some)).collect();
    }
    (0..size).map(Some).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Bool,
    Int,
    /// Whole floats: `1.`
    Whole,
    Fixed,
    Scientific,
}

/// How every element of one tensor prints.
struct Format {
    style: Style,
    width: usize,
    /// Of the imaginary parts.
    imag: Option<Box<Format>>,
}

impl Format {
    fn of(cells: &Cells) -> Self {
        let style = Self::style(cells);
        let imag = cells.imag.as_ref().map(|it| Box::new(Self::of(it)));
        let mut format = Self { style, width: 1, imag };
        let n_values = cells.values.len();
        let measured = |idx: &usize| {
            let value = cells.values[*idx];
            !cells.dtype.is_float() || value.is_finite() && value != 0.0
        };
        let widths = (0..n_values).filter(measured).map(|idx| format.raw(cells, idx).len());
        format.width = widths.max().unwrap_or(1).max(1);
        format
    }

    fn style(cells: &Cells) -> Style {
        match cells.dtype.kind() {
            Kind::Bool => return Style::Bool,
            Kind::Int | Kind::Complex => return Style::Int,
            Kind::Float => {}
        }
        let finite = cells.values.iter().filter(|it| it.is_finite() && **it != 0.0);
        let magnitudes: Vec<f64> = finite.clone().map(|it| it.abs()).collect();
        let max = magnitudes.iter().copied().fold(0.0, f64::max);
        let min = magnitudes.iter().copied().fold(f64::INFINITY, f64::min);
        let whole = finite.clone().all(|it| it.fract() == 0.0);
        let wide = !magnitudes.is_empty() && (max / min > 1000.0 || max > 1.0e8);
        match (whole, options().scientific.unwrap_or(wide)) {
            (_, true) => Style::Scientific,
            (true, false) => Style::Whole,
            (false, false) if min < 1.0e-4 && options().scientific.is_none() => Style::Scientific,
            (false, false) => Style::Fixed,
        }
    }

    fn raw(&self, cells: &Cells, idx: usize) -> String {
        let value = cells.values[idx];
        match self.style {
            Style::Bool => if cells.ints[idx] != 0 { "True" } else { "False" }.into(),
            Style::Int => cells.ints[idx].to_string(),
            _ if value.is_nan() => "nan".into(),
            _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.into(),
            Style::Whole => format!("{value:.0}."),
            Style::Fixed => format!("{value:.digits$}", digits = options().precision),
            Style::Scientific => scientific(value),
        }
    }

    fn cell(&self, cells: &Cells, idx: usize) -> String {
        let real = format!("{:>width$}", self.raw(cells, idx), width = self.width);
        let (Some(format), Some(cells)) = (&self.imag, &cells.imag) else { return real };
        let imag = format.raw(cells, idx);
        let sign = if imag.starts_with('-') { "" } else { "+" };
        format!("{real}{sign}{imag}j")
    }

    /// Columns of one element, as PyTorch counts them.
    fn columns(&self) -> usize {
        self.width + 2 + self.imag.as_ref().map_or(0, |it| it.width + 1)
    }
}

/// C's `%.4e`: at least two digits of exponent, with a sign.
fn scientific(value: f64) -> String {
    let text = format!("{value:.digits$e}", digits = options().precision);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', exponent),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn nested(cells: &Cells, format: &Format, dim: usize, start: usize, indent: usize) -> String {
    let rank = cells.shown.len();
    if rank == 0 {
        return format.cell(cells, 0).trim_start().to_string();
    }
    if dim + 1 == rank {
        return row(cells, format, start, indent);
    }
    let stride = cells.stride(dim);
    let mut at = start;
    let mut parts = Vec::new();
    for index in &cells.shown[dim] {
        if index.is_some() {
            parts.push(nested(cells, format, dim + 1, at, indent + 1));
            at += stride;
        } else {
            parts.push("...".into());
        }
    }
    let gap = format!(",{}{}", "\n".repeat(rank - dim - 1), " ".repeat(indent + 1));
    format!("[{}]", parts.join(&gap))
}

fn row(cells: &Cells, format: &Format, start: usize, indent: usize) -> String {
    let per_line = (options().line.saturating_sub(indent) / format.columns()).max(1);
    let mut at = start;
    let mut texts = Vec::new();
    for index in &cells.shown[cells.shown.len() - 1] {
        if index.is_some() {
            texts.push(format.cell(cells, at));
            at += 1;
        } else {
            texts.push(" ...".into());
        }
    }
    let lines: Vec<String> = texts.chunks(per_line).map(|it| it.join(", ")).collect();
    format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1))))
}
