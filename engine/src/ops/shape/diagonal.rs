//! `diagonal`: the diagonal of two dimensions, as the last dimension.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::{permute, reshape, slice};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Returns, Surface,
};
use crate::{Error, OpDef, Outputs, Result, Shape, rules};

pub static OP: OpDef = OpDef {
    name: "diagonal",
    doc: "The diagonal of two dimensions, as the last dimension.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("offset", ParamKind::Int, Default::Int(0)),
        Param::with("dim1", ParamKind::Int, Default::Int(0)),
        Param::with("dim2", ParamKind::Int, Default::Int(1)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "DiagonalBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        returns: Returns::View,
        shapes: "dim1 and dim2 are left out, and the length of the diagonal comes last",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.diagonal"],
    examples: &[
        ("diagonal(tensor([[1, 2], [3, 4]]))", "tensor([1, 4])"),
        ("diagonal(tensor([[1, 2], [3, 4]]), 1)", "tensor([2])"),
        ("diagonal(tensor([[1, 2, 3], [4, 5, 6]]), -1)", "tensor([4])"),
    ],
};

/// Flattens the two dimensions and steps through them: row `i`, column `i + offset` is element `i * (columns + 1) + offset`.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let (rank, offset) = (input.rank(), cx.int(0));
    let (a, b) =
        (dim_attr(cx.op.name, cx.attrs, 1, rank)?, dim_attr(cx.op.name, cx.attrs, 2, rank)?);
    if a == b || rank < 2 {
        let problem = "must name two different dimensions".into();
        return Err(Error::Attr { op: cx.op.name, name: "dim2", problem });
    }
    let order: Vec<i64> =
        (0..rank).filter(|&it| it != a && it != b).chain([a, b]).map(|it| it as i64).collect();
    let (n_rows, n_columns) = (input.shape()[a] as i64, input.shape()[b] as i64);
    let (above, below) = (offset.max(0), offset.saturating_neg().max(0));
    let len = n_rows.saturating_sub(below).min(n_columns.saturating_sub(above)).max(0);
    let start = above.saturating_add(below.saturating_mul(n_columns));
    let stop = if len == 0 { start } else { start + (len - 1) * (n_columns + 1) + 1 };
    let moved = permute(input, &order)?;
    let mut flat = Shape::new(&moved.shape()[..rank - 2]);
    flat.dims_mut().push((n_rows * n_columns) as usize);
    Ok(smallvec![slice(&reshape(&moved, &flat)?, rank as i64 - 2, start, stop, n_columns + 1)?])
}
