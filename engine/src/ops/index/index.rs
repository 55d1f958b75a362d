//! `index`: picks by index tensors on the leading dimensions, one per dimension, broadcast together: `x[i, j]`.

use smallvec::smallvec;

use super::{admit_leading, index_dtype, leading, row_starts};
use crate::cpu::interrupt;
use crate::cpu::view::View;
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind, Saves,
    Surface,
};
use crate::ops::added_to;
use crate::{Attr, Meta, Metas, OpDef, Result, Shape, Tensor, with_size};

pub static OP: OpDef = OpDef {
    name: "index",
    doc: "Picks by index tensors on the leading dimensions, one per dimension, broadcast together: `x[i, j]`. The first tensor is the one that is indexed.",
    meaning: Meaning::of(meaning),
    params: &[Param::required("tensors", ParamKind::Tensors)],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[Kernel::moving("index.rows", run)
        .admitting(|cx| admit_leading(cx, 1))
        .on_cuda(super::cuda::get_rows)]),
    grad: Grad::Onto(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        mixes_devices: true,
        shapes: "indexed dimensions give way to the broadcast shape of the indices",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("GatherND", super::onnx::index),
    aliases: &["oneflow.gather_nd"],
    examples: &[
        ("index([tensor([[1, 2], [3, 4]]), tensor([1, 0]), tensor([0, 1])])", "tensor([3, 2])"),
        ("index([tensor([[1, 2], [3, 4]]), tensor([1])])", "tensor([[3, 4]])"),
        ("index([tensor([5.0, 6.0]), tensor([[-1], [0]])])", "tensor([[6.],\n        [5.]])"),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let (shape, places) = super::leading_places(cx, 1);
    cx.input(0).moved(&shape, places)
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    cx.inputs[1..].iter().try_for_each(|it| index_dtype(cx.op.name, it))?;
    let index: Vec<&Shape> = cx.inputs[1..].iter().map(Tensor::shape).collect();
    let lead = leading(cx.op.name, cx.shape(0), &index)?;
    let rest = cx.shape(0)[index.len()..].iter();
    Ok(smallvec![Meta::new(lead.positions.iter().chain(rest).copied().collect(), cx.dtype(0))])
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, index) = (cx.inputs[0], &cx.inputs[1..]);
    let shapes: Vec<&Shape> = index.iter().map(View::shape).collect();
    let lead = leading(cx.op.name, input.shape(), &shapes)?;
    let starts = row_starts(cx.op.name, input.shape(), index, &lead)?;
    with_size!(input.dtype(), T => {
        let src = input.to_slice::<T>();
        let out = cx.outputs[0].as_mut_slice::<T>();
        if lead.row == 1 {
            for piece in interrupt::pieces(out.len().min(starts.len())) {
                let slots = out[piece.clone()].iter_mut().zip(&starts[piece]);
                slots.for_each(|(slot, &start)| *slot = src[start]);
            }
            return Ok(());
        }
        let mut rows = out.chunks_exact_mut(lead.row.max(1)).zip(starts);
        for piece in interrupt::pieces_of(rows.len(), lead.row) {
            for (row, start) in rows.by_ref().take(piece.len()) {
                row.copy_from_slice(&src[start..start + lead.row]);
            }
        }
    });
    Ok(())
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let mut others = vec![cx.output_grad()?];
    others.extend((1..cx.n_inputs()).map(|it| cx.input(it).clone()));
    let mut res = vec![None; cx.n_inputs()];
    res[0] = Some(added_to(cx, 0, &super::index_put::OP, &others, &smallvec![Attr::Bool(true)])?);
    Ok(res)
}
