//! `angle`: the arguments of complex numbers.

use std::f64::consts::PI;

use smallvec::smallvec;

use crate::apply::default_dtype;
use crate::functional::{atan2, full, lt, ne, num, part, select_where, to};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, Surface, shapes};
use crate::{OpDef, Outputs, Result, rules};

/// The row of `angle`.
pub static OP: OpDef = OpDef {
    name: "angle",
    doc: "The angle of each number in the plane, in radians; real numbers have 0 or pi.",
    meaning: Meaning::Composed,
    params: &[Param::tensor("input")],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "AngleBackward0"),
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        ("angle(tensor([1 + 1j, -1 + 0j]))", "tensor([0.7854, 3.1416])"),
        ("angle(tensor([1.0, -2.0]))", "tensor([0.0000, 3.1416])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    if input.dtype().is_complex() {
        return Ok(smallvec![atan2(&part(input, 1)?, &part(input, 0)?)?]);
    }
    let x = if input.dtype().is_float() { input.clone() } else { to(input, default_dtype::get())? };
    let constant = |value: f64| full(x.shape(), value, x.dtype());
    let turned = select_where(&lt(&x, &num(0.0))?, &constant(PI)?, &constant(0.0)?)?;
    Ok(smallvec![select_where(&ne(&x, &x)?, &x, &turned)?])
}
