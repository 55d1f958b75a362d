//! Softmax and normalisation on a GPU: a block folds a line of elements, and makes another of it.

use std::borrow::Cow;

use super::native_layer_norm::row_of;
use crate::cpu::strided;
use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::op::CudaCx;
use crate::ops::reduce::cuda::{columns, lines};
use crate::ops::reduce::dims_attr;
use crate::{DType, Layout, Result, Tensor};

const HELD: &str = concat!(include_str!("together.cu"), include_str!("held.cu"));

const LAYER_NORM: &str = concat!(include_str!("together.cu"), include_str!("layer_norm.cu"));

/// Elements of a line that its threads can hold.
const MOST_HELD: usize = 8192;

const SOFTMAX_BACKWARD: &str =
    concat!(include_str!("together.cu"), include_str!("softmax_backward.cu"));

const LINES: &str = concat!(include_str!("../reduce/folds.cu"), include_str!("lines.cu"));

/// What is made of each line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Softmax,
    LogSoftmax,
    Standard,
    LayerNorm,
}

impl Form {
    /// Its name in `held.cu`.
    fn held(self) -> &'static str {
        match self {
            Self::Softmax => "SOFTMAX",
            Self::LogSoftmax => "LOG_SOFTMAX",
            Self::Standard => "STANDARD",
            Self::LayerNorm => "LAYER_NORM",
        }
    }

    /// The fold of `folds.cu` and the structure of `lines.cu`.
    fn lines(self) -> [&'static str; 2] {
        match self {
            Self::Softmax => ["ng_exponentials", "ng_softmax"],
            Self::LogSoftmax => ["ng_exponentials", "ng_log_softmax"],
            Self::Standard | Self::LayerNorm => ["ng_spread", "ng_standardize"],
        }
    }
}

/// Softmax or its logarithm.
pub(super) fn softmax(cx: &CudaCx<'_>, form: Form) -> Result<()> {
    let dim = super::default_dim(cx.op.name, cx.attrs, cx.shape(0).rank())?;
    let dims: &[usize] = if cx.shape(0).rank() == 0 { &[] } else { &[dim] };
    map_lines(cx, dims, form, 0.0)
}

/// The gradient of softmax.
pub(super) fn softmax_backward(cx: &CudaCx<'_>) -> Result<()> {
    slopes(cx, super::default_dim(cx.op.name, cx.attrs, cx.shape(0).rank())?, "0")
}

/// The gradient of the logarithm of softmax along the last dimension.
pub(super) fn log_softmax_backward(cx: &CudaCx<'_>) -> Result<()> {
    slopes(cx, cx.shape(0).rank() - 1, "1")
}

fn slopes(cx: &CudaCx<'_>, dim: usize, log: &'static str) -> Result<()> {
    let ((outer, n, inner), dtype) = (strided::around(cx.shape(0), dim), cx.dtype(0));
    let (dy, y) = (cx.plain(0)?, cx.plain(1)?);
    if cx.outputs[0].numel() == 0 {
        return Ok(());
    }
    let at = [dy.address()?, y.address()?, cx.output(0)?];
    let hold = Hold::of(n, if n <= 1024 { 32 } else { 256 }, |pack| {
        let bytes = dtype.size() * pack;
        bytes <= 16 && at.iter().all(|it| it.is_multiple_of(bytes as u64))
    });
    let own =
        [("T", Cow::Borrowed(type_of(dtype))), ("C", computed(dtype).into()), ("LOG", log.into())];
    let defines = [&own[..], &hold.defines()].concat();
    let sizes = Parameters::default().long(outer * inner).long(n);
    if inner > 1 {
        let (grid, parameters) = (Grid::each(outer * inner), sizes.long(inner).addresses(at));
        return cx.run("softmax_backward_columns", SOFTMAX_BACKWARD, &defines, grid, &parameters);
    }
    let grid = hold.grid(outer, 1 << 20);
    cx.run("softmax_backward", SOFTMAX_BACKWARD, &defines, grid, &sizes.addresses(at))
}

/// The input less its mean, divided by its deviation, with both.
pub(super) fn standardize(cx: &CudaCx<'_>) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    map_lines(cx, &dims, Form::Standard, cx.float(1))
}

fn map_lines(cx: &CudaCx<'_>, dims: &[usize], form: Form, number: f64) -> Result<()> {
    let (kept, line) = lines(cx.layout(0), dims);
    let (outer, n) = (kept.shape.numel(), line.shape.numel());
    if outer == 0 {
        return Ok(());
    }
    let plain = Layout::contiguous(cx.shape(0).clone());
    let (out_kept, out_line) = lines(&plain, dims);
    let op = cx.op.name;
    let [kept, out_kept] = Dims::together(op, &kept.shape, [&kept.strides, &out_kept.strides])?;
    let [line, out_line] = Dims::together(op, &line.shape, [&line.strides, &out_line.strides])?;
    let columns = columns(&kept, &line);
    let out = cx.outputs[0].dtype();
    let notes = match cx.outputs.len() {
        3 => [cx.output(1)?, cx.output(2)?],
        _ => [0, 0],
    };
    if n > 1 && n <= MOST_HELD && is_row(&line) && is_row(&out_line) {
        let (sizes, kept, affine) = ([outer, n], [&kept, &out_kept], Affine::NONE);
        return Lines { form, sizes, input: &cx.inputs[0], kept, notes, affine }.run(cx, number);
    }
    let [fold, map] = form.lines();
    let defines = [
        ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
        ("C", computed(out).into()),
        ("O0", type_of(out).into()),
        ("PLACES", "0".into()),
        ("FOLD", fold.into()),
        ("MAP", map.into()),
        ("COLUMNS", if columns == 32 { "32" } else { "1" }.into()),
        ("EVEN", if line.sizes.len() == 1 { "1" } else { "0" }.into()),
    ];
    let parameters = Parameters::default()
        .long(outer)
        .long(n)
        .address(if n == 0 { 0 } else { cx.input(0)? })
        .dims(&kept)
        .dims(&line)
        .address(cx.output(0)?)
        .dims(&out_kept)
        .dims(&out_line)
        .addresses(notes)
        .double(number);
    let grid = Grid::blocks(outer.div_ceil(columns as usize).min(1 << 20), 256);
    cx.run("lines", LINES, &defines, grid, &parameters)
}

/// Whether the elements of a line lie one after the other.
fn is_row(line: &Dims) -> bool {
    matches!((&line.sizes[..], &line.strides[..]), ([_], [1]))
}

/// Weight and bias of lines.
#[derive(Clone, Copy)]
struct Affine {
    dtype: DType,
    count: usize,
    at: [Address; 2],
}

impl Affine {
    const NONE: Self = Self { dtype: DType::F32, count: 0, at: [0, 0] };

    /// Those of a layer norm: what follows its first operands, in row-major order.
    fn of(parameters: &[Tensor]) -> Result<Self> {
        let mut res = Self { count: parameters.len(), ..Self::NONE };
        for (slot, it) in res.at.iter_mut().zip(parameters) {
            (res.dtype, *slot) = (it.dtype(), it.address()?);
        }
        Ok(res)
    }

    fn takes(&self, pack: usize) -> bool {
        self.at.iter().all(|it| it.is_multiple_of((self.dtype.size() * pack) as u64))
    }

    fn defines(&self) -> [Define; 2] {
        [("W", type_of(self.dtype).into()), ("AFFINE", number_text(self.count))]
    }
}

type Define = (&'static str, Cow<'static, str>);

/// How threads hold a line.
struct Hold {
    width: usize,
    pack: usize,
    packs: usize,
    full: bool,
}

impl Hold {
    /// Lines of `n` elements by `width` threads each, which load as many at once as `fits` allows.
    fn of(n: usize, width: usize, fits: impl Fn(usize) -> bool) -> Self {
        let mut packs = [8, 4, 2].into_iter().filter(|it| it * width <= n && n.is_multiple_of(*it));
        let pack = packs.find(|it| fits(*it)).unwrap_or(1);
        let packs = n.div_ceil(width * pack).next_power_of_two();
        Self { width, pack, packs, full: width * pack * packs == n }
    }

    fn defines(&self) -> [Define; 4] {
        [
            ("WIDTH", number_text(self.width)),
            ("PACK", number_text(self.pack)),
            ("PACKS", number_text(self.packs)),
            ("FULL", number_text(usize::from(self.full))),
        ]
    }

    /// Blocks that have a line for each of their threads' groups, or `most` of them.
    fn grid(&self, outer: usize, most: usize) -> Grid {
        Grid::blocks(outer.div_ceil(256 / self.width).min(most), 256)
    }
}

/// Lines that lie in a row, which their threads hold: a warp each, or a block where they are long.
struct Lines<'a> {
    form: Form,
    sizes: [usize; 2],
    input: &'a Tensor,
    kept: [&'a Dims; 2],
    notes: [Address; 2],
    affine: Affine,
}

impl Lines<'_> {
    fn run(&self, cx: &CudaCx<'_>, number: f64) -> Result<()> {
        let (from, to) = (self.input.dtype(), cx.outputs[0].dtype());
        let (input, output) = (self.input.address()?, cx.output(0)?);
        let [outer, n] = self.sizes;
        let hold = Hold::of(n, if n <= 1024 { 32 } else { 256 }, |pack| {
            pack <= 16 / from.size().max(to.size())
                && is_aligned(self.kept[0], input, from, pack)
                && is_aligned(self.kept[1], output, to, pack)
                && self.affine.takes(pack)
        });
        let own = [
            ("T", Cow::Borrowed(type_of(from))),
            ("C", computed(to).into()),
            ("O0", type_of(to).into()),
            ("FORM", self.form.held().into()),
            ("COARSE", number_text(usize::from(to.is_half()))),
        ];
        let defines = [&own[..], &hold.defines(), &self.affine.defines()].concat();
        let parameters = Parameters::default()
            .long(outer)
            .long(n)
            .address(input)
            .dims(self.kept[0])
            .address(output)
            .dims(self.kept[1])
            .addresses(self.notes)
            .addresses(self.affine.at)
            .double(number);
        cx.run("held", HELD, &defines, hold.grid(outer, 1 << 20), &parameters)
    }
}

/// Whether all lines begin at a multiple of so many elements.
fn is_aligned(kept: &Dims, at: Address, dtype: DType, pack: usize) -> bool {
    let mut steps = kept.strides.iter().map(|it| it.unsigned_abs() as usize);
    at.is_multiple_of((dtype.size() * pack) as u64) && steps.all(|it| it.is_multiple_of(pack))
}

/// Rows less their mean, divided by their deviation, times weight, plus bias.
pub(super) fn layer_norm(cx: &CudaCx<'_>) -> Result<()> {
    let (n, numel) = (row_of(cx.attrs), cx.outputs[0].numel());
    if numel == 0 {
        return Ok(());
    }
    let parameters = (1..cx.inputs.len()).map(|it| cx.plain(it)).collect::<Result<Vec<_>>>()?;
    let affine = Affine::of(&parameters)?;
    let dims = normalized(cx, 0);
    let (_, line) = lines(cx.layout(0), &dims);
    let lies_so = n <= MOST_HELD && is_row(&Dims::of(cx.op.name, &line)?);
    let input = if lies_so { cx.inputs[0].clone() } else { cx.plain(0)? };
    if n > MOST_HELD {
        return layer_norm_long(cx, &input, affine);
    }
    let (kept, _) = lines(input.layout(), &dims);
    let (out_kept, _) = lines(&Layout::contiguous(input.shape().clone()), &dims);
    let both = [&kept.strides[..], &out_kept.strides[..]];
    let [kept, out_kept] = Dims::together(cx.op.name, &kept.shape, both)?;
    Lines {
        form: Form::LayerNorm,
        sizes: [numel / n, n],
        input: &input,
        kept: [&kept, &out_kept],
        notes: [0, 0],
        affine,
    }
    .run(cx, cx.float(1))
}

/// The dimensions of operand `idx` that are normalized together.
fn normalized(cx: &CudaCx<'_>, idx: usize) -> Vec<usize> {
    let rank = cx.shape(idx).rank();
    (rank - cx.ints(0).unwrap_or_default().len()..rank).collect()
}

/// Rows that no block holds; `input` is in row-major order.
fn layer_norm_long(cx: &CudaCx<'_>, input: &Tensor, affine: Affine) -> Result<()> {
    let n = row_of(cx.attrs);
    let rows = input.numel() / n;
    let parameters = Parameters::default()
        .long(rows)
        .long(n)
        .address(input.address()?)
        .addresses(affine.at)
        .address(cx.output(0)?)
        .double(cx.float(1));
    let hold = Hold::of(n, 256, |_| false);
    let defines = layer_norm_defines(input.dtype(), affine, &hold, false);
    let grid = Grid::blocks(rows.min(1 << 20), 256);
    cx.run("layer_norm_long", LAYER_NORM, &defines, grid, &parameters)
}

fn layer_norm_defines(dtype: DType, affine: Affine, hold: &Hold, parameters: bool) -> Vec<Define> {
    let own = [
        ("T", Cow::Borrowed(type_of(dtype))),
        ("C", computed(dtype).into()),
        ("PARAMETERS", number_text(usize::from(parameters))),
    ];
    [&own[..], &hold.defines(), &affine.defines()].concat()
}

/// The gradient of a layer norm; if there are three results, also those of weight and bias.
pub(super) fn layer_norm_backward(cx: &CudaCx<'_>) -> Result<()> {
    let backward = Backward::of(cx)?;
    let has_parameters = cx.outputs.len() == 3 && backward.n > 0;
    let parts = match backward.rows * backward.n {
        0 => None,
        _ if backward.n > MOST_HELD => backward.long(has_parameters)?,
        _ => backward.held(has_parameters)?,
    };
    if !has_parameters {
        return Ok(());
    }
    let (n_parts, at) = parts.as_ref().map_or((0, 0), |it| (it.0, it.1.address()));
    let parameters = Parameters::default().long(n_parts).long(backward.n).addresses([
        at,
        cx.output(1)?,
        cx.output(2)?,
    ]);
    let hold = Hold::of(backward.n, 256, |_| false);
    let defines = backward.defines(&hold, true, cx.outputs[1].dtype());
    let grid = Grid::blocks((2 * backward.n).div_ceil(32), 256);
    cx.run("layer_norm_parameters", LAYER_NORM, &defines, grid, &parameters)
}

/// A gradient of rows; operands are in row-major order.
struct Backward<'a, 'b> {
    cx: &'a CudaCx<'b>,
    dy: Tensor,
    x: Tensor,
    weight: Option<Tensor>,
    rows: usize,
    n: usize,
}

/// How many sums there are of the rows, and where: `[parts, 2, n]` of what is computed in.
type Parts = Option<(usize, Block)>;

impl<'a, 'b> Backward<'a, 'b> {
    fn of(cx: &'a CudaCx<'b>) -> Result<Self> {
        let (dy, x, n) = (cx.plain(0)?, cx.plain(1)?, row_of(cx.attrs));
        let weight = cx.inputs.get(2).map(|_| cx.plain(2)).transpose()?;
        Ok(Self { cx, dy, rows: x.numel().checked_div(n).unwrap_or(0), x, weight, n })
    }

    fn affine(&self) -> Result<Affine> {
        Affine::of(self.weight.as_slice())
    }

    fn defines(&self, hold: &Hold, parameters: bool, parameter: DType) -> Vec<Define> {
        let count = usize::from(self.weight.is_some());
        let affine = Affine { dtype: parameter, count, at: [0, 0] };
        layer_norm_defines(self.x.dtype(), affine, hold, parameters)
    }

    fn parameter_dtype(&self) -> DType {
        self.weight.as_ref().unwrap_or(&self.x).dtype()
    }

    /// Room for the sums of so many parts of the rows.
    fn room(&self, parts: usize) -> Result<Block> {
        self.cx.scratch(parts * 2 * self.n * self.x.dtype().computed().size())
    }

    fn held(&self, has_parameters: bool) -> Result<Parts> {
        let (cx, n, dtype) = (self.cx, self.n, self.x.dtype());
        let (affine, out) = (self.affine()?, cx.output(0)?);
        let at = [self.dy.address()?, self.x.address()?, out];
        let hold = Hold::of(n, if n <= 512 { 32 } else { 256 }, |pack| {
            let bytes = dtype.size() * pack;
            bytes <= 16 && at.iter().all(|it| it.is_multiple_of(bytes as u64))
        });
        let grid = hold.grid(self.rows, cx.gpu.properties().multiprocessors as usize * 4);
        let parts = grid.blocks[0] as usize;
        let room = has_parameters.then(|| self.room(parts)).transpose()?;
        let parameters = Parameters::default()
            .long(self.rows)
            .long(n)
            .addresses([at[0], at[1], affine.at[0], out])
            .address(room.as_ref().map_or(0, Block::address))
            .double(cx.float(1));
        let defines = self.defines(&hold, has_parameters, self.parameter_dtype());
        cx.run("layer_norm_backward", LAYER_NORM, &defines, grid, &parameters)?;
        Ok(room.map(|it| (parts, it)))
    }

    fn long(&self, has_parameters: bool) -> Result<Parts> {
        let (cx, rows) = (self.cx, self.rows);
        let (dy, x, hold) =
            (self.dy.address()?, self.x.address()?, Hold::of(self.n, 256, |_| false));
        let stats = cx.scratch(rows * 2 * self.x.dtype().computed().size())?;
        let sizes = || Parameters::default().long(rows).long(self.n);
        let parameters = sizes()
            .addresses([dy, x, self.affine()?.at[0], cx.output(0)?, stats.address()])
            .double(cx.float(1));
        let defines = self.defines(&hold, has_parameters, self.parameter_dtype());
        let grid = Grid::blocks(rows.min(1 << 20), 256);
        cx.run("layer_norm_backward_long", LAYER_NORM, &defines, grid, &parameters)?;
        if !has_parameters {
            return Ok(None);
        }
        let parts = rows.div_ceil(16).min(64);
        let room = self.room(parts)?;
        let parameters = sizes().addresses([dy, x, stats.address(), room.address()]);
        let mut grid = Grid::each(self.n);
        grid.blocks[1] = parts as u32;
        cx.run("layer_norm_parts", LAYER_NORM, &defines, grid, &parameters)?;
        Ok(Some((parts, room)))
    }
}

/// A small number as text.
fn number_text(number: usize) -> Cow<'static, str> {
    const TEXTS: [&str; 9] = ["0", "1", "2", "3", "4", "5", "6", "7", "8"];
    match TEXTS.get(number) {
        Some(text) => (*text).into(),
        None => number.to_string().into(),
    }
}
