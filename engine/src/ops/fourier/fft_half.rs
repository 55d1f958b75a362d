//! `fft_half`: the transform of real numbers, whose second half mirrors the first.

use std::sync::Arc;

use smallvec::smallvec;

use super::products::{Waves, ends_and_middle, transformed};
use super::{Planned, check_dtype, dims_of, fft_pairs, fft_whole, lines, with_size};
use crate::cpu::fourier::{Transform, Wave};
use crate::dtype::Arithmetic;
use crate::functional::{mul, num, slice};
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, Case, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, Onnx, Param, ParamKind,
    Ready, Saves, Surface,
};
use crate::shape::resolve_dim;
use crate::{Attr, Meta, Metas, OpDef, Outputs, Result, Tensor, apply_one};

/// The row of `fft_half`.
pub static OP: OpDef = OpDef {
    name: "fft_half",
    doc: "The first `n // 2 + 1` numbers of the discrete Fourier transform of real numbers along a dimension of size n, as pairs of floats in a new last dimension; times `scale`.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::required("scale", ParamKind::Float),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(
        &[Kernel::prepared("fft_half.planned", prepare).composed_on_cuda(composed)],
    ),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "FftR2CBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "[..., n, ...]: [..., n // 2 + 1, ..., 2]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "fft_half(tensor([1.0, 2.0, 4.0]), 0, 1.0)",
        "tensor([[ 7.0000,  0.0000],\n        [-2.0000,  1.7321]])",
    )],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_dtype(cx)?;
    let sizes = &cx.shape(0)[..];
    let dim = dims_of(cx, sizes, &[cx.int(0)])?[0];
    let half = with_size(sizes, dim, sizes[dim] / 2 + 1);
    Ok(smallvec![Meta::new(half.iter().copied().chain([2]).collect(), cx.dtype(0))])
}

fn prepare(case: &Case<'_>) -> Option<Arc<dyn Ready>> {
    Some(match case.inputs[0].dtype().arithmetic() {
        Arithmetic::F32 => Arc::new(planned::<f32>(&case.seen())?),
        Arithmetic::F64 => Arc::new(planned::<f64>(&case.seen())?),
        Arithmetic::U8 | Arithmetic::I32 | Arithmetic::I64 => return None,
    })
}

fn planned<T: Wave>(cx: &InferCx<'_>) -> Option<Planned<T>> {
    let sizes = &cx.shape(0)[..];
    let dim = dims_of(cx, sizes, &[cx.int(0)]).ok()?[0];
    let steps = vec![(lines(sizes, dim), Transform::to_half(sizes[dim]))];
    Some(Planned { steps, scale: cx.float(1) })
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0).floats();
    let dim = resolve_dim(OP.name, cx.int(0), x.ndim()).unwrap_or(0);
    let zero = x.mapv(|_| 0.0);
    let mut shape = x.shape().to_vec();
    shape[dim] = shape[dim] / 2 + 1;
    shape.push(2);
    let parts = fft_pairs::summed(&[x, zero], dim, false);
    by_index(&shape, |at| {
        let (place, which) = at.split_at(at.len() - 1);
        parts[which[0]][place] * cx.float(1)
    })
    .into()
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    let dim = resolve_dim(cx.op.name, cx.int(0), x.rank())?;
    let waves = Waves { re: x.clone(), im: mul(x, &num(0.0))? };
    let all = transformed(&waves, dim, false)?.pairs(cx.float(1))?;
    Ok(smallvec![slice(&all, dim as i64, 0, (x.shape()[dim] / 2 + 1) as i64, 1)?])
}

/// Each number of the middle of the half stands for two in [`fft_whole`], whose part of the gradient it is here only once.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let sizes = &cx.input(0).shape()[..];
    let dim = resolve_dim(OP.name, cx.int(0), sizes.len())?;
    let n = sizes[dim];
    let dy = ends_and_middle(&cx.output_grad()?, dim, n, 0.5)?;
    let attrs = smallvec![Attr::Int(dim as i64), Attr::Int(n as i64), Attr::Float(cx.float(1))];
    Ok(vec![Some(apply_one(&fft_whole::OP, &[dy], &attrs)?)])
}
