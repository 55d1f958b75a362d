//! Sorting, ranking and counting.

use std::cmp::Ordering;

use crate::OpDef;
use crate::cpu::number::Num;
use crate::cpu::strided;
use crate::op::GradCx;
use crate::{Result, Shape, Tensor, functional};

pub mod argsort;
pub mod bincount;
pub mod median;
pub mod searchsorted;
pub mod sort;
pub mod topk;
pub mod unique;

/// The rows of this family.
pub static ALL: &[&OpDef] = &[
    &argsort::OP,
    &bincount::OP,
    &median::OP,
    &searchsorted::OP,
    &sort::OP,
    &topk::OP,
    &unique::OP,
];

/// The total order of sorting: NaN is the largest, -0.0 equals 0.0.
pub(crate) fn ascending<T: Num>(a: &T, b: &T) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Calls `body(line, start, step)` for each line along `dim` of a row-major tensor: element `i` of the line is at
/// `start + i * step`.
pub(crate) fn for_each_line<T: Num>(
    x: &[T],
    shape: &Shape,
    dim: usize,
    mut body: impl FnMut(&[T], usize, usize),
) {
    let (outer, n, inner) = strided::around(shape, dim);
    let mut line = vec![T::default(); n];
    for block in 0..outer {
        for column in 0..inner {
            let start = block * n * inner + column;
            line.iter_mut().enumerate().for_each(|(at, slot)| *slot = x[start + at * inner]);
            body(&line, block, column);
        }
    }
}

/// The positions of a line in sorted order; equal elements keep their order.
pub(crate) fn order_of<T: Num>(line: &[T], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..line.len()).collect();
    match descending {
        true => order.sort_by(|&a, &b| ascending(&line[b], &line[a])),
        false => order.sort_by(|&a, &b| ascending(&line[a], &line[b])),
    }
    order
}

/// The gradient of picked values, put back where output 1 says that they came from, along `dim`.
pub(crate) fn back_to_places(cx: &GradCx<'_>, dim: i64) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let zeros = functional::full(cx.input(0).shape(), 0.0, dy.dtype())?;
    if dy.rank() == 0 {
        return Ok(vec![Some(dy)]);
    }
    Ok(vec![Some(functional::scatter_add(&zeros, dim, cx.output(1), &dy)?)])
}
