//! `masked_select`: the elements where `mask` is true, as a vector; both broadcast.

use smallvec::smallvec;

use crate::functional::{expand, reshape, select};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{Attrs, DType, Error, OpDef, Outputs, Result, Shape, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "masked_select",
    doc: "The elements where `mask` is true, as a vector; both broadcast.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("mask")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "MaskedSelectBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[n], the number of true elements of the mask, which is broadcast with the input",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["oneflow.masked_select"],
    examples: &[
        ("masked_select(tensor([1, 2, 3]), tensor([True, False, True]))", "tensor([1, 3])"),
        ("masked_select(tensor([[1.0], [2.0]]), tensor([False, True]))", "tensor([1., 2.])"),
        ("masked_select(tensor([1]), tensor([False]))", "tensor([], dtype=torch.int64)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (input, mask) = (cx.input(0)?, cx.input(1)?);
    if mask.dtype() != DType::Bool {
        return Err(Error::DType { op: cx.op.name, dtype: mask.dtype(), allowed: "a bool mask" });
    }
    let shape = input.shape().broadcast(mask.shape()).ok_or_else(|| Error::Shapes {
        op: cx.op.name,
        shapes: vec![input.shape().clone(), mask.shape().clone()],
        rule: "input and mask must broadcast together".into(),
    })?;
    let flat = Shape::from([shape.numel()]);
    let at =
        apply_one(&super::nonzero::OP, &[reshape(&expand(mask, &shape)?, &flat)?], &Attrs::new())?;
    let input = reshape(&expand(input, &shape)?, &flat)?;
    Ok(smallvec![apply_one(&super::index::OP, &[input, select(&at, 1, 0)?], &Attrs::new())?])
}
