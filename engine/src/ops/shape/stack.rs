//! `stack`: tensors of one shape joined along a new dimension.

use smallvec::smallvec;

use super::dim_attr;
use crate::functional::{cat, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{
    Autocast, Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface,
};
use crate::{Error, OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "stack",
    doc: "Tensors of one shape joined along a new dimension.",
    meaning: Meaning::Composed,
    params: &[
        Param::required("tensors", ParamKind::Tensors),
        Param::with("dim", ParamKind::Int, Default::Int(0)),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "StackBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        autocast: Autocast::Widest,
        shapes: "all of one shape; a new dimension dim has their number",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.stack", "oneflow.stack"],
    examples: &[
        ("stack([tensor([1, 2]), tensor([3, 4])])", "tensor([[1, 2],\n        [3, 4]])"),
        ("stack([tensor([1, 2]), tensor([3, 4])], -1)", "tensor([[1, 3],\n        [2, 4]])"),
        ("stack([tensor(1.0), tensor(2.0)])", "tensor([1., 2.])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let first = cx.input(0)?;
    let dim = dim_attr(cx.op.name, cx.attrs, 0, first.rank() + 1)? as i64;
    let mut parts = Vec::with_capacity(cx.inputs.len());
    for input in cx.inputs.iter().flatten() {
        if input.shape() != first.shape() {
            return Err(Error::Shapes {
                op: cx.op.name,
                shapes: cx.inputs.iter().flatten().map(|it| it.shape().clone()).collect(),
                rule: "all tensors must have one shape".into(),
            });
        }
        parts.push(unsqueeze(input, dim)?);
    }
    Ok(smallvec![cat(&parts, dim)?])
}
