//! `native_batch_norm`: the input less the mean of its channel (dimension 1), divided by its deviation; times weight, plus bias. Also means and (biased) variances.

use ndarray::{Array1, ArrayD};
use smallvec::smallvec;

use super::native_layer_norm::{mean_of, standard};
use super::{per_channel, total};
use crate::cpu::moments::{Affine, Kept, Standard};
use crate::functional::{div, expand, mul, num, sub, to};
use crate::meaning::{Array, Meaning, MeaningCx};
use crate::op::{
    Body, DTypeRule, Default, Grad, GradCx, InferCx, Kernel, KernelCx, Onnx, Param, ParamKind,
    Saves, Surface,
};
use crate::{Attr, DType, Meta, Metas, OpDef, Result, Shape, Tensor, apply, with_float};

pub static OP: OpDef = OpDef {
    name: "native_batch_norm",
    doc: "The input less the mean of its channel (dimension 1), divided by its deviation; times weight, plus bias. Also means and (biased) variances. A bias needs a weight.",
    meaning: Meaning::each(meaning),
    params: &[
        Param::tensor("input"),
        Param::with("weight", ParamKind::OptTensor, Default::None),
        Param::with("bias", ParamKind::OptTensor, Default::None),
        Param::with("eps", ParamKind::Float, Default::Float(1e-05)),
    ],
    dtypes: DTypeRule::FloatsLikeFirst,
    infer,
    body: Body::Kernels(&[Kernel::new("native_batch_norm.channels", run)
        .finishing()
        .with_prologue(prologue)
        .finishing_on_cuda(super::cuda_batch::forward)]),
    // The input, the weight, means and variances.
    grad: Grad::Rule(grad, Saves::Some { inputs: 0b11, outputs: 0b110 }),
    step: None,
    pure: true,
    method: false,
    internal: true,
    surface: Surface {
        shapes: "input [N, C, ...], weight and bias [C]: the shape of the input, [C] and [C]",
        ..Surface::PLAIN
    },
    onnx: Onnx::written("ReduceMean", super::onnx::batch_norm),
    aliases: &[],
    examples: &[
        (
            "native_batch_norm(tensor([[1.0], [3.0]]), tensor([2.0]), tensor([1.0]), eps=0.0)",
            "(tensor([[-1.],\n        [ 3.]]), tensor([2.]), tensor([1.]))",
        ),
        (
            "native_batch_norm(tensor([[[1.0, 3.0], [5.0, 5.0]]]), eps=0.0)[1:]",
            "(tensor([2., 5.]), tensor([1., 0.]))",
        ),
    ],
};

/// All dimensions but that of channels.
pub(super) fn others(rank: usize) -> Vec<usize> {
    (0..rank).filter(|it| *it != 1).collect()
}

/// As many elements as channels, so that they broadcast.
pub(super) fn across(it: &ArrayD<f64>, rank: usize) -> ArrayD<f64> {
    let shape: Vec<usize> = (0..rank).map(|dim| if dim == 1 { it.len() } else { 1 }).collect();
    it.to_shape(shape).map(|it| it.into_owned()).unwrap_or_else(|_| it.clone())
}

/// What broadcasts over channels, with an element for each.
pub(super) fn flat(it: ArrayD<f64>) -> Array {
    Array1::from_iter(it).into_dyn().into()
}

fn meaning(cx: &MeaningCx<'_>) -> Vec<Array> {
    let x = cx.input(0).floats();
    let dims = others(x.ndim());
    let [mut y, _] = standard(&x, &dims, cx.float(0));
    if let Some(weight) = cx.inputs.get(1) {
        y *= &across(&weight.floats(), x.ndim());
    }
    if let Some(bias) = cx.inputs.get(2) {
        y += &across(&bias.floats(), x.ndim());
    }
    let mean = mean_of(&x, &dims);
    let variance = mean_of(&(&x - &mean).mapv(|it| it * it), &dims);
    vec![y.into(), flat(mean), flat(variance)]
}

fn infer(cx: &InferCx<'_>) -> Result<Metas> {
    let channels = check_channels(cx, 0, 1)?;
    let stats = Meta::new(Shape::from([channels]), cx.dtype(0).computed());
    Ok(smallvec![cx.inputs[0].meta(), stats.clone(), stats])
}

/// The channels of operand `idx`; those from `parameter` on must have an element for each.
pub(super) fn check_channels(cx: &InferCx<'_>, idx: usize, parameter: usize) -> Result<usize> {
    let Some(&channels) = cx.shape(idx).get(1) else {
        return Err(cx.bad_shapes("channels are dimension 1, so there must be two dimensions"));
    };
    if cx.inputs.iter().skip(parameter).any(|it| it.shape()[..] != [channels]) {
        return Err(cx.bad_shapes(format!("what belongs to channels must have shape [{channels}]")));
    }
    Ok(channels)
}

/// How channels lie in an input.
pub(super) fn kept(shape: &Shape) -> Kept {
    Kept { before: shape[0], kept: shape[1], after: shape[2..].iter().product() }
}

/// A prologue has all that is averaged over at once.
fn prologue(cx: &InferCx<'_>) -> Option<DType> {
    let kept = (cx.shape(0).rank() > 1).then(|| kept(cx.shape(0)))?;
    kept.is_near().then(|| cx.dtype(0).computed())
}

fn run(cx: &mut KernelCx<'_, '_>) -> Result<()> {
    let (input, eps) = (cx.operand(), cx.float(0));
    let kept = kept(input.shape());
    with_float!(cx.op.name, input.dtype(), T => {
        let parameters = [1, 2].map(|it| cx.inputs.get(it).map(|it| it.to_slice::<T>()));
        let [weight, bias] = &parameters;
        if let [y, means, variances] = cx.outputs {
            let affine = Affine { weight: weight.as_deref(), bias: bias.as_deref(), eps };
            let [y, means, variances] = [y, means, variances].map(|it| it.as_mut_slice());
            let out = Standard { y, means, variances };
            kept.standardize::<T>(&input.pieces::<T>(), affine, out, cx.part);
        }
        Ok(())
    })
}

/// By `native_batch_norm_backward`; what comes by means and variances is made of other ops.
fn grad(cx: &mut GradCx<'_>) -> Result<Vec<Option<Tensor>>> {
    let mut res = vec![None; cx.n_inputs()];
    if let Some(dy) = cx.output_grad_of(0)? {
        let wanted = (1..cx.n_inputs()).any(|it| cx.needs(it));
        let inputs: Vec<Tensor> =
            [dy, cx.input(0).clone(), cx.output(1).clone(), cx.output(2).clone()]
                .into_iter()
                .chain((cx.n_inputs() > 1).then(|| cx.input(1).clone()))
                .collect();
        let attrs = smallvec![Attr::Float(cx.float(0)), Attr::Bool(wanted)];
        let found = apply(&super::native_batch_norm_backward::OP, &inputs, &attrs)?;
        res.iter_mut().zip(found).for_each(|(slot, it)| *slot = Some(it));
    }
    if cx.needs(0) {
        res[0] = total([res[0].take(), by_mean(cx)?, by_variance(cx)?])?;
    }
    Ok(res)
}

/// Elements of a channel.
fn count(x: &Tensor) -> Tensor {
    num(x.numel() as f64 / x.shape()[1].max(1) as f64)
}

/// `dmean / n`.
fn by_mean(cx: &GradCx<'_>) -> Result<Option<Tensor>> {
    let (Some(dmean), x) = (cx.output_grad_of(1)?, cx.input(0)) else { return Ok(None) };
    let term = per_channel(&div(&dmean, &count(x))?, x.rank())?;
    to(&expand(&term, x.shape())?, x.dtype()).map(Some)
}

/// `2 dvar (x - mean) / n`.
fn by_variance(cx: &GradCx<'_>) -> Result<Option<Tensor>> {
    let (Some(dvariance), x) = (cx.output_grad_of(2)?, cx.input(0)) else { return Ok(None) };
    let slope = div(&mul(&dvariance, &num(2.0))?, &count(x))?;
    let centred = sub(x, &per_channel(cx.output(1), x.rank())?)?;
    to(&mul(&centred, &per_channel(&slope, x.rank())?)?, x.dtype()).map(Some)
}
