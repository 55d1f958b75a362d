//! `square`: the number times itself.

use crate::meaning::Meaning;
use crate::op::{Body, DTypeRule, Grad, Onnx, OpDef, Param, Surface};
use crate::rules;
use crate::{Attrs, DType, Result, Tensor};

/// The row of `square`.
pub static OP: OpDef = OpDef {
    name: "square",
    doc: "The number times itself.",
    meaning: Meaning::Expression,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Custom(numbers),
    infer: rules::broadcast,
    body: Body::Unary(|x| x.square()),
    grad: Grad::Derived,
    step: Some(|_| "PowBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface::PLAIN,
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.square", "oneflow.square"],
    examples: &[
        ("square(tensor([-1.5, -0.0, 0.5, 2.0]))", "tensor([2.2500, 0.0000, 0.2500, 4.0000])"),
        ("square(tensor([0.0, inf, nan]))", "tensor([0., inf, nan])"),
        ("square(tensor([-3, 3]))", "tensor([9, 9])"),
    ],
};

/// Bools count as 0 and 1.
fn numbers(inputs: &[Tensor], _attrs: &Attrs) -> Result<(DType, DType)> {
    let own = inputs[0].dtype();
    let dtype = if own == DType::Bool { DType::I64 } else { own };
    Ok((dtype, dtype))
}
