//! `nan_to_num`: NaN and the infinities replaced by numbers.

use smallvec::smallvec;

use crate::functional::{eq, num, select_where};
use crate::meaning::Meaning;
use crate::op::{
    Body, ComposedCx, DTypeRule, Default, Grad, Onnx, Param, ParamKind, Surface, shapes,
};
use crate::ops::complex::{complex, imag, real};
use crate::{Attr, OpDef, Outputs, Result, Tensor, apply_one, rules};

pub static OP: OpDef = OpDef {
    name: "nan_to_num",
    doc: "NaN and the infinities replaced by numbers: the largest and smallest of the dtype where none is given.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::with("nan", ParamKind::Float, Default::Float(0.0)),
        Param::with("posinf", ParamKind::OptFloat, Default::None),
        Param::with("neginf", ParamKind::OptFloat, Default::None),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: None,
    pure: true,
    method: true,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &["oneflow.nan_to_num"],
    examples: &[
        ("nan_to_num(tensor([1.0, nan, inf]), posinf=9.0)", "tensor([1., 0., 9.])"),
        ("nan_to_num(tensor([nan, -inf]), nan=2.0, neginf=-1.0)", "tensor([ 2., -1.])"),
        ("nan_to_num(tensor([inf]))", "tensor([3.4028e+38])"),
    ],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let input = cx.input(0)?;
    if input.dtype().is_complex() {
        return parts(cx, input);
    }
    if !input.dtype().is_float() {
        return Ok(smallvec![input.clone()]);
    }
    let largest = input.dtype().largest();
    let or = |idx: usize, other: f64| match cx.attrs[idx] {
        Attr::None => num(other),
        _ => num(cx.float(idx)),
    };
    let replaced = |x: &Tensor, from: f64, to: Tensor| select_where(&eq(x, &num(from))?, &to, x);
    let is_nan = apply_one(&super::isnan::OP, std::slice::from_ref(input), &smallvec![])?;
    let res = select_where(&is_nan, &num(cx.float(0)), input)?;
    let res = replaced(&res, f64::INFINITY, or(1, largest))?;
    Ok(smallvec![replaced(&res, f64::NEG_INFINITY, or(2, -largest))?])
}

/// Of complex numbers each part by itself.
fn parts(cx: &ComposedCx<'_>, input: &Tensor) -> Result<Outputs> {
    let none = smallvec![];
    let of = |op| {
        let part = apply_one(op, std::slice::from_ref(input), &none)?;
        apply_one(&OP, &[part], cx.attrs)
    };
    let (re, im) = (of(&real::OP)?, of(&imag::OP)?);
    Ok(smallvec![apply_one(&complex::OP, &[re, im], &none)?])
}
