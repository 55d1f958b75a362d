//! `fft_pairs`: the transform of complex numbers, along some dimensions.

use std::sync::Arc;

use ndarray::{ArrayD, Axis};
use smallvec::smallvec;

use super::products::{Waves, transformed};
use super::{Planned, check_dtype, dims_of, lines, without_pairs};
use crate::cpu::fourier::{Transform, Wave};
use crate::dtype::Arithmetic;
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, Case, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, Onnx, Param, ParamKind,
    Ready, Saves, Surface,
};
use crate::shape::resolve_dim;
use crate::{Attr, Meta, Metas, OpDef, Outputs, Result, Tensor, apply_one};

/// The row of `fft_pairs`.
pub static OP: OpDef = OpDef {
    name: "fft_pairs",
    doc: "The discrete Fourier transform of complex numbers, pairs of floats in the last dimension, along some of the others: with `exp(-2 pi i j k / n)`, or `+` where `backward`; times `scale`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dims", ParamKind::Ints),
        Param::required("backward", ParamKind::Bool),
        Param::required("scale", ParamKind::Float),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[
        Kernel::prepared("fft_pairs.planned", prepare).composed_on_cuda(composed)
    ]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "FftC2CBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "[..., 2]: the same", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "fft_pairs(tensor([[1.0, 0.0], [2.0, 1.0]]), 0, False, 1.0)",
        "tensor([[ 3.,  1.],\n        [-1., -1.]])",
    )],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_dtype(cx)?;
    dims_of(cx, without_pairs(cx)?, &cx.ints(0).unwrap_or_default())?;
    Ok(smallvec![Meta::new(cx.shape(0).clone(), cx.dtype(0))])
}

fn prepare(case: &Case<'_>) -> Option<Arc<dyn Ready>> {
    Some(match case.inputs[0].dtype().arithmetic() {
        Arithmetic::F32 => Arc::new(planned::<f32>(&case.seen())?),
        Arithmetic::F64 => Arc::new(planned::<f64>(&case.seen())?),
        Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => return None,
    })
}

fn planned<T: Wave>(cx: &InferCx<'_>) -> Option<Planned<T>> {
    let sizes = without_pairs(cx).ok()?;
    let dims = dims_of(cx, sizes, &cx.ints(0)?).ok()?;
    let step = |dim: usize| (lines(sizes, dim), Transform::complex(sizes[dim], cx.flag(1)));
    Some(Planned { steps: dims.into_iter().map(step).collect(), scale: cx.float(2) })
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0).floats();
    let last = Axis(x.ndim() - 1);
    let mut parts = [0, 1].map(|which| x.index_axis(last, which).to_owned());
    for dim in cx.ints(0).unwrap_or_default() {
        let dim = resolve_dim(OP.name, dim, x.ndim() - 1).unwrap_or(0);
        parts = summed(&parts, dim, cx.flag(1));
    }
    let scale = cx.float(2);
    ndarray::stack(last, &[parts[0].view(), parts[1].view()])
        .map_or_else(|_| x.clone(), |it| it * scale)
        .into()
}

/// The sum of the definition along a dimension, of real and imaginary parts. Where a sine or cosine is 0 there is no term, so that a NaN does
/// not come by it: in PyTorch the transform of `[nan, 1, 2, 3]` begins with `nan+0j, nan+2j`.
pub(super) fn summed(parts: &[ArrayD<f64>; 2], dim: usize, backward: bool) -> [ArrayD<f64>; 2] {
    let n = parts[0].shape()[dim];
    let sign = if backward { 1.0 } else { -1.0 };
    let sum = |which: usize| {
        by_index(parts[0].shape(), |at| {
            let mut place = at.to_vec();
            let term = |j: usize| {
                place[dim] = j;
                let turn = j * at[dim] % n;
                let angle = sign * std::f64::consts::TAU * turn as f64 / n as f64;
                let (re, im) = (parts[0][&place[..]], parts[1][&place[..]]);
                // A quarter of a turn, or half of one.
                let (is_upright, is_level) =
                    ((4 * turn).is_multiple_of(n), (2 * turn).is_multiple_of(n));
                let by_cos = |x: f64| if is_upright && !is_level { 0.0 } else { x * angle.cos() };
                let by_sin = |x: f64| if is_level { 0.0 } else { x * angle.sin() };
                match which {
                    0 => by_cos(re) - by_sin(im),
                    _ => by_sin(re) + by_cos(im),
                }
            };
            (0..n).map(term).sum::<f64>()
        })
    };
    [sum(0), sum(1)]
}

/// The same by products with matrices.
fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    let mut waves = Waves::of_pairs(x)?;
    for dim in cx.ints(0).unwrap_or_default() {
        let dim = resolve_dim(cx.op.name, dim, x.rank() - 1)?;
        waves = transformed(&waves, dim, cx.flag(1))?;
    }
    Ok(smallvec![waves.pairs(cx.float(2))?])
}

/// The transform the other way: the adjoint of a transform is that with conjugated factors.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dims = cx.ints(0).unwrap_or_default();
    let attrs = smallvec![Attr::ints(&dims), Attr::Bool(!cx.flag(1)), Attr::Float(cx.float(2))];
    Ok(vec![Some(apply_one(&OP, &[cx.output_grad()?], &attrs)?)])
}
