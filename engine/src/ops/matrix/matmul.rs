//! `matmul`: the matrix product.

use smallvec::smallvec;

use super::{Products, gemm_kernels, product_shape};
use crate::functional::unbroadcast;
use crate::functional::{matmul, matrix_transpose, reshape, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, broadcast, by_index, of_kind};
use crate::op::{
    Autocast, Body, DTypeRule, Grad, GradCx, InferCx, Kernel, Onnx, Param, Saves, Surface,
};
use crate::{Meta, Metas, OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "matmul",
    doc: "The matrix product. Vectors count as a row (left) or a column (right); further dimensions are batches and broadcast.",
    meaning: Meaning::of(meaning),
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::SameNumbers,
    infer,
    body: Body::Kernels(KERNELS),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: Some(|cx| match (cx.rank_of(0), cx.rank_of(1), cx.rank()) {
        (Some(1), Some(1), _) | (None, _, Some(0)) => "DotBackward0",
        (Some(2), Some(1), _) | (None, _, Some(1)) => "MvBackward0",
        (Some(1), Some(2), _) => "SqueezeBackward4",
        (Some(2), Some(2), _) | (None, _, Some(2)) => "MmBackward0",
        _ => "UnsafeViewBackward0",
    }),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        autocast: Autocast::Half,
        shapes: "[..., N, K] @ [..., K, M] gives [..., N, M]; leading dimensions are broadcast, a vector is a row or a column that is left out",
        complex: Some(|cx| super::product_of_parts(cx, matmul)),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("MatMul", super::onnx::matmul),
    aliases: &["megengine.functional.matmul", "oneflow.matmul"],
    examples: &[
        (
            "matmul(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[1.0], [1.0]]))",
            "tensor([[3.],\n        [7.]])",
        ),
        ("matmul(tensor([1, 2]), tensor([3, 4]))", "tensor(11)"),
        ("matmul(ones(2, 0), ones(0, 2))", "tensor([[0., 0.],\n        [0., 0.]])"),
    ],
};

/// A vector is a matrix of one row or one column, which goes away again.
fn meaning(cx: &MeaningCx<'_>) -> Array {
    let [a, b] = [0, 1].map(|it| cx.shape(it));
    let rows = if a.len() == 1 { [&[1], a].concat() } else { a.to_vec() };
    let columns = if b.len() == 1 { [b, &[1]].concat() } else { b.to_vec() };
    let (m, n) = (rows[rows.len() - 2], columns[columns.len() - 1]);
    let batch = broadcast([&rows[..rows.len() - 2], &columns[..columns.len() - 2]]);
    let (a, b) = (cx.input(0).reshaped(&rows), cx.input(1).reshaped(&columns));
    let k = columns[columns.len() - 2];
    let (a, b) =
        (a.expanded(&[&batch[..], &[m, k]].concat()), b.expanded(&[&batch[..], &[k, n]].concat()));
    let products = of_kind!(&a, &b, (a, b) => by_index(&[&batch[..], &[m, n]].concat(), |at| {
        let (batch, place) = at.split_at(batch.len());
        (0..k).fold(Scalar::ZERO, |sum, it| {
            let factors = ([batch, &[place[0], it]].concat(), [batch, &[it, place[1]]].concat());
            Scalar::added(sum, Scalar::multiplied(a[&factors.0[..]], b[&factors.1[..]]))
        })
    }));
    let kept_rows: &[usize] = if cx.input(0).rank() == 1 { &[] } else { &[m] };
    let kept_columns: &[usize] = if cx.input(1).rank() == 1 { &[] } else { &[n] };
    products.reshaped(&[&batch[..], kept_rows, kept_columns].concat())
}

static KERNELS: &[Kernel] = gemm_kernels!(Products::of_batches, super::cuda::matmul);

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (a, b) = (cx.shape(0), cx.shape(1));
    if a.rank() == 0 || b.rank() == 0 {
        return Err(cx.bad_shapes("scalars have no matrix product; use *"));
    }
    let (batch, [m, _, n]) = product_shape(a, b).ok_or_else(|| {
        cx.bad_shapes(
            "columns of the left must equal rows of the right, batch sizes must broadcast",
        )
    })?;
    let rows = (a.rank() > 1).then_some(m);
    let columns = (b.rank() > 1).then_some(n);
    Ok(smallvec![Meta::new(
        batch.iter().copied().chain(rows).chain(columns).collect(),
        cx.dtype(0)
    )])
}

/// `da = dy @ b^T`, `db = a^T @ dy`, summed over broadcast batch dimensions.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (a, b, mut dy) = (cx.input(0), cx.input(1), cx.output_grad()?);
    if b.rank() == 1 {
        dy = unsqueeze(&dy, -1)?;
    }
    if a.rank() == 1 {
        dy = unsqueeze(&dy, -2)?;
    }
    let rows = if a.rank() == 1 { unsqueeze(a, 0)? } else { a.clone() };
    let columns = if b.rank() == 1 { unsqueeze(b, 1)? } else { b.clone() };
    let da = match cx.needs(0) {
        true => Some(reshape(
            &unbroadcast(&matmul(&dy, &matrix_transpose(&columns)?)?, rows.shape())?,
            a.shape(),
        )?),
        false => None,
    };
    let db = match cx.needs(1) {
        true => Some(reshape(
            &unbroadcast(&matmul(&matrix_transpose(&rows)?, &dy)?, columns.shape())?,
            b.shape(),
        )?),
        false => None,
    };
    Ok(vec![da, db])
}
