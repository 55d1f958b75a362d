//! `dot`: the sum of the products of two vectors.

use smallvec::smallvec;

use crate::apply::autocast;
use crate::functional::matmul;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "dot",
    doc: "The sum of the products of two vectors.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("other")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "DotBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: "[N] and [N] give one number of shape []", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["megengine.functional.dot", "oneflow.dot"],
    examples: &[
        ("dot(tensor([1.0, 2.0]), tensor([3.0, 4.0]))", "tensor(11.)"),
        ("dot(tensor([1, 2]), tensor([3, 4]))", "tensor(11)"),
        ("dot(zeros(0), zeros(0))", "tensor(0.)"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (a, b) = super::two_vectors(cx)?;
    // Autocast leaves it in its dtype, as PyTorch does.
    Ok(smallvec![autocast::left_alone(|| matmul(a, b))?])
}
