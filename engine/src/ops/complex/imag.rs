//! `imag`: the imaginary parts.

use smallvec::smallvec;

use crate::functional::part;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Returns, Surface, shapes};
use crate::{Error, OpDef, Outputs, Result, rules};

/// The row of `imag`.
pub static OP: OpDef = OpDef {
    name: "imag",
    doc: "The imaginary parts of complex numbers.",
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
    examples: &[("imag(tensor([1 + 2j, 3 - 1j]))", "tensor([ 2., -1.])")],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    if !input.dtype().is_complex() {
        return Err(Error::NotComplex { op: cx.op.name, dtype: input.dtype() });
    }
    Ok(smallvec![part(input, 1)?])
}
