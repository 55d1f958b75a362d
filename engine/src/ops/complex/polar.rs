//! `polar`: complex numbers from absolute value and angle.

use smallvec::smallvec;

use crate::functional::{complex, cos, mul, sin};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Surface, shapes};
use crate::{OpDef, Outputs, Result, rules};

/// The row of `polar`.
pub static OP: OpDef = OpDef {
    name: "polar",
    doc: "Complex numbers from their absolute values and angles: `abs * (cos(angle) + sin(angle) j)`.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("abs"), Param::tensor("angle")],
    dtypes: DTypeRule::SameFloats,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "PolarBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::BROADCAST, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "polar(tensor([1.0, 2.0]), tensor([0.0, 3.0]))",
        "tensor([ 1.0000+0.0000j, -1.9800+0.2822j])",
    )],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let (abs, angle) = (cx.input(0)?, cx.input(1)?);
    Ok(smallvec![complex(&mul(abs, &cos(angle)?)?, &mul(abs, &sin(angle)?)?)?])
}
