//! `_fft_c2c`: the discrete Fourier transform of complex numbers.

use smallvec::smallvec;

use super::fft_pairs;
use crate::functional::{view_as_complex, view_as_real};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Surface, shapes};
use crate::{Attr, Error, OpDef, Outputs, Result, Tensor, apply_one, rules};

/// The row of `_fft_c2c`.
pub static OP: OpDef = OpDef {
    name: "_fft_c2c",
    doc: "The discrete Fourier transform along some dimensions of size n: with `exp(-2 pi i j k / n)` where `forward`, else with `+`. `normalization` 0 leaves it so, 1 divides by the root of the number of elements that are transformed together, 2 by that number.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Ints),
        Param::required("normalization", ParamKind::Int),
        Param::required("forward", ParamKind::Bool),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "FftC2CBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[("_fft_c2c(tensor([1 + 0j, 2 + 1j]), 0, 0, True)", "tensor([ 3.+1.j, -1.-1.j])")],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = complex(cx)?;
    let dims = super::resolved(cx, 0)?;
    let n = dims.iter().map(|it| x.shape()[*it]).product();
    let dims: Vec<i64> = dims.iter().map(|it| *it as i64).collect();
    let scale = super::scale(cx, 1, n)?;
    let attrs = smallvec![Attr::ints(&dims), Attr::Bool(!cx.flag(2)), Attr::Float(scale)];
    let pairs = apply_one(&fft_pairs::OP, &[view_as_real(x)?], &attrs)?;
    Ok(smallvec![view_as_complex(&pairs)?])
}

/// The input, which is complex.
pub(super) fn complex<'a>(cx: &'a ComposedCx<'_>) -> Result<&'a Tensor> {
    let x = cx.input(0)?;
    if !x.dtype().is_complex() {
        let (op, dtype) = (cx.op.name, x.dtype());
        return Err(Error::DType { op, dtype, allowed: "complex64 or complex128" });
    }
    Ok(x)
}
