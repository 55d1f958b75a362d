//! `full_like`: one number in the shape of another tensor.

use smallvec::smallvec;

use super::{dtype_or, full};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, OpDef, Param, ParamKind, Surface, shapes,
};
use crate::tensor::Outputs;
use crate::{Attr, Result, apply, rules};

/// The row of `full_like`.
pub static OP: OpDef = OpDef {
    name: "full_like",
    doc: "A tensor of the input's shape, and of its dtype unless another is given, in which every element is `fill_value`.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("fill_value", ParamKind::Number),
        Param::with("dtype", ParamKind::OptDType, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Stops("the result does not depend on the elements"),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.full_like", "oneflow.full_like", "numpy.full_like"],
    examples: &[
        ("full_like(tensor([2.0, nan]), 7)", "tensor([7., 7.])"),
        ("full_like(tensor([[2, 3]]), -1)", "tensor([[-1, -1]])"),
        ("full_like(tensor(5), 0.5, dtype=float32)", "tensor(0.5000)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    let value = cx.attrs.first().cloned().unwrap_or(Attr::Int(0));
    let dtype = dtype_or(cx.attrs, 1, input.dtype());
    apply(&full::OP, &[], &smallvec![Attr::sizes(input.shape()), value, Attr::DType(dtype)])
}
