//! `take_along_dim`: as gather, with input and indices broadcast beside each other; without `dim` both are flattened.

use smallvec::smallvec;

use crate::functional::{add, expand, gather, lt, reshape, select_where};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface};
use crate::shape::resolve_dim;
use crate::{Attr, Error, OpDef, Outputs, Result, Shape, Tensor, rules};

pub static OP: OpDef = OpDef {
    name: "take_along_dim",
    doc: "As gather, with input and indices broadcast beside each other; without `dim` both are flattened.",
    meaning: Meaning::Composed,
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
    surface: Surface {
        by_places: true,
        shapes: "input and index are broadcast but along dim; the shape of index",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
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
        let index = from_start(&flat(index)?, input.numel())?;
        return Ok(smallvec![gather(&flat(input)?, 0, &index)?]);
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
    let size = input.shape().get(at).copied().unwrap_or(1);
    Ok(smallvec![gather(&under(input)?, dim, &under(&from_start(index, size)?)?)?])
}

/// Places of a dimension of `size`, of which those below 0 count from the end.
fn from_start(index: &Tensor, size: usize) -> Result<Tensor> {
    let ahead = add(index, &Tensor::int_number(size as i64))?;
    select_where(&lt(index, &Tensor::int_number(0))?, &ahead, index)
}
