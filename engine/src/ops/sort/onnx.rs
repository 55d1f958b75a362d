//! How sorting is written in ONNX.

use crate::Result;
use crate::op::{NodeCx, attr};

/// The first `k` in order, and where they were.
fn in_order(cx: &mut NodeCx<'_>, k: i64, dim: i64, largest: bool, sorted: bool) -> Result<()> {
    let dtype = cx.dtype(0);
    let work = dtype.at_least_i32();
    let mut x = cx.input_as(0, work);
    let is_scalar = cx.rank(0) == 0;
    if is_scalar && k == 0 {
        return cx
            .refuse("none of the elements of a tensor without dimensions has no operator there");
    }
    if is_scalar {
        x = cx.reshape(&x, &[1])?;
    }
    let k = cx.constant(&[k])?;
    let attrs = vec![
        attr::int("axis", dim),
        attr::int("largest", i64::from(largest)),
        attr::int("sorted", i64::from(sorted)),
    ];
    let mut results = cx.nodes("TopK", &[&x, &k], 2, attrs);
    if is_scalar {
        results = vec![cx.reshape(&results[0], &[])?, cx.reshape(&results[1], &[])?];
    }
    cx.give_as(&results[0], work);
    cx.give(results[1].clone())
}

pub(super) fn sort(cx: &mut NodeCx<'_>) -> Result<()> {
    let dim = cx.dim(0);
    let size = cx.shape(0).get(dim as usize).map_or(1, |&it| it as i64);
    in_order(cx, size, dim, cx.flag(1), true)
}

pub(super) fn topk(cx: &mut NodeCx<'_>) -> Result<()> {
    in_order(cx, cx.int(0), cx.dim(1), cx.flag(2), true)
}
