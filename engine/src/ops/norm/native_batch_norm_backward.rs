//! `native_batch_norm_backward`: the gradient of `native_batch_norm`, whose means and variances are given; also those of weight and bias, where they are wanted.

use smallvec::smallvec;

use super::native_batch_norm::{across, check_channels, flat, kept, others};
use super::native_layer_norm::mean_of;
use super::{per_channel, total};
use crate::cpu::batch_norm::Backward;
use crate::functional::{add, div, mean, mul, neg, num, sqrt, sub, sum, to};
use crate::meaning::{Array, Meaning, MeaningCx, over};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{DType, Error, Meta, Metas, OpDef, Result, Shape, Tensor, functional, with_float};

pub static OP: OpDef = OpDef {
    name: "native_batch_norm_backward",
    doc: "The gradient of native_batch_norm, given that of its first result and its means and variances: of the input; also of weight and bias where `parameters` says so.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("grad"),
        Param::tensor("input"),
        Param::tensor("mean"),
        Param::tensor("variance"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
        Param::with("parameters", ParamKind::Bool, Default::Bool(false)),
    ],
    dtypes: DTypeRule::FloatFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("native_batch_norm_backward.channels", run)
        .on_cuda(super::cuda_batch::backward)]),
    grad: Grad::Rule(grad, Saves::Inputs),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "grad and input [N, C, ...], the others [C]: a gradient for input, weight and bias",
        ..Surface::PLAIN
    },
    onnx: Onnx::Absent,
    aliases: &[],
    examples: &[
        (
            "native_batch_norm_backward(tensor([[1.0], [0.0], [0.0]]), tensor([[0.0], [1.0], [2.0]]), tensor([1.0]), tensor([0.6667]), eps=0.0)",
            "tensor([[ 0.2041],\n        [-0.4082],\n        [ 0.2041]])",
        ),
        (
            "native_batch_norm_backward(tensor([[1.0], [3.0]]), tensor([[1.0], [3.0]]), tensor([2.0]), tensor([1.0]), tensor([2.0]), eps=0.0, parameters=True)[1:]",
            "(tensor([2.]), tensor([4.]))",
        ),
    ],
};

/// With `c = x - mean` and `r = 1 / sqrt(variance + eps)`: `weight * r * (dy - mean(dy) - c * r^2 * mean(dy * c))`, `r * sum(dy * c)` and `sum(dy)`.
fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let (dy, x) = (cx.input(0).floats(), cx.input(1).floats());
    let (rank, dims) = (x.ndim(), others(x.ndim()));
    let centred = &x - &across(&cx.input(2).floats(), rank);
    let scale = across(&cx.input(3).floats(), rank).mapv(|it| 1.0 / (it + cx.float(0)).sqrt());
    let along = mean_of(&(&dy * &centred), &dims);
    let mean = mean_of(&dy, &dims);
    let mut dx = (&dy - &mean - &centred * &(&along * &scale * &scale)) * &scale;
    if let Some(weight) = cx.inputs.get(4) {
        dx *= &across(&weight.floats(), rank);
    }
    if !cx.flag(1) {
        return vec![dx.into()];
    }
    let total = |it| over(it, &dims, true, |all: &[f64]| all.iter().sum::<f64>());
    vec![dx.into(), flat(total(&(&dy * &centred)) * scale), flat(total(&dy))]
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let (dtype, x) = (cx.dtype(0), cx.inputs[1].meta());
    let weight = cx.inputs.get(4).map_or(x.dtype, Tensor::dtype);
    let fits = x.dtype == dtype
        && cx.inputs[2..4].iter().all(|it| it.dtype() == dtype.computed())
        && (weight == dtype || weight == DType::F32 && dtype.is_half());
    if !fits {
        let dtypes = cx.inputs.iter().map(Tensor::dtype).collect();
        return Err(Error::DTypes { op: cx.op.name, dtypes });
    }
    let channels = check_channels(cx, 1, 2)?;
    if *cx.shape(0) != x.shape {
        return Err(cx.bad_shapes("the gradient has the shape of the input"));
    }
    let parameter = Meta::new(Shape::from([channels]), weight);
    Ok(match cx.flag(1) {
        true => smallvec![x, parameter.clone(), parameter],
        false => smallvec![x],
    })
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (eps, kept) = (cx.float(0), kept(cx.inputs[1].shape()));
    with_float!(cx.op.name, cx.inputs[0].dtype(), T => {
        let [dy, x, means, variances] = [0, 1, 2, 3].map(|it| cx.inputs[it].to_slice::<T>());
        let weight = cx.inputs.get(4).map(|it| it.to_slice::<T>());
        let weight = weight.as_deref();
        let all = Backward { dy: &dy, x: &x, means: &means, variances: &variances, weight, kept, eps };
        match cx.outputs {
            [dx, weight, bias] => {
                let parameters = [weight.as_mut_slice(), bias.as_mut_slice()];
                all.run(dx.as_mut_slice(), Some(parameters));
            }
            [dx, ..] => all.run(dx.as_mut_slice(), None),
            [] => {}
        }
        Ok(())
    })
}

/// What the gradient of the gradient is made of, in the dtype that is computed in: `c = x - mean`, `r` the reciprocal of the deviation, `a` and
/// `b` the means of `dy` and of `dy * c`. All but `dy` and `c` broadcast over channels.
struct Terms {
    dy: Tensor,
    c: Tensor,
    r: Tensor,
    weight: Tensor,
    a: Tensor,
    b: Tensor,
    dims: Vec<i64>,
}

impl Terms {
    fn of(cx: &GradCx<'_>) -> Result<Self> {
        let (dtype, rank) = (cx.input(1).dtype().computed(), cx.input(1).rank());
        let dims: Vec<i64> = others(rank).into_iter().map(|it| it as i64).collect();
        let (dy, x) = (to(cx.input(0), dtype)?, to(cx.input(1), dtype)?);
        let c = sub(&x, &per_channel(cx.input(2), rank)?)?;
        let variance = per_channel(cx.input(3), rank)?;
        let r = div(&num(1.0), &sqrt(&add(&variance, &num(cx.float(0)))?)?)?;
        let weight = match cx.n_inputs() > 4 {
            true => per_channel(&to(cx.input(4), dtype)?, rank)?,
            false => num(1.0),
        };
        let (a, b) = (mean(&dy, &dims, true)?, mean(&mul(&dy, &c)?, &dims, true)?);
        Ok(Self { dy, c, r, weight, a, b, dims })
    }

    fn mean(&self, it: &Tensor) -> Result<Tensor> {
        mean(it, &self.dims, true)
    }

    fn squared(&self) -> Result<Tensor> {
        mul(&self.r, &self.r)
    }

    /// `t - mean(t) - c * r^2 * mean(t * c)`, with these two means.
    fn projected(&self, t: &Tensor, [own, along]: [&Tensor; 2]) -> Result<Tensor> {
        sub(&sub(t, own)?, &mul(&self.c, &mul(&self.squared()?, along)?)?)
    }
}

/// Means over channels that the gradient h of `dx` gives: of h, of h * c and of h * dy.
struct Along {
    h: Tensor,
    mean: Tensor,
    c: Tensor,
    dy: Tensor,
}

impl Along {
    fn of(terms: &Terms, h: Tensor) -> Result<Self> {
        let c = terms.mean(&mul(&h, &terms.c)?)?;
        Ok(Self { mean: terms.mean(&h)?, c, dy: terms.mean(&mul(&h, &terms.dy)?)?, h })
    }

    /// `mean(h * (dy - a - c * r^2 * b * times))`.
    fn products(&self, terms: &Terms, times: f64) -> Result<Tensor> {
        let straight = sub(&self.dy, &mul(&self.mean, &terms.a)?)?;
        let along = mul(&mul(&terms.squared()?, &terms.b)?, &self.c)?;
        sub(&straight, &mul(&along, &num(times))?)
    }
}

/// For gradients h of dx, u of dweight and v of dbias, with n elements of a channel and `P(t) = t - mean(t) - c * r^2 * mean(t * c)`:
/// `ddy = weight * r * P(h) + u * r * c + v`,
/// `dx = u * r * dy - weight * r^3 * (b * h + mean(h * c) * dy)`, `dmean = -sum(dx)`,
/// `dr = n * (weight * mean(h * (dy - a - 3 c r^2 b)) + u * b)`, `dvariance = -dr * r^3 / 2`,
/// `dweight = n * r * mean(h * (dy - a - c r^2 b))`.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let terms = Terms::of(cx)?;
    let (dtype, rank) = (terms.dy.dtype(), terms.dy.rank());
    let given = |at: usize| cx.output_grad_of(at)?.map(|it| to(&it, dtype)).transpose();
    let spread = |it: Option<Tensor>| it.map(|it| per_channel(&it, rank)).transpose();
    let h = given(0)?.map(|h| Along::of(&terms, h)).transpose()?;
    let (u, v) = (spread(given(1)?)?, spread(given(2)?)?);
    let n = num(terms.dy.numel() as f64 / terms.a.numel().max(1) as f64);
    let mut res = vec![None; cx.n_inputs()];
    if cx.needs(0) {
        let straight = h.as_ref().map(|it| {
            let scale = mul(&terms.weight, &terms.r)?;
            mul(&terms.projected(&it.h, [&it.mean, &it.c])?, &scale)
        });
        let along = u.as_ref().map(|u| mul(&mul(u, &terms.r)?, &terms.c)).transpose()?;
        res[0] = total([straight.transpose()?, along, v])?;
    }
    if cx.needs(1) || cx.needs(2) {
        let slope = grad_of_input(&terms, h.as_ref(), u.as_ref())?;
        res[2] = slope.as_ref().map(|it| neg(&sum(it, &terms.dims, false)?)).transpose()?;
        res[1] = slope;
    }
    if cx.needs(3) {
        let by_scale = h.as_ref().map(|it| mul(&terms.weight, &it.products(&terms, 3.0)?));
        let by_weight = u.as_ref().map(|u| mul(u, &terms.b)).transpose()?;
        let cube = mul(&mul(&terms.squared()?, &terms.r)?, &mul(&n, &num(-0.5))?)?;
        let slope = total([by_scale.transpose()?, by_weight])?.map(|it| mul(&it, &cube));
        res[3] = slope.transpose()?;
    }
    if cx.n_inputs() > 4 && cx.needs(4) {
        let slope = h.as_ref().map(|it| mul(&it.products(&terms, 1.0)?, &mul(&terms.r, &n)?));
        res[4] = slope.transpose()?;
    }
    let shaped = |(at, it): (usize, Option<Tensor>)| {
        let wanted = cx.input(at);
        let one = |it: Tensor| match at {
            0 | 1 => functional::expand(&it, wanted.shape()),
            _ => functional::reshape(&it, wanted.shape()),
        };
        it.map(|it| to(&one(it)?, wanted.dtype())).transpose()
    };
    res.into_iter().enumerate().map(shaped).collect()
}

fn grad_of_input(terms: &Terms, h: Option<&Along>, u: Option<&Tensor>) -> Result<Option<Tensor>> {
    let by_weight = u.map(|u| mul(&mul(u, &terms.r)?, &terms.dy)).transpose()?;
    let turned = h.map(|it| {
        let mixed = add(&mul(&terms.b, &it.h)?, &mul(&it.c, &terms.dy)?)?;
        let cube = mul(&mul(&terms.squared()?, &terms.r)?, &terms.weight)?;
        neg(&mul(&mixed, &cube)?)
    });
    total([by_weight, turned.transpose()?])
}
