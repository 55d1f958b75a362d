//! `_fft_r2c`: the discrete Fourier transform of real numbers.

use smallvec::smallvec;

use super::{fft_half, fft_pairs};
use crate::functional::{mul, num, view_as_complex};
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, OpDef, Outputs, Result, apply_one, rules};

/// The row of `_fft_r2c`.
pub static OP: OpDef = OpDef {
    name: "_fft_r2c",
    doc: "The discrete Fourier transform of real numbers along some dimensions, of the last of which it has the first half, `n // 2 + 1` numbers, where `onesided`. `normalization` is as in `_fft_c2c`.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Ints),
        Param::required("normalization", ParamKind::Int),
        Param::required("onesided", ParamKind::Bool),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "FftR2CBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input, with n // 2 + 1 at the last of the dimensions where onesided",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "_fft_r2c(tensor([1.0, 2.0, 4.0, 0.0]), 0, 0, True)",
        "tensor([ 7.+0.j, -3.-2.j,  3.+0.j])",
    )],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    let dims = super::resolved(cx, 0)?;
    let n = dims.iter().map(|it| x.shape()[*it]).product();
    let scale = Attr::Float(super::scale(cx, 1, n)?);
    let Some((last, others)) = dims.split_last() else {
        return Ok(smallvec![crate::functional::complex(x, &mul(x, &num(0.0))?)?]);
    };
    let mut others: Vec<i64> = others.iter().map(|it| *it as i64).collect();
    let mut pairs = if cx.flag(2) {
        apply_one(
            &fft_half::OP,
            std::slice::from_ref(x),
            &smallvec![Attr::Int(*last as i64), scale],
        )?
    } else {
        others.push(*last as i64);
        super::products::Waves { re: x.clone(), im: mul(x, &num(0.0))? }.pairs(1.0)?
    };
    if !others.is_empty() {
        let rest = if cx.flag(2) { Attr::Float(1.0) } else { Attr::Float(super::scale(cx, 1, n)?) };
        let attrs = smallvec![Attr::ints(&others), Attr::Bool(false), rest];
        pairs = apply_one(&fft_pairs::OP, &[pairs], &attrs)?;
    }
    Ok(smallvec![view_as_complex(&pairs)?])
}
