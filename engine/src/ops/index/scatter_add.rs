//! `scatter_add`: the input with `src` added along a dimension: `out[index[i][j]][j] += src[i][j]` for `dim=0`.

use super::{admit_along, placing};
use crate::functional::gather;
use crate::op::{Body, DTypeRule, Grad, GradCx, Kernel, Param, ParamKind, Saves, Surface, shapes};
use crate::{OpDef, Result, Tensor};

pub static OP: OpDef = OpDef {
    name: "scatter_add",
    doc: "The input with `src` added along a dimension: `out[index[i][j]][j] += src[i][j]` for `dim=0`.",
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::tensor("index"),
        Param::tensor("src"),
    ],
    dtypes: DTypeRule::Any,
    infer: placing::infer,
    body: Body::Kernels(&[
        Kernel::new("scatter_add.loop", |cx| placing::run(cx, true)).admitting(admit_along)
    ]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { in_place: true, shapes: shapes::SCATTERED, ..Surface::PLAIN },
    onnx: &[],
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
    let (dy, index) = (cx.output_grad()?, cx.input(1));
    let mut res = vec![None; 3];
    if cx.needs(0) {
        res[0] = Some(dy.clone());
    }
    if cx.needs(2) {
        let picked = gather(&dy, cx.int(0), index)?;
        res[2] = Some(super::outside_zero(&picked, cx.input(2).shape())?);
    }
    Ok(res)
}
