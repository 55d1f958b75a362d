//! `outer`: all products of the elements of two vectors.

use smallvec::smallvec;

use crate::functional::{mul, unsqueeze};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, Cut, DTypeRule, Grad, Onnx, Param, Surface};
use crate::{OpDef, Outputs, Result, rules};

pub static OP: OpDef = OpDef {
    name: "outer",
    doc: "All products of the elements of two vectors.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input"), Param::tensor("vec2")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface {
        shapes: "[N] and [M] give [N, M]",
        cuts: &[Cut::new(2, &[Some(1), None])],
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "outer(tensor([1, 2]), tensor([3, 4, 5]))",
            "tensor([[ 3,  4,  5],\n        [ 6,  8, 10]])",
        ),
        ("outer(tensor([1.5]), tensor([2.0, -2.0]))", "tensor([[ 3., -3.]])"),
        ("outer(zeros(0), ones(2)).shape", "torch.Size([0, 2])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (a, b) = super::two_vectors(cx)?;
    Ok(smallvec![mul(&unsqueeze(a, 1)?, b)?])
}
