//! Reductions on a GPU: kernels that fold lines of elements by what the row names.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::dims_attr;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{computed, type_of};
use crate::dtype::Arithmetic;
use crate::op::CudaCx;
use crate::shape::resolve_dim;
use crate::{DType, Layout, Result};

const REDUCE: &str =
    concat!(include_str!("folds.cu"), include_str!("parts.cu"), include_str!("reduce.cu"));
const COLUMNS: &str =
    concat!(include_str!("folds.cu"), include_str!("parts.cu"), include_str!("columns.cu"));

/// A fold of `folds.cu`.
pub(crate) struct Fold {
    /// Its name there.
    pub(crate) name: &'static str,
    /// The type that it computes in.
    pub(crate) compute: &'static str,
    /// Bytes of what it carries.
    pub(crate) size: usize,
    /// A number that it takes.
    pub(crate) number: f64,
}

impl Fold {
    /// A fold that carries one number of the type that it computes in.
    pub(crate) fn of(name: &'static str, compute: &'static str) -> Self {
        Self { name, compute, size: 8, number: 0.0 }
    }

    /// The largest or smallest element of a dtype, with its place.
    pub(crate) fn best(name: &'static str, dtype: DType) -> Self {
        Self { size: 16, ..Self::of(name, computed(dtype)) }
    }
}

/// A view of operand 0 as lines: (layout of the results, layout of a line).
pub(crate) fn lines(layout: &Layout, dims: &[usize]) -> (Layout, Layout) {
    let part = |wanted: bool| {
        let kept: SmallVec<[usize; 6]> =
            (0..layout.shape.rank()).filter(|it| dims.contains(it) == wanted).collect();
        Layout {
            shape: kept.iter().map(|&it| layout.shape[it]).collect(),
            strides: kept.iter().map(|&it| layout.strides[it]).collect(),
            offset: 0,
        }
    };
    (part(false), part(true))
}

/// How the threads of a block stand: side by side where neighbours of a result lie side by side and not those of a line.
pub(crate) fn columns(kept: &Dims, line: &Dims) -> u32 {
    let along = line.strides.last().is_none_or(|it| it.abs() == 1);
    let beside = kept.strides.last().is_some_and(|it| it.abs() == 1);
    let long = kept.sizes.last().is_some_and(|it| *it >= 8);
    if beside && long && !along { 32 } else { 1 }
}

/// Folds operand 0 over dimensions of attribute `idx` into result 0, and places into result 1 if there is one.
pub(crate) fn over_dims(cx: &CudaCx<'_>, idx: usize, fold: &Fold) -> Result<()> {
    let dims = dims_attr(cx.op.name, cx.attrs, idx, cx.shape(0).rank())?;
    fold_over(cx, &dims, fold)
}

/// Folds operand 0 over these dimensions.
pub(crate) fn fold_over(cx: &CudaCx<'_>, dims: &[usize], fold: &Fold) -> Result<()> {
    let (kept, line) = lines(cx.layout(0), dims);
    let (outer, n) = (kept.shape.numel(), line.shape.numel());
    if outer == 0 {
        return Ok(());
    }
    let (kept, line) = (Dims::of(cx.op.name, &kept)?, Dims::of(cx.op.name, &line)?);
    let folding = Folding { cx, fold, outer, n, kept, line };
    match (columns(&folding.kept, &folding.line), folding.pack_of_columns()?) {
        (1, _) => folding.rows(1, folding.pack_of_rows()?),
        (_, Some(pack)) => folding.columns(pack),
        (columns, None) => folding.rows(columns, 1),
    }
}

/// Lines of operand 0 that are folded.
struct Folding<'a> {
    cx: &'a CudaCx<'a>,
    fold: &'a Fold,
    outer: usize,
    /// Elements of a line.
    n: usize,
    kept: Dims,
    line: Dims,
}

impl Folding<'_> {
    /// A block has one line or several, whose elements its threads share.
    fn rows(&self, columns: u32, pack: usize) -> Result<()> {
        // Threads along a line: a warp where lines are short and many.
        let width = match (columns, self.n) {
            (32, _) => 8,
            (_, ..=4096) if self.outer >= 1024 => 32,
            _ => 256,
        };
        let n_blocks = self.outer.div_ceil(256 / width).min(1 << 20);
        let defines = self.defines(columns as usize, pack, width)?;
        self.run("reduce", REDUCE, &defines, [n_blocks, self.n_parts(n_blocks, width)])
    }

    /// A thread has `pack` lines that lie side by side.
    fn columns(&self, pack: usize) -> Result<()> {
        let columns = (self.outer / pack).next_power_of_two().min(32);
        let n_blocks = self.outer.div_ceil(columns * pack).min(1 << 20);
        let defines = self.defines(columns, pack, 256 / columns)?;
        let parts = self.n_parts(n_blocks, 256 / columns);
        self.run("reduce_columns", COLUMNS, &defines, [n_blocks, parts])
    }

    /// What the templates are compiled with, for threads side by side, elements of a pack, and threads along a line.
    fn defines(&self, columns: usize, pack: usize, width: usize) -> Result<Names> {
        let (cx, out1) = (self.cx, self.cx.outputs.get(1));
        let number = |it: usize| Cow::Owned(it.to_string());
        Ok([
            ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
            ("C", self.fold.compute.into()),
            ("O0", type_of(cx.outputs[0].dtype()).into()),
            ("O1", type_of(out1.map_or(DType::I64, |it| it.dtype())).into()),
            ("PLACES", if out1.is_some() { "1" } else { "0" }.into()),
            ("FOLD", self.fold.name.into()),
            ("COLUMNS", number(columns)),
            ("WIDTH", number(width)),
            ("EVEN", if self.line.sizes.len() == 1 { "1" } else { "0" }.into()),
            ("PACK", number(pack)),
        ])
    }

    /// Launches a kernel of a grid of blocks and parts, and what folds the parts.
    fn run(
        &self,
        name: &'static str,
        template: &'static str,
        defines: &Names,
        [blocks, parts]: [usize; 2],
    ) -> Result<()> {
        let (cx, outer) = (self.cx, self.outer);
        let places = cx.outputs.get(1).map_or(Ok(0), |_| cx.output(1))?;
        let scratch =
            (parts > 1).then(|| cx.scratch(parts * outer * self.fold.size)).transpose()?;
        let scratch_at: Address = scratch.as_ref().map_or(0, |it| it.address());
        let grid = Grid { blocks: [blocks as u32, parts as u32, 1], threads: 256, shared: 0 };
        let (input, out0) = (if self.n == 0 { 0 } else { cx.input(0)? }, cx.output(0)?);
        let parameters = Parameters::default()
            .long(outer)
            .long(self.n)
            .address(input)
            .dims(&self.kept)
            .dims(&self.line)
            .addresses([out0, places])
            .double(self.fold.number)
            .address(scratch_at);
        cx.run(name, template, defines, grid, &parameters)?;
        if parts == 1 {
            return Ok(());
        }
        // Threads of a block for each line.
        let width = parts.next_power_of_two().min(match outer {
            ..64 => 256,
            64..65_536 => 32,
            _ => 8,
        });
        let parameters = Parameters::default()
            .long(outer)
            .long(self.n)
            .long(parts)
            .int(width as i32)
            .addresses([scratch_at, out0, places])
            .double(self.fold.number);
        let blocks = outer.div_ceil(256 / width).min(1 << 20);
        cx.run("reduce_rest", template, defines, Grid::blocks(blocks, 256), &parameters)
    }

    /// Elements that a thread loads at once: 16 bytes of them where all lines lie in a row and begin at multiples of that.
    fn pack_of_rows(&self) -> Result<usize> {
        let in_a_row =
            matches!((&self.line.sizes[..], &self.line.strides[..]), ([n], [1]) if *n >= 64);
        let size = self.cx.dtype(0).size();
        let is_packed =
            in_a_row && self.outer * self.n > 0 && self.is_aligned(&self.kept.strides, 16)?;
        Ok(if is_packed { (16 / size).max(1) } else { 1 })
    }

    /// Lines that a thread has side by side: 16 bytes of an element of each, or 8 elements, where all of these begin at multiples of that.
    fn pack_of_columns(&self) -> Result<Option<usize>> {
        let (Some((1, kept)), Some(beside)) =
            (self.kept.strides.split_last(), self.kept.sizes.last())
        else {
            return Ok(None);
        };
        let size = self.cx.dtype(0).size();
        let pack = (16 / size).min(8);
        let fits = pack > 1 && self.n > 0 && *beside % pack as i64 == 0;
        let steps: SmallVec<[i64; 6]> = kept.iter().chain(&self.line.strides).copied().collect();
        Ok((fits && self.is_aligned(&steps, pack * size)?).then_some(pack))
    }

    /// Whether operand 0 and all that is so many elements further begin at multiples of so many bytes.
    fn is_aligned(&self, steps: &[i64], bytes: usize) -> Result<bool> {
        let size = self.cx.dtype(0).size() as u64;
        let steps = steps.iter().map(|it| it.unsigned_abs() * size);
        Ok(steps.chain([self.cx.input(0)?]).all(|it| it % bytes as u64 == 0))
    }

    /// Into how many parts lines are cut, so that few long lines keep the whole device busy; `width` threads go along a line.
    fn n_parts(&self, n_blocks: usize, width: usize) -> usize {
        let wanted = self.cx.gpu.properties().multiprocessors as usize * 4;
        let steps = self.n / width;
        wanted.div_ceil(n_blocks).min(steps / 8).clamp(1, 1024)
    }
}

type Names = [(&'static str, Cow<'static, str>); 10];

/// The type in which sums of a dtype are added up.
pub(crate) fn accumulated(to: DType) -> &'static str {
    match to.arithmetic() {
        Arithmetic::F64 => "double",
        Arithmetic::F32 => "float",
        Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => "ng_i64",
    }
}

/// Sums, products and the like: the first three attributes are dimensions, keepdim and dtype.
pub(crate) fn accumulate(cx: &CudaCx<'_>, name: &'static str) -> Result<()> {
    over_dims(cx, 0, &Fold::of(name, accumulated(cx.outputs[0].dtype())))
}

/// What counts elements that are not 0.
pub(crate) fn count(cx: &CudaCx<'_>, name: &'static str) -> Result<()> {
    over_dims(cx, 0, &Fold::of(name, "ng_i64"))
}

/// Variances and deviations: dimensions are attribute 0, the correction is attribute 1.
pub(crate) fn spread(cx: &CudaCx<'_>, name: &'static str) -> Result<()> {
    let number = super::correction(cx.attrs);
    let compute = computed(cx.dtype(0));
    over_dims(cx, 0, &Fold { number, size: 24, ..Fold::of(name, compute) })
}

/// The one dimension of attribute `idx`, or all.
pub(crate) fn one_or_all(cx: &CudaCx<'_>, idx: usize) -> Result<SmallVec<[usize; 6]>> {
    let rank = cx.shape(0).rank();
    Ok(match super::one_dim(cx.op.name, cx.attrs, idx, rank)? {
        Some(dim) if rank > 0 => SmallVec::from_iter([dim]),
        _ => (0..rank).collect(),
    })
}

const SCAN: &str = concat!(include_str!("folds.cu"), include_str!("scan.cu"));

/// Combines each element of operand 0 with all before it along the dimension of attribute 0, by a fold of `scan.cu` or `folds.cu`.
pub(crate) fn scan(cx: &CudaCx<'_>, name: &'static str, compute: &'static str) -> Result<()> {
    let rank = cx.shape(0).rank();
    let dim = resolve_dim(cx.op.name, cx.int(0), rank)?;
    let (input, out) = (cx.plain(0)?, &cx.outputs[0]);
    if out.numel() == 0 {
        return Ok(());
    }
    let dims: &[usize] = if rank == 0 { &[] } else { &[dim] };
    let (kept, line) = lines(&Layout::contiguous(cx.shape(0).clone()), dims);
    let is_linear = cx.inputs.len() > 1;
    let more = if is_linear { Some(cx.plain(1)?) } else { None };
    let (n, step) = (line.shape.numel(), line.strides.first().copied().unwrap_or(1));
    let out1 = cx.outputs.get(1);
    let each = (16 / input.dtype().size()).min(8);
    // A thread takes its elements together where lines lie in a row and are so many packs.
    let second = more.as_ref().map_or(Ok(0), |it| it.address())?;
    let outs = [cx.output(0)?, out1.map_or(Ok(0), |_| cx.output(1))?];
    let packed = step == 1
        && n % each == 0
        && [input.address()?, second].iter().all(|it| it % 16 == 0)
        && outs.iter().all(|it| it % 64 == 0);
    let defines = [
        ("T", Cow::Borrowed(type_of(cx.dtype(0)))),
        ("C", compute.into()),
        ("O0", type_of(out.dtype()).into()),
        ("O1", type_of(out1.map_or(DType::I64, |it| it.dtype())).into()),
        ("PLACES", if out1.is_some() { "1" } else { "0" }.into()),
        ("LINEAR", if is_linear { "1" } else { "0" }.into()),
        ("EACH", each.to_string().into()),
        ("PACKED", if packed { "1" } else { "0" }.into()),
        ("FOLD", name.into()),
    ];
    let outer = kept.shape.numel();
    let parameters = Parameters::default()
        .long(outer)
        .long(n)
        .address(input.address()?)
        .address(second)
        .dims(&Dims::of(cx.op.name, &kept)?)
        .long(step as usize)
        .addresses(outs);
    cx.run("scan", SCAN, &defines, Grid::blocks(outer.min(1 << 20), 256), &parameters)
}
