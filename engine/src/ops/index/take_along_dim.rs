//! `take_along_dim`: as gather, with input and indices broadcast beside each other; without `dim` both are flattened.

use smallvec::smallvec;

use crate::functional::{expand, gather, reshape};
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Param, ParamKind};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "take_along_dim",
    doc: "As gather, with input and indices broadcast beside each other; without `dim` both are flattened.",
    params: &[
        Param::tensor("input"),
        Param::tensor("indices"),
        Param::with("dim", ParamKind::OptInt, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    onnx: &[],
    aliases: &[],
    examples: &[
        (
            "take_along_dim(tensor([[3, 1], [2, 4]]), tensor([[1], [0]]), 1)",
            "tensor([[1],\n        [2]])",
        ),
        ("take_along_dim(tensor([[3, 1], [2, 4]]), tensor([3, 0]))", "tensor([4, 3])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, index) = (cx.input(0)?, cx.input(1)?);
    let Attr::Int(dim) = cx.attrs[0] else {
        let flat = |it: &Tensor| reshape(it, &Shape::from([it.numel()]));
        return Ok(smallvec![gather(&flat(input)?, 0, &flat(index)?)?]);
    };
    let at = resolve_dim(cx.op.name, dim, input.rank())?;
    let without = |it: &Tensor| {
        let mut shape = it.shape().clone();
        if let Some(size) = shape.dims_mut().get_mut(at) {
            *size = 1;
        }
        shape
    };
    let shared = match input.rank() == index.rank() {
        true => without(input).broadcast(&without(index)),
        false => None,
    };
    let shared = shared.ok_or_else(|| Error::Shapes {
        op: cx.op.name,
        shapes: vec![input.shape().clone(), index.shape().clone()],
        rule: format!("they must have one rank and broadcast except in dimension {at}"),
    })?;
    let under = |it: &Tensor| {
        let mut shape = shared.clone();
        if let Some(size) = it.shape().get(at) {
            shape.dims_mut()[at] = *size;
        }
        expand(it, &shape)
    };
    Ok(smallvec![gather(&under(input)?, dim, &under(index)?)?])
}
