//! `scatter`: the input with `src` placed along a dimension: `out[index[i][j]][j] = src[i][j]` for `dim=0`; a number fills all places.

use super::{admit_along, placing};
use crate::apply::complex::by_parts;
use crate::functional::{expand, num, to};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Form, Grad, GradCx, Is, Kernel, Onnx, Param, ParamKind, Saves,
    Surface, When, shapes,
};
use crate::{Error, OpDef, Outputs, Result, Tensor, apply_one};

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
        by_places: true,
        form: Some(Form::also_in_place(
            "scatter",
            When::Any(&[When::Arg("reduce", Is::Given), When::Arg("value", Is::Given)]),
        )),
        in_place: true,
        shapes: shapes::SCATTERED,
        complex: Some(of_complex),
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

/// A number becomes a complex one first: each part has its own.
fn of_complex(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, index, src) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    if src.as_number().is_none() {
        return by_parts(cx);
    }
    if !input.dtype().is_complex() {
        let dtypes = vec![input.dtype(), src.dtype()];
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    let src = expand(&to(src, input.dtype())?, index.shape())?;
    let inputs = [input, index, &src].map(|it| Some(it.clone()));
    by_parts(&ComposedCx { inputs: &inputs, ..*cx })
}

fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let cleared = |dy| apply_one(&OP, &[dy, cx.input(1).clone(), num(0.0)], cx.attrs);
    let kept = cx.needs(0).then(|| cx.output_grad().and_then(cleared)).transpose()?;
    Ok(vec![kept, None, placing::grad_of_placed(cx)?])
}
