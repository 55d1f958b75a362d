//! `to`: the same numbers in another dtype.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, ParamKind, Surface};
use crate::rules;
use crate::{Attr, Attrs, DType, Tensor};

/// The row of `to`.
pub static OP: OpDef = OpDef {
    name: "to",
    doc: "The same numbers in another dtype. Floats lose their fraction on the way to integers; everything but 0 becomes True.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input"), Param::required("dtype", ParamKind::DType)],
    dtypes: DTypeRule::Custom(|inputs, attrs| Ok((inputs[0].dtype(), target(inputs, attrs)))),
    infer: rules::broadcast,
    body: Body::Scalar(|x, _| x[0].clone()),
    grad: Grad::Derived,
    step: Some(|_| "ToCopyBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: &[Onnx { op_type: "Cast", since: 13, attrs: &[("dtype", "to")] }],
    aliases: &[
        "megengine.functional.astype",
        "oneflow.cast",
        "oneflow.Tensor.to",
        "torch.Tensor.to",
        "torch.Tensor.type",
    ],
    examples: &[
        ("to(tensor([-1.5, 0.0, 2.7]), int64)", "tensor([-1,  0,  2])"),
        ("to(tensor([0.0, nan, 2.0]), bool)", "tensor([False,  True,  True])"),
        ("to(tensor([True, False]), float32)", "tensor([1., 0.])"),
    ],
};

fn target(inputs: &[Tensor], attrs: &Attrs) -> DType {
    match attrs.first() {
        Some(Attr::DType(dtype)) => *dtype,
        _ => inputs[0].dtype(),
    }
}
