//! `_fft_c2r`: real numbers from the first half of their discrete Fourier transform.

use smallvec::smallvec;

use super::{_fft_c2c, fft_pairs, fft_whole};
use crate::functional::view_as_real;
use crate::meaning::Meaning;
use crate::op::{Body, ComposedCx, DTypeRule, Grad, Onnx, Param, ParamKind, Surface};
use crate::{Attr, OpDef, Outputs, Result, apply_one, rules};

/// The row of `_fft_c2r`.
pub static OP: OpDef = OpDef {
    name: "_fft_c2r",
    doc: "The backward discrete Fourier transform along some dimensions to real numbers, of which there are `last_dim_size` along the last of them; the input has `last_dim_size // 2 + 1` there. `normalization` is as in `_fft_c2c`.",
    meaning: Meaning::Composed,
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Ints),
        Param::required("normalization", ParamKind::Int),
        Param::required("last_dim_size", ParamKind::Int),
    ],
    dtypes: DTypeRule::Any,
    infer: rules::composed,
    body: Body::Composed(body),
    grad: Grad::Derived,
    step: Some(|_| "FftC2RBackward0"),
    pure: true,
    method: false,
    internal: false,
    surface: Surface {
        shapes: "the shape of the input, with last_dim_size at the last of the dimensions",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "_fft_c2r(tensor([7 + 0j, -3 - 2j, 3 + 0j]), 0, 2, 4)",
        "tensor([1., 2., 4., 0.])",
    )],
};

fn body(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = _fft_c2c::complex(cx)?;
    let (dims, size) = (super::resolved(cx, 0)?, cx.int(2));
    let Some((last, others)) = dims.split_last() else {
        return Ok(smallvec![crate::functional::part(x, 0)?]);
    };
    let n = others.iter().map(|it| x.shape()[*it]).product::<usize>() * size.max(0) as usize;
    let scale = Attr::Float(super::scale(cx, 1, n)?);
    let mut pairs = view_as_real(x)?;
    if !others.is_empty() {
        let others: Vec<i64> = others.iter().map(|it| *it as i64).collect();
        let attrs = smallvec![Attr::ints(&others), Attr::Bool(true), Attr::Float(1.0)];
        pairs = apply_one(&fft_pairs::OP, &[pairs], &attrs)?;
    }
    let attrs = smallvec![Attr::Int(*last as i64), Attr::Int(size), scale];
    Ok(smallvec![apply_one(&fft_whole::OP, &[pairs], &attrs)?])
}
