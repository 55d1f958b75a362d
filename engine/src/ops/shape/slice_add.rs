//! `slice_add`: the input with `src` added to a slice along `dim`: the gradient of slices that are taken one after the other.

use smallvec::smallvec;

use super::{dim_attr, slice_backward, slice_scatter, span_of};
use crate::cpu::{elements, strided};
use crate::functional::add;
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, GradCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::ops::index::add_row;
use crate::{Attr, OpDef, Outputs, Result, Tensor, apply_one, with_dtype};

pub static OP: OpDef = OpDef {
    name: "slice_add",
    doc: "The input with `src` added to a slice along `dim`: the gradient of slices that are taken one after the other.",
    meaning: Meaning::of(|cx| slice_scatter::meant(cx, true)),
    params: &[
        Param::tensor("input"),
        Param::tensor("src"),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
        Param::with("start", ParamKind::OptInt, Default::None),
        Param::with("stop", ParamKind::OptInt, Default::None),
        Param::with("step", ParamKind::Int, Default::Int(1)),
    ],
    dtypes: DTypeRule::Any,
    infer: slice_scatter::infer,
    body: Body::Kernels(&[Kernel::new("slice_add.rows", run)
        .updating()
        .composed_on_cuda(composed)]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "the shape of the input; src has the shape of the slice",
        complex: Some(composed),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::slice_add),
    aliases: &[],
    examples: &[
        (
            "slice_add(tensor([1.0, 2.0, 4.0]), tensor([10.0, 20.0]), 0, 1, None)",
            "tensor([ 1., 12., 24.])",
        ),
        ("slice_add(tensor([1, 2, 3]), tensor([5, 6]), 0, None, None, 2)", "tensor([6, 2, 9])"),
        (
            "slice_add(tensor([[1.0, inf], [nan, 4.0]]), tensor([[1.0], [1.0]]), 1, -1)",
            "tensor([[1., inf],\n        [nan, 5.]])",
        ),
    ],
};

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (shape, dtype) = (cx.outputs[0].shape().clone(), cx.outputs[0].dtype());
    let dim = dim_attr(cx.op.name, cx.attrs, 0, shape.rank())?;
    let span = span_of(cx.op.name, shape[dim], &cx.attrs[1], &cx.attrs[2], cx.int(3))?;
    let (outer, size, inner) = strided::around(&shape, dim);
    // Slices side by side are one row.
    let (count, row) = if span.step == 1 { (1, span.len * inner) } else { (span.len, inner) };
    with_dtype!(dtype, T => {
        let src = cx.inputs[0].to_slice::<T>();
        elements::all_made()?;
        let out = cx.outputs[0].as_mut_slice::<T>();
        let mut rows = src.chunks_exact(row.max(1));
        for block in 0..outer {
            for idx in 0..count {
                let at = span.start.wrapping_add_signed(idx as isize * span.step);
                let start = (block * size + at) * inner;
                add_row(&mut out[start..start + row], rows.next().unwrap_or(&[]), dtype);
            }
        }
    });
    Ok(())
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let mut attrs = cx.attrs.clone();
    attrs.push(Attr::sizes(cx.input(0)?.shape()));
    let part = apply_one(&slice_backward::OP, &[cx.input(1)?.clone()], &attrs)?;
    Ok(smallvec![add(cx.input(0)?, &part)?])
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dy = cx.output_grad()?;
    let part = match cx.needs(1) {
        true => Some(apply_one(&super::slice::OP, std::slice::from_ref(&dy), cx.attrs)?),
        false => None,
    };
    Ok(vec![Some(dy), part])
}
