//! Shapes and views: reshaping, slicing, joining. Views share storage.

use crate::OpDef;
use crate::cpu::interrupt;
use crate::cpu::local::Held;
use crate::op::GradCx;
use crate::shape::resolve_dim;
use crate::{Attr, Attrs, Error, Outputs, Result, Shape, Tensor, apply_one, functional};

pub mod _as_strided;
pub mod _view_dtype;
pub mod as_strided_scatter;
pub mod cat;
pub mod chunk;
pub(crate) mod cuda;
pub mod diag;
pub mod diag_embed;
pub mod diagonal;
pub mod expand;
pub mod flatten;
pub mod flip;
pub mod movedim;
pub mod narrow;
mod onnx;
pub mod pad;
pub mod permute;
pub mod repeat;
pub mod repeat_interleave;
pub mod reshape;
pub mod roll;
pub mod select;
pub mod slice;
pub mod slice_add;
pub mod slice_backward;
pub mod slice_scatter;
pub mod sliding_windows;
pub mod split;
pub mod squeeze;
pub mod stack;
pub mod t;
pub mod tile;
pub mod transpose;
mod triangle;
pub mod tril;
pub mod triu;
pub mod unbind;
pub mod unsqueeze;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &_as_strided::OP,
    &_view_dtype::OP,
    &as_strided_scatter::OP,
    &cat::OP,
    &chunk::OP,
    &diag::OP,
    &diag_embed::OP,
    &diagonal::OP,
    &expand::OP,
    &flatten::OP,
    &flip::OP,
    &movedim::OP,
    &narrow::OP,
    &pad::OP,
    &permute::OP,
    &repeat::OP,
    &repeat_interleave::OP,
    &reshape::OP,
    &roll::OP,
    &select::OP,
    &slice::OP,
    &slice_add::OP,
    &slice_backward::OP,
    &slice_scatter::OP,
    &sliding_windows::OP,
    &split::OP,
    &squeeze::OP,
    &stack::OP,
    &t::OP,
    &tile::OP,
    &transpose::OP,
    &tril::OP,
    &triu::OP,
    &unbind::OP,
    &unsqueeze::OP,
];

/// Of a row that puts its second operand in the places that the view row `part` sees of the first, by the same attributes: what is put there
/// has the gradient of these places, the first operand that of the others.
fn grad_of_placed(cx: &mut GradCx<'_>, part: &'static OpDef) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let dx = match cx.needs(0) {
        true => {
            let zeros = functional::full(cx.input(1).shape(), 0.0, dy.dtype())?;
            Some(apply_one(cx.op, &[dy.clone(), zeros], cx.attrs)?)
        }
        false => None,
    };
    let dsrc = match cx.needs(1) {
        true => Some(apply_one(part, &[dy], cx.attrs)?),
        false => None,
    };
    Ok(vec![dx, dsrc])
}

/// What a slice selects along a dimension: `len` elements from `start` in steps of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) step: isize,
}

/// Reads slice attributes as Python does: out of range bounds are cut, negative ones count from the end.
/// An absent stop is the end in the direction of the step.
pub(crate) fn span_of(
    op: &'static str,
    size: usize,
    start: &Attr,
    stop: &Attr,
    step: i64,
) -> Result<Span> {
    if step == 0 {
        return Err(Error::Attr { op, name: "step", problem: "must not be 0".into() });
    }
    let size = size as i64;
    let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let bound = |attr: &Attr, absent: i64| match attr {
        Attr::Int(it) => (if *it < 0 { it.saturating_add(size) } else { *it }).clamp(low, high),
        _ => absent,
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (start, stop) = (bound(start, first), bound(stop, last));
    let reach = if step > 0 { stop - start } else { start - stop };
    let len = if reach <= 0 { 0 } else { (reach - 1) / step.saturating_abs() + 1 };
    Ok(Span { start: start.max(0) as usize, len: len as usize, step: step as isize })
}

/// Resolves dimension attribute `idx` of a row for a tensor of `rank`.
pub(crate) fn dim_attr(op: &'static str, attrs: &Attrs, idx: usize, rank: usize) -> Result<usize> {
    resolve_dim(op, crate::op::int(attrs, idx), rank)
}

/// Resolves an index that may count from the end.
pub(crate) fn wrap_index(op: &'static str, index: i64, size: usize, dim: usize) -> Result<usize> {
    let bound = size as i64;
    if index < -bound || index >= bound {
        return Err(Error::IndexRange { op, index, size, dim });
    }
    Ok(if index < 0 { (index + bound) as usize } else { index as usize })
}

/// Checks that sizes given by the user are not negative.
pub(crate) fn size_list(op: &'static str, name: &'static str, sizes: &[i64]) -> Result<Shape> {
    let size = |&it: &i64| {
        usize::try_from(it).map_err(|_| Error::Attr {
            op,
            name,
            problem: format!("has a negative size {it}"),
        })
    };
    sizes.iter().map(size).collect()
}

/// Bytes that a view takes beside its elements, about.
const VIEW_BYTES: usize = 400;

/// `count` views, where there is room for that many: what each of them takes adds up.
pub(crate) fn views(
    count: usize,
    mut view: impl FnMut(usize) -> Result<Tensor>,
) -> Result<Outputs> {
    let _room = Held::new(count.saturating_mul(VIEW_BYTES).min(isize::MAX as usize))?;
    let mut res = Outputs::with_capacity(count);
    for piece in interrupt::pieces_of(count, 100) {
        for at in piece {
            res.push(view(at)?);
        }
    }
    if res.len() < count { Err(Error::Interrupted) } else { Ok(res) }
}

/// Consecutive pieces of the given sizes along `dim`.
pub(crate) fn pieces(input: &Tensor, dim: usize, sizes: &[usize]) -> Result<Outputs> {
    let mut start = 0_i64;
    views(sizes.len(), |at| {
        let stop = start + sizes[at] as i64;
        let res = functional::slice(input, dim as i64, start, stop, 1);
        start = stop;
        res
    })
}
