//! Picking and placing by index tensors on a GPU. Positions are checked by the kernels, which note what they refuse.
//!
//! Elements that are put at one place: the last remains, as on the processor. Sums of floats at one place are added up in any order.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::leading;
use crate::cuda::Block;
use crate::cuda::driver::{Address, Grid};
use crate::cuda::parameters::{Dims, Parameters};
use crate::cuda::source::{bits_of, computed, type_of};
use crate::op::CudaCx;
use crate::shape::{resolve_dim, row_major};
use crate::tensor::on_gpu::copy;
use crate::{DType, Error, Layout, Result, Shape, Tensor, functional};

const INDEX: &str = include_str!("index.cu");
const ADDING: &str = concat!(include_str!("index.cu"), include_str!("adding.cu"));
const FOUND: &str = include_str!("found.cu");

/// What becomes of elements that go to one place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placing {
    /// The last remains.
    Put,
    /// All are combined with what is there, by an expression of two numbers in CUDA C.
    Combine(&'static str),
}

/// A sum; of bools whether one is true.
pub(crate) const ADD: Placing = Placing::Combine("ng_sum_of");

/// Which places along a dimension an index tensor names: those of `x`, seen under the shape of the index.
struct Along {
    /// Shape of the index, of which a scalar is one of one dimension.
    shape: Shape,
    /// The elements of the target beside which an index chooses.
    dims: Dims,
    step: i64,
    size: usize,
    dim: usize,
}

fn raised(layout: &Layout) -> Layout {
    match layout.shape.rank() {
        0 => Layout {
            shape: Shape::from([1]),
            strides: SmallVec::from_elem(1, 1),
            offset: layout.offset,
        },
        _ => layout.clone(),
    }
}

impl Along {
    fn of(op: &'static str, target: &Layout, shape: &Shape, dim: usize) -> Result<Self> {
        let target = raised(target);
        let shape = if shape.rank() == 0 { Shape::from([1]) } else { shape.clone() };
        let mut strides = target.strides.clone();
        let step = std::mem::replace(&mut strides[dim], 0) as i64;
        let size = target.shape[dim];
        let [dims] = Dims::together(op, &shape, [&strides])?;
        Ok(Self { shape, dims, step, size, dim })
    }
}

fn range_error(op: &'static str, size: usize, dim: usize) -> impl Fn(u32, i64) -> Error + Send {
    move |_, index| Error::IndexRange { op, index, size, dim }
}

/// The layout of an index of one dimension under `shape`, along `dim`.
fn along_dim(index: &Layout, shape: &Shape, dim: usize) -> Layout {
    let mut strides = SmallVec::from_elem(0, shape.rank());
    if let Some(stride) = strides.get_mut(dim) {
        *stride = index.strides.first().copied().unwrap_or(0);
    }
    Layout { shape: shape.clone(), strides, offset: 0 }
}

/// Result 0 picked from operand 0 by operand 1, which has the shape of the result or, if `is_vector`, goes along the dimension of
/// attribute 0.
pub(super) fn gather(cx: &CudaCx<'_>, is_vector: bool) -> Result<()> {
    let op = cx.op.name;
    let dim = resolve_dim(op, cx.int(0), cx.shape(0).rank())?;
    let out = &cx.outputs[0];
    let n = out.numel();
    if n == 0 {
        return Ok(());
    }
    let row = cx.inputs[0].numel() / cx.shape(0).first().copied().unwrap_or(1).max(1);
    if is_vector && dim == 0 && row >= 32 && cx.layout(0).is_contiguous() {
        return take_rows(cx, row);
    }
    let along = Along::of(op, cx.layout(0), out.shape(), dim)?;
    let index = match is_vector {
        true => along_dim(cx.layout(1), &along.shape, dim),
        false => raised(cx.layout(1)),
    };
    let fault = cx.faults(range_error(op, along.size, dim))?;
    let parameters = Parameters::default()
        .long(n)
        .address(if cx.inputs[0].numel() == 0 { 0 } else { cx.input(0)? })
        .dims(&along.dims)
        .signed(along.step)
        .long(along.size)
        .address(cx.input(1)?)
        .dims(&Dims::of(op, &index)?)
        .address(cx.output(0)?)
        .address(fault);
    let defines = [("T", Cow::Borrowed(bits_of(out.dtype()))), ("I", type_of(cx.dtype(1)).into())];
    cx.run("gather", INDEX, &defines, Grid::each(n), &parameters)
}

/// Rows of operand 0, which lie one after the other, as operand 1 names them.
fn take_rows(cx: &CudaCx<'_>, row: usize) -> Result<()> {
    let (op, size) = (cx.op.name, cx.shape(0)[0]);
    let (from, to) = (cx.input(0)?, cx.output(0)?);
    let (element, bytes) = (cx.dtype(0).size(), row * cx.dtype(0).size());
    // Sixteen bytes at a time, where rows begin at multiples of them.
    let is_wide = bytes.is_multiple_of(16) && from.is_multiple_of(16) && to.is_multiple_of(16);
    let (part, parts) = if is_wide { ("ng_b16", bytes / 16) } else { (bits_of(cx.dtype(0)), row) };
    let n = cx.outputs[0].numel() * element / bytes;
    let step = cx.layout(1).strides.first().copied().unwrap_or(0);
    let parameters = Parameters::default()
        .long(n)
        .address(from)
        .long(size)
        .long(parts)
        .address(cx.input(1)?)
        .signed(step as i64)
        .address(to)
        .address(cx.faults(range_error(op, size, 0))?);
    let defines = [("T", Cow::Borrowed(part)), ("I", type_of(cx.dtype(1)).into())];
    let threads = if parts <= 64 { 64 } else { 256 };
    cx.run("take_rows", INDEX, &defines, Grid::blocks(n.min(1 << 20), threads), &parameters)
}

/// Result 0 is operand 0 with operand 2 placed where operand 1 says along the dimension of attribute 0. Operand 2 has the shape of
/// the index or more, or is a number; if `is_vector` the index goes along the dimension of operand 2.
pub(super) fn scatter(cx: &CudaCx<'_>, is_vector: bool, placing: Placing) -> Result<()> {
    let out = &cx.outputs[0];
    copy(&cx.inputs[0], cx.output(0)?, out.layout())?;
    let dtype = out.dtype();
    let source = match cx.inputs[2].dtype() == dtype {
        true => cx.inputs[2].clone(),
        false => functional::to(&cx.inputs[2], dtype)?,
    };
    place_along(cx, out, &source, is_vector, placing, None)
}

/// Places elements in `out` along the dimension of attribute 0, by operand 1 or as [`scatter`] says; `refusal` is the error for a position
/// outside, if it is another.
pub(crate) fn place_along(
    cx: &CudaCx<'_>,
    out: &Tensor,
    source: &Tensor,
    is_vector: bool,
    placing: Placing,
    refusal: Option<fn(i64) -> Error>,
) -> Result<()> {
    let (op, dim) = (cx.op.name, resolve_dim(cx.op.name, cx.int(0), out.rank())?);
    let index = &cx.inputs[1];
    let shape = if is_vector { source.shape() } else { index.shape() };
    let n = shape.numel();
    if n == 0 {
        return Ok(());
    }
    let along = Along::of(op, out.layout(), shape, dim)?;
    let spread = match (is_vector, source.rank() == index.rank()) {
        // A larger source is read from its start.
        (false, true) => Layout { shape: along.shape.clone(), ..raised(source.layout()) },
        (true, _) => raised(source.layout()),
        (false, false) => Layout {
            shape: along.shape.clone(),
            strides: SmallVec::from_elem(0, along.shape.rank()),
            offset: 0,
        },
    };
    let index_layout = match is_vector {
        true => along_dim(index.layout(), &along.shape, dim),
        false => raised(index.layout()),
    };
    let fault = match refusal {
        Some(refusal) => cx.faults(move |_, index| refusal(index))?,
        None => cx.faults(range_error(op, along.size, along.dim))?,
    };
    let index_dims = Dims::of(op, &index_layout)?;
    let named = |it: Parameters| -> Result<Parameters> {
        let it = it.dims(&along.dims).signed(along.step).long(along.size);
        Ok(it.address(index.address()?).dims(&index_dims))
    };
    let (to, dtype) = (out.address()?, out.dtype());
    let begun = Parameters::default().long(n);
    let given = |it: Parameters| -> Result<Parameters> {
        Ok(it.address(source.address()?).dims(&Dims::of(op, &spread)?).address(fault))
    };
    let grid = Grid::each(n);
    if let Placing::Combine(how) = placing {
        let parameters = given(named(begun.address(to))?)?;
        return cx.run(
            "scatter_add",
            ADDING,
            &combining(dtype, index.dtype(), how),
            grid,
            &parameters,
        );
    }
    let last = last_places(cx, out.numel())?;
    let defines = [("T", Cow::Borrowed(bits_of(dtype))), ("I", type_of(index.dtype()).into())];
    let parameters = named(begun.address(last.address()))?.address(fault);
    cx.run("scatter_last", INDEX, &defines, grid, &parameters)?;
    let parameters = given(named(Parameters::default().long(n).addresses([to, last.address()]))?)?;
    cx.run("scatter", INDEX, &defines, grid, &parameters)
}

/// Zeros, one word for each of `n` places.
fn last_places(cx: &CudaCx<'_>, n: usize) -> Result<Block> {
    let last = cx.scratch(n * 8)?;
    cx.gpu.clear(last.address(), n * 8)?;
    Ok(last)
}

/// Names for kernels that combine elements of a dtype.
fn combining(
    dtype: DType,
    index: DType,
    how: &'static str,
) -> [(&'static str, Cow<'static, str>); 5] {
    let is_sum = how == "ng_sum_of";
    let native = is_sum && is_added_by_chip(dtype);
    [
        ("T", Cow::Borrowed(type_of(dtype))),
        ("I", type_of(index).into()),
        ("C", computed(dtype).into()),
        ("COMBINE", if is_sum { "ng_sum_of" } else { how }.into()),
        ("NATIVE", if native { "1" } else { "0" }.into()),
    ]
}

/// Whether the chip adds to such elements in memory itself.
fn is_added_by_chip(dtype: DType) -> bool {
    match dtype {
        DType::F32 | DType::F64 | DType::I32 => true,
        DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::U16 | DType::I64 => false,
        DType::F16 | DType::BF16 | DType::C64 | DType::C128 => false,
    }
}

/// Row numbers that index tensors from operand `first` on name in the leading dimensions of operand 0: (numbers, positions, elements of
/// a row).
fn rows(cx: &CudaCx<'_>, first: usize) -> Result<(Block, Shape, usize)> {
    let (op, shape) = (cx.op.name, cx.shape(0));
    let index = &cx.inputs[first..];
    let shapes: Vec<&Shape> = index.iter().map(Tensor::shape).collect();
    let lead = leading(op, shape, &shapes)?;
    let n = lead.positions.numel();
    let numbers = cx.scratch(n * 8)?;
    if index.is_empty() {
        // Nothing is named: all of it is one row.
        cx.gpu.clear(numbers.address(), numbers.len())?;
    }
    if n == 0 {
        return Ok((numbers, lead.positions, lead.row));
    }
    for (dim, it) in index.iter().enumerate() {
        let spread =
            it.layout().broadcast_to(&lead.positions).ok_or_else(Error::outside_storage)?;
        let parameters = Parameters::default()
            .long(n)
            .address(numbers.address())
            .int(i32::from(dim == 0))
            .long(shape[dim])
            .address(it.address()?)
            .dims(&Dims::of(op, &spread)?)
            .address(cx.faults(range_error(op, shape[dim], dim))?);
        let defines = [("T", Cow::Borrowed("ng_b1")), ("I", type_of(it.dtype()).into())];
        cx.run("rows", INDEX, &defines, Grid::each(n), &parameters)?;
    }
    Ok((numbers, lead.positions, lead.row))
}

fn of_rows(dtype: &'static str) -> [(&'static str, Cow<'static, str>); 2] {
    [("T", dtype.into()), ("I", "ng_i64".into())]
}

/// Rows of operand 0 that the index tensors after it name.
pub(super) fn get_rows(cx: &CudaCx<'_>) -> Result<()> {
    let (numbers, _, row) = rows(cx, 1)?;
    let (n, input) = (cx.outputs[0].numel(), cx.plain(0)?);
    if n == 0 {
        return Ok(());
    }
    let from: Address = if input.numel() == 0 { 0 } else { input.address()? };
    let parameters = Parameters::default()
        .long(n)
        .addresses([from, numbers.address()])
        .long(row)
        .address(cx.output(0)?);
    cx.run("rows_get", INDEX, &of_rows(bits_of(cx.dtype(0))), Grid::each(n), &parameters)
}

/// Operand 0 with the rows that the index tensors from operand 2 on name put or added from operand 1.
pub(super) fn put_rows(cx: &CudaCx<'_>, placing: Placing) -> Result<()> {
    let op = cx.op.name;
    copy(&cx.inputs[0], cx.output(0)?, cx.outputs[0].layout())?;
    let (numbers, positions, row) = rows(cx, 2)?;
    let rest = &cx.shape(0)[cx.inputs.len() - 2..];
    let target: Shape = positions.iter().chain(rest).copied().collect();
    let n = target.numel();
    if n == 0 {
        return Ok(());
    }
    let spread = cx.layout(1).broadcast_to(&target).ok_or_else(Error::outside_storage)?;
    let (out, values) = (cx.output(0)?, Dims::of(op, &spread)?);
    if let Placing::Combine(how) = placing {
        let parameters =
            Parameters::default().long(n).addresses([out, numbers.address()]).long(row);
        let parameters = parameters.address(cx.input(1)?).dims(&values);
        let defines = combining(cx.dtype(0), DType::I64, how);
        return cx.run("rows_add", ADDING, &defines, Grid::each(n), &parameters);
    }
    let (n_rows, n_positions) = (cx.outputs[0].numel() / row.max(1), positions.numel());
    let last = last_places(cx, n_rows)?;
    let defines = of_rows(bits_of(cx.dtype(0)));
    let parameters =
        Parameters::default().long(n_positions).addresses([numbers.address(), last.address()]);
    cx.run("rows_last", INDEX, &defines, Grid::each(n_positions), &parameters)?;
    let parameters = Parameters::default()
        .long(n)
        .addresses([out, last.address(), numbers.address()])
        .long(row)
        .address(cx.input(1)?)
        .dims(&values);
    cx.run("rows_put", INDEX, &defines, Grid::each(n), &parameters)
}

/// Where the elements are that count.
pub(super) fn nonzero(cx: &CudaCx<'_>) -> Result<()> {
    let input = &cx.inputs[0];
    let n = input.numel();
    if n == 0 || cx.outputs[0].numel() == 0 {
        return Ok(());
    }
    let truths = functional::to(&functional::ne(input, &functional::num(0.0))?, DType::I64)?;
    let flat = functional::reshape(&truths, &Shape::from([n]))?;
    let counts = functional::cumsum(&flat, 0)?;
    let sizes = input.shape().iter().map(|it| *it as i64).collect();
    let strides = row_major(input.shape()).iter().map(|it| *it as i64).collect();
    let parameters = Parameters::default()
        .long(n)
        .address(counts.address()?)
        .dims(&Dims { sizes, strides })
        .address(cx.output(0)?);
    cx.run("nonzero", FOUND, &[("I", "ng_i64".into())], Grid::each(n), &parameters)
}

/// A 1 where operand 0 names a class.
pub(super) fn one_hot(cx: &CudaCx<'_>) -> Result<()> {
    let (out, index) = (&cx.outputs[0], cx.plain(0)?);
    let n = out.numel();
    if n == 0 {
        return Ok(());
    }
    let n_classes = out.shape().last().copied().unwrap_or(1);
    let parameters = Parameters::default()
        .long(n)
        .address(index.address()?)
        .long(n_classes)
        .address(cx.output(0)?)
        .address(cx.faults(range_error(cx.op.name, n_classes, 0))?);
    let defines = [("I", Cow::Borrowed(type_of(index.dtype())))];
    cx.run("one_hot", FOUND, &defines, Grid::each(n), &parameters)
}
