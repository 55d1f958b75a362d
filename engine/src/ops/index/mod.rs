//! Ops that pick and place elements by index tensors.

use std::borrow::Cow;

use smallvec::smallvec;

use crate::OpDef;
use crate::cpu::elements::Elements;
use crate::cpu::number::Num;
use crate::cpu::view::View;
use crate::cpu::{interrupt, pool2d, strided};
use crate::meaning::{Array, MeaningCx, broadcast, from_end};
use crate::op::AdmitCx;
use crate::op::indices;
use crate::shape::resolve_dim;
use crate::{Attr, DType, Error, Layout, Result, Shape, Tensor, apply_one};

pub mod _mix_slices;
pub(crate) mod cuda;
pub mod embedding;
pub mod gather;
#[expect(
    clippy::module_inception,
    reason = "a file is named after its op, also where the family has its name"
)]
pub mod index;
pub mod index_add;
pub mod index_put;
pub mod index_select;
pub mod masked_select;
pub mod nonzero;
pub mod one_hot;
mod onnx;
mod placing;
pub mod scatter;
pub mod scatter_add;
pub mod scatter_reduce;
pub mod take_along_dim;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &_mix_slices::OP,
    &embedding::OP,
    &gather::OP,
    &index::OP,
    &index_add::OP,
    &index_put::OP,
    &index_select::OP,
    &masked_select::OP,
    &nonzero::OP,
    &one_hot::OP,
    &scatter::OP,
    &scatter_add::OP,
    &scatter_reduce::OP,
    &take_along_dim::OP,
];

/// Refuses index tensors that are not whole numbers.
pub(crate) fn index_dtype(op: &'static str, index: &Tensor) -> Result<()> {
    if index.dtype().is_int() {
        return Ok(());
    }
    Err(Error::DType { op, dtype: index.dtype(), allowed: "int64 or int32 as index" })
}

/// Refuses elements of operand `idx` that are no positions in a dimension of this size, from the start: rows of a table, classes.
pub(crate) fn admit_places(cx: &AdmitCx<'_>, idx: usize, size: usize, dim: usize) -> Result<()> {
    let fits = |at: i64| (at as u64) < size as u64;
    cx.each_int(idx, fits, |index| Error::IndexRange { op: cx.op.name, index, size, dim })
}

/// An admitted index as a position.
#[inline]
pub(crate) fn place(index: i64, size: usize) -> usize {
    (if index < 0 { index + size as i64 } else { index }) as usize
}

/// Refuses positions outside a dimension, for an op whose second operand names places along the dimension `attrs[0]` of its first.
/// They do not count from the end.
pub(crate) fn admit_along(cx: &AdmitCx<'_>) -> Result<()> {
    let dim = resolve_dim(cx.op.name, cx.int(0), cx.shape(0).rank())?;
    let size = cx.shape(0).get(dim).copied().unwrap_or(1);
    admit_places(cx, 1, size, dim)
}

/// As [`admit_along`], for operands from `first` on that index the leading dimensions of the first, and may count from the end.
pub(crate) fn admit_leading(cx: &AdmitCx<'_>, first: usize) -> Result<()> {
    let sizes = cx.shape(0).iter().enumerate();
    (first..cx.n_inputs()).zip(sizes).try_for_each(|(idx, (dim, &size))| {
        let (least, most) = (-(size as i64), size as i64);
        let refused = |index| Error::IndexRange { op: cx.op.name, index, size, dim };
        cx.each_int(idx, |at| least <= at && at < most, refused)
    })
}

/// Adds elements to those of a row, each pair rounded; of bools, whether one of both is true.
#[inline]
pub(crate) fn add_row<T: Num>(row: &mut [T], more: &[T], dtype: DType) {
    let is_bool = dtype == DType::Bool;
    row.iter_mut().zip(more).for_each(|(slot, it)| add_one(slot, *it, is_bool));
}

/// As [`add_row`], one element.
#[inline]
pub(crate) fn add_one<T: Num>(slot: &mut T, more: T, is_bool: bool) {
    let sum = slot.plus(more);
    *slot = if is_bool && sum != T::ZERO { T::ONE } else { sum };
}

/// How index tensors on the leading dimensions address the rows of a tensor: one start per broadcast position.
pub(crate) struct Leading {
    /// What the index tensors broadcast to.
    pub(crate) positions: Shape,
    /// Elements per position: the product of the dimensions that are not indexed.
    pub(crate) row: usize,
}

/// Checks the shapes of index tensors on the leading dimensions of `shape`.
pub(crate) fn leading(op: &'static str, shape: &Shape, index: &[&Shape]) -> Result<Leading> {
    let shapes = || index.iter().map(|&it| it.clone()).collect::<Vec<_>>();
    let mut positions = Shape::default();
    for it in index {
        positions = positions.broadcast(it).ok_or_else(|| Error::Shapes {
            op,
            shapes: shapes(),
            rule: "index tensors must broadcast together".into(),
        })?;
    }
    if index.len() > shape.rank() {
        let rule = format!("{} indices are too many for shape {shape}", index.len());
        return Err(Error::Shapes { op, shapes: shapes(), rule });
    }
    Ok(Leading { positions, row: shape[index.len()..].iter().product() })
}

/// Where the row of each position starts in a contiguous tensor of `shape`; fewer once the user has interrupted.
pub(crate) fn row_starts(
    op: &'static str,
    shape: &Shape,
    index: &[View<'_>],
    lead: &Leading,
) -> Result<Vec<usize>> {
    let n = lead.positions.numel();
    let mut starts = Vec::with_capacity(n);
    if index.is_empty() {
        interrupt::pieces(n).for_each(|piece| starts.resize(piece.end, 0_usize));
    }
    for (dim, view) in index.iter().enumerate() {
        let size = shape[dim];
        let mut all = indices(op, view)?;
        if *view.shape() != lead.positions {
            let from = Layout::contiguous(view.shape().clone());
            if let Some(from) = from.broadcast_to(&lead.positions) {
                all = strided::gather(&all, &from);
            }
        }
        for piece in interrupt::pieces(n) {
            let Some(all) = all.get(piece.clone()) else { break };
            if dim == 0 {
                starts.extend(all.iter().map(|&at| place(at, size)));
            } else if let Some(starts) = starts.get_mut(piece) {
                let both = starts.iter_mut().zip(all);
                both.for_each(|(start, &at)| *start = *start * size + place(at, size));
            }
        }
    }
    if lead.row != 1 {
        interrupt::pieces(starts.len())
            .for_each(|piece| starts[piece].iter_mut().for_each(|it| *it *= lead.row));
    }
    Ok(starts)
}

/// Which element of a tensor each element of an index tensor names along `dim`.
pub(crate) struct Spread<'a> {
    shape: Shape,
    /// All of the index tensor, or one line where all are that one.
    index: Elements<'a, i64>,
    index_shape: Shape,
    dim: usize,
}

impl<'a> Spread<'a> {
    pub(crate) fn new(
        op: &'static str,
        target: &Shape,
        index: &View<'a>,
        dim: usize,
    ) -> Result<Self> {
        let raised = |it: &Shape| if it.rank() == 0 { Shape::from([1]) } else { it.clone() };
        let (shape, index_shape) = (raised(target), raised(index.shape()));
        let mut res = Self { shape, index: Elements::Lent(&[]), index_shape, dim };
        let line = if res.is_in_lines() { repeated_line(index) } else { None };
        res.index = line.map_or_else(|| indices(op, index), |it| Ok(Elements::Lent(it)))?;
        Ok(res)
    }

    /// Whether lines of the index tensor name elements of the lines of the tensor, each those of its own.
    pub(crate) fn is_in_lines(&self) -> bool {
        let last = self.shape.rank() - 1;
        self.dim == last && self.shape[..last] == self.index_shape[..last]
    }

    /// Calls `body(line, indices, line of the tensor)` for each line, on several threads if there is enough to do; lines must be
    /// [in order](Self::is_in_lines).
    pub(crate) fn for_each_line<T: Send>(
        &self,
        out: &mut [T],
        body: impl Fn(usize, &[i64], &mut [T]) + Sync,
    ) {
        let n_lines = self.shape[..self.shape.rank() - 1].iter().product();
        if self.is_one_line() {
            let nothing = vec![(); out.len()];
            let body = |line, _: &[()], out: &mut [T]| body(line, &self.index, out);
            return pool2d::for_each_plane(n_lines, &nothing, out, body);
        }
        pool2d::for_each_plane(n_lines, &self.index, out, body);
    }

    /// Whether one line stands for all of the index tensor.
    fn is_one_line(&self) -> bool {
        self.index.len() < self.index_shape.numel()
    }

    /// Calls `body(position in the index tensor, position in the row-major tensor)`.
    pub(crate) fn for_each(&self, mut body: impl FnMut(usize, usize)) {
        let index = match self.is_one_line() {
            true => Cow::Owned(self.index.repeat(self.index_shape.numel() / self.index.len())),
            false => Cow::Borrowed(&*self.index),
        };
        let mut strides = crate::shape::row_major(&self.shape);
        let step = strides[self.dim] as usize;
        strides[self.dim] = 0;
        let layout = Layout { shape: self.index_shape.clone(), strides, offset: 0 };
        let mut at = 0;
        strided::for_each_run([&layout], |[start], len, [stride]| {
            let mut to = start;
            for (from, index) in (at..).zip(&index[at..at + len]) {
                body(from, to + *index as usize * step);
                to += stride as usize;
            }
            at += len;
        });
    }
}

/// The line along the last dimension that all lines of an index tensor are, if it lies in a row.
fn repeated_line<'a>(index: &View<'a>) -> Option<&'a [i64]> {
    let Layout { shape, strides, offset } = index.layout();
    let (len, step) = (*shape.last()?, *strides.last()?);
    let mut others = shape.iter().zip(strides).take(shape.rank() - 1);
    let is_repeated = others.all(|(size, step)| *size == 1 || *step == 0);
    (index.dtype() == DType::I64 && is_repeated && step == 1)
        .then(|| index.buffer::<i64>().get(*offset..offset + len))?
}

/// What index tensors from input `first` on name: the shape that they pick, and for each index into it the place.
fn leading_places(
    cx: &MeaningCx<'_>,
    first: usize,
) -> (Vec<usize>, impl Fn(&[usize]) -> Vec<usize>) {
    let index = &cx.inputs[first..];
    let positions = broadcast(index.iter().map(Array::shape));
    let index: Vec<_> = index.iter().map(|it| it.expanded(&positions).ints()).collect();
    let sizes = cx.shape(0).to_vec();
    let shape = [&positions[..], &sizes[index.len()..]].concat();
    let place = move |at: &[usize]| {
        let (position, rest) = at.split_at(positions.len());
        let named = index.iter().zip(&sizes).map(|(it, size)| from_end(it[position], *size));
        named.chain(rest.iter().copied()).collect()
    };
    (shape, place)
}

/// `grad` placed at the start of zeros of a larger `shape`.
pub(crate) fn outside_zero(grad: &Tensor, shape: &Shape) -> Result<Tensor> {
    if grad.shape() == shape {
        return Ok(grad.clone());
    }
    let sizes = shape.iter().zip(grad.shape().iter()).rev();
    let pads = sizes.flat_map(|(&to, &from)| [0, to as i64 - from as i64]).collect();
    let attrs = smallvec![Attr::Ints(pads), Attr::Str("constant"), Attr::Float(0.0)];
    apply_one(&super::shape::pad::OP, std::slice::from_ref(grad), &attrs)
}
