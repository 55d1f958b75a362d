//! `standardize`: the input less its mean, divided by its standard deviation, over dimensions that all lie before or after the others; also that mean and the (biased) variance, with size 1 in those dimensions.

use ndarray::ArrayD;
use smallvec::smallvec;

use super::standardize_backward::{OP as BACKWARD, are_last, by_ops};
use crate::cpu::moments::{Affine, Kept, Standard};
use crate::functional::{add, div, expand, mul, num, sqrt};
use crate::meaning::{Array, Meaning, MeaningCx, Scalar, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface, shapes,
};
use crate::ops::reduce::{dims_attr, kept_shape, n_reduced};
use crate::{DType, Meta, Metas, OpDef, Result, Shape, Tensor, apply_one, with_float};

pub static OP: OpDef = OpDef {
    name: "standardize",
    doc: "The input less its mean, divided by its standard deviation, over dimensions that all lie before or after the others; also that mean and the (biased) variance, with size 1 in those dimensions.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::required("dim", ParamKind::Ints),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsToSame,
    infer,
    body: Body::Kernels(&[Kernel::new("standardize.blocks", run)
        .finishing()
        .with_prologue(prologue)
        .on_cuda(super::cuda::standardize)]),
    grad: Grad::Rule(grad, Saves::Outputs),
    step: None,
    pure: true,
    method: false,
    internal: false,
    surface: Surface { shapes: shapes::SAME, ..Surface::PLAIN },
    onnx: Onnx::written("ReduceMean", super::onnx::standardize),
    aliases: &[],
    examples: &[
        (
            "standardize(tensor([1.0, 3.0]), (0,), 0.0)",
            "(tensor([-1.,  1.]), tensor([2.]), tensor([1.]))",
        ),
        (
            "standardize(tensor([[1.0, 3.0], [0.0, 8.0]]), (1,), 0.0)[1]",
            "tensor([[2.],\n        [4.]])",
        ),
    ],
};

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let (x, eps) = (cx.input(0).floats(), cx.float(1));
    let dims = cx.dims(0, x.ndim());
    let mean_of = |x: &ArrayD<f64>| over(x, &dims, true, |all| f64::total(all) / all.len() as f64);
    let mean = mean_of(&x);
    let centred = &x - &mean;
    let variance = mean_of(&centred.mapv(|it| it * it));
    let y = &centred / &variance.mapv(|it| (it + eps).sqrt());
    [y, mean, variance].map(Array::from).into()
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank())?;
    split(cx.shape(0), &dims)
        .ok_or_else(|| cx.bad_shapes("the dimensions must lie before and after the others"))?;
    let stats = Meta::new(kept_shape(cx.shape(0), &dims), cx.dtype(0));
    Ok(smallvec![cx.inputs[0].meta(), stats.clone(), stats])
}

/// Sizes (before, kept, after): the kept dimensions are neighbours.
fn split(shape: &Shape, dims: &[usize]) -> Option<[usize; 3]> {
    let before = (0..shape.rank()).take_while(|it| dims.contains(it)).count();
    let kept = (before..shape.rank()).take_while(|it| !dims.contains(it)).count();
    let after = before + kept;
    let clean = (after..shape.rank()).all(|it| dims.contains(&it));
    let numel = |it: &[usize]| it.iter().product();
    clean.then(|| [numel(&shape[..before]), numel(&shape[before..after]), numel(&shape[after..])])
}

/// A prologue has all that is averaged over at once.
fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    let dims = dims_attr(cx.op.name, cx.attrs, 0, cx.shape(0).rank()).ok()?;
    let [before, kept, after] = split(cx.shape(0), &dims)?;
    Kept { before, kept, after }.is_near().then(|| cx.dtype(0).computed())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let input = cx.operand();
    let dims = dims_attr(cx.op.name, cx.attrs, 0, input.shape().rank())?;
    let (eps, sizes) = (cx.float(1), split(input.shape(), &dims).unwrap_or([0; 3]));
    with_float!(cx.op.name, input.dtype(), T => {
        let x = input.pieces::<T>();
        if let [y, means, variances] = cx.outputs {
            let affine = Affine { weight: None, bias: None, eps };
            let [y, means, variances] = [y, means, variances].map(|it| it.as_mut_slice());
            let [before, kept, after] = sizes;
            let kept = Kept { before, kept, after };
            kept.standardize::<T>(&x, affine, Standard { y, means, variances }, cx.part);
        }
        Ok(())
    })
}

/// `dx = standardize_backward(dy) + dmean / n + 2 dvar * (y / r) / n` with `r = 1 / sqrt(var + eps)`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let (y, variance) = (cx.output(0), cx.output(2));
    let dims = dims_attr(cx.op.name, cx.attrs, 0, y.rank())?;
    let n = n_reduced(y.shape(), &dims) as f64;
    let by_result = |dy: Tensor| match are_last(&dims, y.rank()) {
        true => apply_one(&BACKWARD, &[dy, y.clone(), variance.clone()], cx.attrs),
        false => by_ops(&dy, y, variance, cx.attrs),
    };
    let by_mean = |dmean: Tensor| expand(&div(&dmean, &num(n))?, y.shape());
    let by_variance = |dvariance: Tensor| {
        let deviation = sqrt(&add(variance, &num(cx.float(1)))?)?;
        mul(y, &mul(&mul(&dvariance, &deviation)?, &num(2.0 / n))?)
    };
    let terms = [
        cx.output_grad_of(0)?.map(by_result).transpose()?,
        cx.output_grad_of(1)?.map(by_mean).transpose()?,
        cx.output_grad_of(2)?.map(by_variance).transpose()?,
    ];
    Ok(vec![super::total(terms)?])
}
