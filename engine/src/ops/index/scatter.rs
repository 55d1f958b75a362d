//! `scatter`: the input with `src` placed along a dimension: `out[index[i][j]][j] = src[i][j]` for `dim=0`; a number fills all places.

use super::{admit_along, placing};
use crate::apply::complex::by_parts;
use crate::functional::num;
use crate::meaning::Meaning;
use crate::op::{
    Body, DTypeRule, Grad, GradCx, Kernel, Onnx, Param, ParamKind, Saves, Surface, shapes,
};
use crate::{OpDef, Result, Tensor, apply_one};

pub static OP: OpDef = OpDef {
    name: "scatter",
    doc: "The input with `src` placed along a dimension: `out[index[i][j]][j] = src[i][j]` for `dim=0`; a number fills all places.",
    meaning: Meaning::of(|cx| placing::meaning(cx, false)),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("src"),
    ],
    dtypes: DTypeRule::Any,
    infer: placing::infer,
    body: Body::Kernels(&[Kernel::moving("scatter.loop", placing::put)
        .updating()
        .admitting(admit_along)
        .on_cuda(|cx| super::cuda::scatter(cx, false, super::cuda::Placing::Put))]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        in_place: true,
        shapes: shapes::SCATTERED,
        complex: Some(by_parts),
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ScatterElements", super::onnx::scatter),
    aliases: &["megengine.functional.scatter", "oneflow.scatter"],
    examples: &[
        ("scatter(zeros(3), 0, tensor([2, 0]), tensor([5.0, 6.0]))", "tensor([6., 0., 5.])"),
        (
            "scatter(zeros(2, 2), 1, tensor([[1], [0]]), 1.0)",
            "tensor([[0., 1.],\n        [1., 0.]])",
        ),
        ("scatter(tensor([1, 2, 3]), 0, tensor([-1 + 2]), tensor([9]))", "tensor([1, 9, 3])"),
    ],
};

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let cleared = |dy| apply_one(&OP, &[dy, cx.input(1).clone(), num(0.0)], cx.attrs);
    let kept = cx.needs(0).then(|| cx.output_grad().and_then(cleared)).transpose()?;
    Ok(vec![kept, None, placing::grad_of_placed(cx)?])
}
