//! `real`: the real parts.

use smallvec::smallvec;

use crate::functional::part;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Returns, Surface, shapes};
use crate::{OpDef, Outputs, Result, rules};

/// The row of `real`.
pub static OP: OpDef = OpDef {
    name: "real",
    doc: "The real parts; real numbers are their own.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { returns: Returns::View, shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("real(tensor([1 + 2j, 3 - 1j]))", "tensor([1., 3.])"),
        ("real(tensor([1.5]))", "tensor([1.5000])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    Ok(smallvec![if input.dtype().is_complex() { part(input, 0)? } else { input.clone() }])
}
