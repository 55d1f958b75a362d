//! `scatter_add`: the input with `src` added along a dimension: `out[index[i][j]][j] += src[i][j]` for `dim=0`.

use super::{admit_along, placing};
use crate::apply::complex::by_parts;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Grad, GradCx, Kernel, Onnx, Param, ParamKind, Saves, Surface, shapes,
};
use crate::{OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "scatter_add",
    doc: "The input with `src` added along a dimension: `out[index[i][j]][j] += src[i][j]` for `dim=0`.",
    meaning: Meaning::of(|cx| placing::meaning(cx, true)),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("src"),
    ],
    dtypes: DTypeRule::Any,
    infer: placing::infer,
    body: Body::Kernels(&[Kernel::new("scatter_add.loop", placing::add)
        .updating()
        .admitting(admit_along)
        .on_cuda(|cx| super::cuda::scatter(cx, false, super::cuda::ADD))]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        by_places: true,
        in_place: true,
        shapes: shapes::SCATTERED,
        complex: Some(by_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::scatter_add),
    aliases: &["oneflow.scatter_add"],
    examples: &[
        (
            "scatter_add(zeros(3), 0, tensor([2, 0, 2]), tensor([5.0, 6.0, 1.0]))",
            "tensor([6., 0., 6.])",
        ),
        (
            "scatter_add(ones(2, 2), 1, tensor([[1], [0]]), tensor([[3.0], [4.0]]))",
            "tensor([[1., 4.],\n        [5., 1.]])",
        ),
    ],
};

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let kept = cx.needs(0).then(|| cx.output_grad()).transpose()?;
    Ok(vec![kept, None, placing::grad_of_placed(cx)?])
}
