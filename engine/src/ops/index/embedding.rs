//! `embedding`: rows of `weight` picked by whole numbers; the row `padding_idx` gets no gradient.

use smallvec::smallvec;

use super::index_dtype;
use crate::cpu::rows;
use crate::functional::{eq, num, reshape, select_where, unsqueeze};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    AdmitCx, Body, ComposedCx, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx,
    Param, ParamKind, Saves, Surface, indices,
};
use crate::ops::added_to;
use crate::shape::resolve_dim;
use crate::{
    Attr, Attrs, Error, Meta, Metas, OpDef, Outputs, Result, Shape, Tensor, apply_one, with_size,
};

pub static OP: OpDef = OpDef {
    name: "embedding",
    doc: "Rows of `weight` picked by whole numbers; the row `padding_idx` gets no gradient.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::tensor("weight"),
        Param::with("padding_idx", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("embedding.rows", run)
        .admitting(admits)
        .finishing()
        .composed_on_cuda(on_cuda)]),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: Some(|_| "EmbeddingBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: "indices [...] and weight [V, D] give [..., D]", ..Surface::PLAIN },
    onnx: Onnx::written("Gather", super::onnx::embedding),
    aliases: &["megengine.functional.embedding", "oneflow.nn.functional.embedding"],
    examples: &[
        (
            "embedding(tensor([1, 0]), tensor([[1.0, 2.0], [3.0, 4.0]]))",
            "tensor([[3., 4.],\n        [1., 2.]])",
        ),
        ("embedding(tensor([[1]]), tensor([[1.0], [3.0]]))", "tensor([[[3.]]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (index, weight) = (cx.input(0).ints(), cx.input(1));
    let rank = index.shape().len();
    let shape: Vec<usize> = index.shape().iter().copied().chain([weight.shape()[1]]).collect();
    weight.moved(&shape, |at| vec![index[&at[..rank]] as usize, at[rank]])
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    index_dtype(cx.op.name, &cx.inputs[0])?;
    let &[_, columns] = &cx.shape(1)[..] else {
        return Err(cx.bad_shapes("the weight must be a matrix"));
    };
    padding(cx.op.name, cx.attrs, cx.shape(1)[0])?;
    let shape = cx.shape(0).iter().copied().chain([columns]).collect();
    Ok(smallvec![Meta::new(shape, cx.dtype(1))])
}

/// The row that gets no gradient, counted from the start.
fn padding(op: &'static str, attrs: &Attrs, n_rows: usize) -> Result<Option<usize>> {
    let Attr::Int(row) = attrs[0] else { return Ok(None) };
    resolve_dim(op, row, n_rows).map(Some)
}

fn admits(cx: &AdmitCx<'_>) -> Result<()> {
    let n_rows = cx.shape(1)[0];
    let is_row = |at| (0..n_rows as i64).contains(&at);
    cx.each_int(0, is_row, |row| Error::TableRow { row, n_rows })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (index, weight) = (indices(cx.op.name, &cx.inputs[0])?, cx.inputs[1]);
    let (len, part) = (weight.shape()[1], cx.part);
    with_size!(weight.dtype(), T => {
        let weight = weight.to_slice::<T>();
        rows::for_each(cx.outputs[0].as_mut_slice::<T>(), len, part, &|at, row| {
            let start = index[at] as usize * len;
            row.copy_from_slice(&weight[start..start + len]);
        });
    });
    Ok(())
}

fn on_cuda(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (index, weight) = (cx.input(0)?, cx.input(1)?);
    let picked = [weight.clone(), flat(index)?];
    let picked = apply_one(&super::index_select::OP, &picked, &smallvec![Attr::Int(0)]);
    let picked = picked.map_err(|it| match it {
        Error::IndexRange { index, size, .. } => Error::TableRow { row: index, n_rows: size },
        other => other,
    })?;
    let shape: Shape = index.shape().iter().copied().chain([weight.shape()[1]]).collect();
    Ok(smallvec![reshape(&picked, &shape)?])
}

fn flat(index: &Tensor) -> Result<Tensor> {
    reshape(index, &Shape::from([index.numel()]))
}

/// What comes to each row is added to it, but for the one at `padding_idx`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (index, mut slope) = (cx.input(0).clone(), cx.output_grad()?);
    let (n_rows, len) = (cx.input(1).shape()[0], cx.input(1).shape()[1]);
    if let Some(row) = padding(cx.op.name, cx.attrs, n_rows)? {
        let hidden = unsqueeze(&eq(&index, &Tensor::int_number(row as i64))?, -1)?;
        slope = select_where(&hidden, &num(0.0), &slope)?;
    }
    let slope = reshape(&slope, &Shape::from([index.numel(), len]))?;
    let others = [flat(&index)?, slope];
    let weight = added_to(cx, 1, &super::index_add::OP, &others, &smallvec![Attr::Int(0)])?;
    Ok(vec![None, Some(weight)])
}
