//! `fft_whole`: real numbers from the first half of their transform.

use std::sync::Arc;

use smallvec::smallvec;

use super::products::{Waves, ends_and_middle, mirrored, transformed};
use super::{Planned, check_dtype, dims_of, fft_half, lines, with_size, without_pairs};
use crate::cpu::fourier::{Transform, Wave};
use crate::dtype::Arithmetic;
use crate::functional::{mul, num};
use crate::meaning::{Array, Meaning, MeaningCx, by_index};
use crate::op::{
    Body, Case, ComposedCx, DTypeRule, Grad, GradCx, InferCx, Kernel, Onnx, Param, ParamKind,
    Ready, Saves, Surface,
};
use crate::shape::resolve_dim;
use crate::{Attr, Meta, Metas, OpDef, Outputs, Result, Tensor, apply_one};

/// The row of `fft_whole`.
pub static OP: OpDef = OpDef {
    name: "fft_whole",
    doc: "The `n` real numbers along a dimension whose backward Fourier transform has this first half of `n // 2 + 1` complex numbers, pairs of floats in the last dimension; times `scale`. Imaginary parts that such a transform does not have (of the first, and of the last where n is even) are not read.",
    meaning: Meaning::of(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Int),
        Param::required("n", ParamKind::Int),
        Param::required("scale", ParamKind::Float),
    ],
    dtypes: DTypeRule::Any,
    infer,
    body: Body::Kernels(&[
        Kernel::prepared("fft_whole.planned", prepare).composed_on_cuda(composed)
    ]),
    grad: Grad::Rule(grad, Saves::Shapes),
    step: Some(|_| "FftC2RBackward0"),
    pure: true,
    method: false,
    internal: true,
    surface: Surface { shapes: "[..., n // 2 + 1, ..., 2]: [..., n, ...]", ..Surface::PLAIN },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[(
        "fft_whole(tensor([[7.0, 0.0], [-2.0, 1.7321]]), 0, 3, 0.5)",
        "tensor([1.5000, 3.0000, 6.0000])",
    )],
};

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    check_dtype(cx)?;
    let (sizes, n) = (without_pairs(cx)?, cx.int(1));
    let dim = dims_of(cx, sizes, &[cx.int(0)])?[0];
    if n < 1 || n as usize / 2 + 1 != sizes[dim] {
        return Err(cx.bad_shapes("the half of n numbers has n // 2 + 1"));
    }
    Ok(smallvec![Meta::new(with_size(sizes, dim, n as usize), cx.dtype(0))])
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
    let dim = dims_of(cx, sizes, &[cx.int(0)]).ok()?[0];
    let n = usize::try_from(cx.int(1)).ok().filter(|it| *it > 0)?;
    Some(Planned { steps: vec![(lines(sizes, dim), Transform::from_half(n))], scale: cx.float(2) })
}

fn meaning(cx: &MeaningCx<'_>) -> Array {
    let x = cx.input(0).floats();
    let (dim, n) = (resolve_dim(OP.name, cx.int(0), x.ndim() - 1).unwrap_or(0), cx.int(1) as usize);
    let mut shape = x.shape()[..x.ndim() - 1].to_vec();
    shape[dim] = n;
    by_index(&shape, |at| {
        let mut place = [at, &[0]].concat();
        let mut part = |k: usize, which: usize| {
            (place[dim], *place.last_mut().unwrap_or(&mut 0)) = (k, which);
            x[&place[..]]
        };
        let term = |k: usize| {
            let angle = std::f64::consts::TAU * (k * at[dim] % n) as f64 / n as f64;
            let is_end = k == 0 || 2 * k == n;
            let (re, im) = (part(k, 0), if is_end { 0.0 } else { part(k, 1) });
            let times = if is_end { 1.0 } else { 2.0 };
            times * (re * angle.cos() - im * angle.sin())
        };
        (0..=n / 2).map(term).sum::<f64>() * cx.float(2)
    })
    .into()
}

fn composed(cx: &ComposedCx<'_>) -> Result<Outputs> {
    let x = cx.input(0)?;
    let dim = resolve_dim(cx.op.name, cx.int(0), x.rank() - 1)?;
    let waves = mirrored(&Waves::of_pairs(x)?, dim, cx.int(1) as usize)?;
    let real = transformed(&waves, dim, true)?.re;
    Ok(smallvec![mul(&real, &num(cx.float(2)))?])
}

/// Each number of the middle of the half stands for two.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let dim = resolve_dim(OP.name, cx.int(0), cx.input(0).rank() - 1)?;
    let attrs = smallvec![Attr::Int(dim as i64), Attr::Float(cx.float(2))];
    let half = apply_one(&fft_half::OP, &[cx.output_grad()?], &attrs)?;
    Ok(vec![Some(ends_and_middle(&half, dim, cx.int(1) as usize, 2.0)?)])
}
