//! `index_select`: slices picked along a dimension by a vector of indices.

use smallvec::smallvec;

use super::{admit_along, index_dtype};
use crate::cpu::{rows, strided};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::indices;
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::ops::added_to;
use crate::shape::resolve_dim;
use crate::{Attr, Meta, Metas, OpDef, Result, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "index_select",
    doc: "Slices picked along a dimension by a vector of indices.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("index_select.rows", run)
        .admitting(admit_along)
        .finishing()
        .on_cuda(|cx| super::cuda::gather(cx, true))]),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input, with the length of index along dim",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("Gather", super::onnx::index_select),
    aliases: &["oneflow.index_select"],
    examples: &[
        (
            "index_select(tensor([[1, 2], [3, 4], [5, 6]]), 0, tensor([2, 0]))",
            "tensor([[5, 6],\n        [1, 2]])",
        ),
        (
            "index_select(tensor([[1, 2], [3, 4]]), 1, tensor([1, 1]))",
            "tensor([[2, 2],\n        [4, 4]])",
        ),
        ("index_select(tensor([1.0, 2.0]), 0, tensor([1]))", "tensor([2.])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, index) = (cx.input(0).raised(), cx.input(1).raised().ints());
    let (mut shape, dim) = (x.shape().to_vec(), cx.dim(0, x.rank()));
    shape[dim] = index.len();
    let picked = x.moved(&shape, |at| {
        let mut from = at.to_vec();
        from[dim] = index[[at[dim]].as_slice()] as usize;
        from
    });
    if cx.input(0).rank() == 0 { picked.reshaped(&[]) } else { picked }
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let mut shape = cx.shape(0).clone();
    let dim = resolve_dim(cx.op.name, cx.int(0), shape.rank())?;
    index_dtype(cx.op.name, &cx.inputs[1])?;
    if cx.shape(1).rank() > 1 {
        return Err(cx.bad_shapes("the index must be a vector"));
    }
    if shape.rank() == 0 && cx.shape(1).numel() != 1 {
        return Err(cx.bad_shapes("the index of a single number must have one element"));
    }
    if let Some(size) = shape.dims_mut().get_mut(dim) {
        *size = cx.shape(1).numel();
    }
    Ok(smallvec![Meta::new(shape, cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.inputs[0];
    let dim = resolve_dim(cx.op.name, cx.int(0), input.shape().rank())?;
    let (_, size, inner) = strided::around(input.shape(), dim);
    let index = indices(cx.op.name, &cx.inputs[1])?;
    let part = cx.part;
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        let out = cx.outputs[0].as_mut_slice::<T>();
        if inner == 1 {
            rows::for_each(out, index.len(), part, &|line, to| {
                let from = &src[line * size..(line + 1) * size];
                to.iter_mut().zip(index.iter()).for_each(|(slot, &at)| *slot = from[at as usize]);
            });
        } else {
            rows::for_each(out, inner, part, &|row, to| {
                let (block, at) = (row / index.len(), index[row % index.len()] as usize);
                let start = (block * size + at) * inner;
                to.copy_from_slice(&src[start..start + inner]);
            });
        }
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let others = [cx.input(1).clone(), cx.output_grad()?];
    let attrs = smallvec![Attr::Int(cx.int(0))];
    Ok(vec![Some(added_to(cx, 0, &super::index_add::OP, &others, &attrs)?), None])
}
