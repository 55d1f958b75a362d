//! `diag_embed`: matrices whose diagonals are the last dimension of the input.

use smallvec::smallvec;

use crate::functional::{permute, reshape};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "diag_embed",
    doc: "Matrices of zeros whose diagonals (or those `offset` above) are the last dimension of the input. Rows of the matrices are `dim1`, columns `dim2`.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("offset", ParamKind::Int, Default::Int(0)),
        Param::with("dim1", ParamKind::Int, Default::Int(-2)),
        Param::with("dim2", ParamKind::Int, Default::Int(-1)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "DiagEmbedBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[..., N] gives [..., N + |offset|, N + |offset|], the last two moved to dim1 and dim2",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("diag_embed(tensor([1, 2]))", "tensor([[1, 0],\n        [0, 2]])"),
        (
            "diag_embed(tensor([[1.0], [2.0]]), 1)",
            "tensor([[[0., 1.],\n         [0., 0.]],\n\n        [[0., 2.],\n         [0., 0.]]])",
        ),
        ("diag_embed(zeros(2, 0)).shape", "torch.Size([2, 0, 0])"),
    ],
};

/// In a flattened matrix of `size` columns, the diagonal has a step of `size + 1`.
fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, offset) = (cx.input(0)?, cx.int(0));
    let Some((&len, outer)) = input.shape().split_last() else {
        let (shapes, rule) = (vec![input.shape().clone()], "a scalar has no diagonal".into());
        return Err(Error::Shapes { op: cx.op.name, shapes, rule });
    };
    let size = (len as i64).saturating_add(offset.saturating_abs());
    if size.checked_mul(size).is_none() {
        let problem = format!("is {offset}: such a matrix fits no memory");
        return Err(Error::Attr { op: cx.op.name, name: "offset", problem });
    }
    let with = |last: Vec<i64>| outer.iter().map(|&it| it as i64).chain(last);
    let start = if offset >= 0 { offset } else { size * -offset };
    let stop = if len == 0 { start } else { start + (len as i64 - 1) * (size + 1) + 1 };
    let attrs = smallvec![
        Attr::Int(-1),
        Attr::Int(start),
        Attr::Int(stop),
        Attr::Int(size + 1),
        Attr::Ints(with(vec![size * size]).collect()),
    ];
    let place = &super::slice_backward::OP;
    let flat = apply_one(place, std::slice::from_ref(input), &attrs)?;
    let shape: Shape = with(vec![size, size]).map(|it| it as usize).collect();
    Ok(smallvec![placed(cx, &reshape(&flat, &shape)?)?])
}

/// With the rows of the matrices in dimension `dim1`, and the columns in `dim2`.
fn placed(cx: &ComposedCx<'_>, matrices: &Tensor) -> Result<Tensor> {
    let rank = matrices.rank();
    let [rows, columns] = [1, 2].map(|at| resolve_dim(cx.op.name, cx.int(at), rank));
    let (rows, columns) = (rows?, columns?);
    if rows == columns {
        let problem = format!("and dim1 are both {rows}: diagonal dimensions cannot be identical");
        return Err(Error::Attr { op: cx.op.name, name: "dim2", problem });
    }
    if (rows, columns) == (rank - 2, rank - 1) {
        return Ok(matrices.clone());
    }
    let mut outer = 0..rank as i64 - 2;
    let order: Vec<i64> = (0..rank)
        .filter_map(|at| match at {
            _ if at == rows => Some(rank as i64 - 2),
            _ if at == columns => Some(rank as i64 - 1),
            _ => outer.next(),
        })
        .collect();
    permute(matrices, &order)
}
