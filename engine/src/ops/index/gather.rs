//! `gather`: elements picked along a dimension: `out[i][j] = input[index[i][j]][j]` for `dim=0`.

use smallvec::smallvec;

use super::{Spread, admit_along, index_dtype};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Form, Grad, GradCx, InferCx, Is, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, When,
};
use crate::ops::added_to;
use crate::shape::resolve_dim;
use crate::{Attr, Meta, Metas, OpDef, Result, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "gather",
    doc: "Elements picked along a dimension: `out[i][j] = input[index[i][j]][j]` for `dim=0`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("gather.loop", run)
        .admitting(admit_along)
        .on_cuda(|cx| super::cuda::gather(cx, false))]),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        by_places: true,
        form: Some(Form::new("gather", When::Arg("sparse_grad", Is::Given))),
        shapes: "the shape of index, which has as many dimensions as the input",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("GatherElements", super::onnx::gather),
    aliases: &["megengine.functional.gather", "oneflow.gather"],
    examples: &[
        (
            "gather(tensor([[1, 2], [3, 4]]), 1, tensor([[0, 0], [1, 0]]))",
            "tensor([[1, 1],\n        [4, 3]])",
        ),
        ("gather(tensor([1.0, 2.0, 3.0]), 0, tensor([2, 0]))", "tensor([3., 1.])"),
        ("gather(tensor([[1, 2], [3, 4]]), 0, tensor([[1, 0]]))", "tensor([[3, 2]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (x, index) = (cx.input(0).raised(), cx.input(1).raised().ints());
    let dim = cx.dim(0, x.rank());
    let picked = x.moved(index.shape(), |at| {
        let mut from = at.to_vec();
        from[dim] = index[at] as usize;
        from
    });
    picked.reshaped(cx.shape(1))
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (from, index) = (cx.shape(0), cx.shape(1));
    let dim = resolve_dim(cx.op.name, cx.int(0), from.rank())?;
    index_dtype(cx.op.name, &cx.inputs[1])?;
    let fits = from.rank().max(1) == index.rank().max(1)
        && (0..index.rank())
            .all(|it| it == dim || from.get(it).is_none_or(|&size| index[it] <= size));
    if !fits && index.numel() > 0 {
        return Err(cx.bad_shapes(format!(
            "the index must not be larger than the input, except in dimension {dim}"
        )));
    }
    Ok(smallvec![Meta::new(index.clone(), cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let dim = resolve_dim(cx.op.name, cx.int(0), cx.inputs[0].shape().rank())?;
    let spread = Spread::new(cx.op.name, cx.inputs[0].shape(), &cx.inputs[1], dim)?;
    let input = cx.inputs[0];
    with_size!(input.dtype(), T => {
        let (src, out) = (input.to_slice::<T>(), cx.outputs[0].as_mut_slice::<T>());
        match spread.is_in_lines() {
            true => {
                let width = input.shape().get(dim).copied().unwrap_or(1);
                spread.for_each_line(out, |line, places, out| {
                    let src = &src[line * width..][..width];
                    out.iter_mut().zip(places).for_each(|(out, &at)| *out = src[at as usize]);
                });
            }
            false => spread.for_each(|to, from| out[to] = src[from]),
        }
    });
    Ok(())
}

/// Each gradient goes back to where its element came from.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let others = [cx.input(1).clone(), cx.output_grad()?];
    let attrs = smallvec![Attr::Int(cx.int(0))];
    Ok(vec![Some(added_to(cx, 0, &super::scatter_add::OP, &others, &attrs)?), None])
}
