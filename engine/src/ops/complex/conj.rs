//! `conj`: the complex conjugates.

use smallvec::smallvec;

use crate::functional::{complex, neg, part};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Returns, Surface, shapes};
use crate::{OpDef, Outputs, Result, rules};

/// The row of `conj`.
pub static OP: OpDef = OpDef {
    name: "conj",
    doc: "The complex conjugates: the imaginary parts change their signs. Real numbers are their own.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "ConjBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { returns: Returns::View, shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[("conj(tensor([1 + 2j, 3 - 1j]))", "tensor([1.-2.j, 3.+1.j])")],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    Ok(smallvec![match input.dtype().is_complex() {
        true => complex(&part(input, 0)?, &neg(&part(input, 1)?)?)?,
        false => input.clone(),
    }])
}
