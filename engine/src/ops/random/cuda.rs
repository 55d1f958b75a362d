//! Random numbers on a GPU. Uniform, normal and whole numbers are PyTorch's for a seed, on the same kind of device; what is dropped, and
//! permutations and draws from weights, are not.

use std::borrow::Cow;

use crate::cuda::driver::Grid;
use crate::cuda::parameters::Parameters;
use crate::cuda::source::{computed, type_of};
use crate::functional;
use crate::op::CudaCx;
use crate::tensor::on_gpu::copy;
use crate::{DType, Error, Layout, Result, Shape, Tensor};

const RANDOM: &str = include_str!("random.cu");

/// Threads of a block, as PyTorch has them: the numbers depend on it.
const THREADS: usize = 256;

/// A launch for `n` elements, of which a thread draws so many at once: what it begins with, and its grid.
fn begun(cx: &CudaCx<'_>, n: usize, at_once: usize) -> (Parameters, Grid) {
    let properties = cx.gpu.properties();
    let most = properties.multiprocessors as usize
        * (properties.threads_per_multiprocessor as usize / THREADS);
    let blocks = n.div_ceil(THREADS).clamp(1, most.max(1));
    let rounds = n.saturating_sub(1) / (THREADS * blocks * at_once) + 1;
    let start = cx.gpu.draw(rounds as u64 * 4);
    (Parameters::default().long(n).start(&start), Grid::blocks(blocks, THREADS as u32))
}

fn draw(
    cx: &CudaCx<'_>,
    name: &'static str,
    (dtype, compute, wide): (DType, &'static str, bool),
    n: usize,
    rest: impl FnOnce(Parameters) -> Result<Parameters>,
) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let at_once = if compute == "double" { 2 } else { 4 };
    let (parameters, grid) = begun(cx, n, at_once);
    let defines = [
        ("T", Cow::Borrowed(type_of(dtype))),
        ("C", compute.into()),
        ("WIDE", if wide { "1" } else { "0" }.into()),
    ];
    cx.run(name, RANDOM, &defines, grid, &rest(parameters)?)
}

fn floats(
    cx: &CudaCx<'_>,
    name: &'static str,
    rest: impl FnOnce(Parameters) -> Result<Parameters>,
) -> Result<()> {
    let out = &cx.outputs[0];
    draw(cx, name, (out.dtype(), computed(out.dtype()), false), out.numel(), rest)
}

/// Result 0 filled with uniform numbers from `[low, high)`.
pub(super) fn uniform(cx: &CudaCx<'_>, low: f64, high: f64) -> Result<()> {
    floats(cx, "uniform", |it| Ok(it.address(cx.output(0)?).double(low).double(high)))
}

/// Result 0 filled with normal numbers.
pub(super) fn normal(cx: &CudaCx<'_>, mean: f64, deviation: f64) -> Result<()> {
    floats(cx, "normal", |it| Ok(it.address(cx.output(0)?).double(mean).double(deviation)))
}

/// Result 0 filled with whole numbers from `low`, below `high`.
pub(super) fn whole(cx: &CudaCx<'_>, low: i64, high: i64) -> Result<()> {
    let (out, span) = (&cx.outputs[0], high.wrapping_sub(low));
    let wide = span as u64 >= 1 << 28;
    // A draw gives two wide numbers or four narrow ones, as of floats.
    let compute = if wide { "double" } else { "float" };
    draw(cx, "whole", (out.dtype(), compute, wide), out.numel(), |it| {
        Ok(it.address(cx.output(0)?).signed(low).signed(span))
    })
}

/// 1 with the probability that each element of operand 0 gives.
pub(super) fn bernoulli(cx: &CudaCx<'_>) -> Result<()> {
    let (op, p) = (cx.op.name, cx.plain(0)?);
    let outside = move |_, _| {
        let problem = "must lie between 0 and 1".into();
        Error::Attr { op, name: "input", problem }
    };
    floats(cx, "bernoulli", |it| {
        Ok(it.addresses([p.address()?, cx.output(0)?]).address(cx.faults(outside)?))
    })
}

/// For each rate that operand 0 gives how many events happen.
pub(super) fn poisson(cx: &CudaCx<'_>) -> Result<()> {
    let rates = cx.plain(0)?;
    let outside = |kind, _| super::_poisson::refusal(kind == 2);
    floats(cx, "poisson", |it| {
        Ok(it.addresses([rates.address()?, cx.output(0)?]).address(cx.faults(outside)?))
    })
}

/// For each shape that operand 0 gives a draw of the gamma distribution.
pub(super) fn standard_gamma(cx: &CudaCx<'_>) -> Result<()> {
    let shapes = cx.plain(0)?;
    let least = super::_standard_gamma::least(cx.outputs[0].dtype());
    floats(cx, "standard_gamma", |it| {
        Ok(it.addresses([shapes.address()?, cx.output(0)?]).double(least))
    })
}

/// How many of operand 0's trials succeed, each with the probability that operand 1 gives.
pub(super) fn binomial(cx: &CudaCx<'_>) -> Result<()> {
    let (counts, chances) = (cx.plain(0)?, cx.plain(1)?);
    floats(cx, "binomial", |it| {
        Ok(it.addresses([counts.address()?, chances.address()?, cx.output(0)?]))
    })
}

/// 0 with probability `p`, else `1 / (1 - p)`.
pub(super) fn dropout_mask(cx: &CudaCx<'_>, p: f64) -> Result<()> {
    let scale = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
    floats(cx, "dropout_mask", |it| Ok(it.address(cx.output(0)?).double(1.0 - p).double(scale)))
}

/// The whole numbers below `n` in the order of random keys.
pub(super) fn permutation(cx: &CudaCx<'_>) -> Result<()> {
    let n = cx.outputs[0].numel();
    if n == 0 {
        return Ok(());
    }
    let shape = Shape::from([n]);
    let keys = blank(cx, &shape, DType::F64)?;
    draw(cx, "uniform", (DType::F64, "double", false), n, |it| {
        Ok(it.address(keys.address()?).double(0.0).double(1.0))
    })?;
    let order = functional::argsort(&keys, 0, false)?;
    put(cx, &order)
}

/// The places of the `n` largest of weights over exponential numbers are a draw without replacement (Efraimidis and Spirakis, 2006); with
/// replacement each draw is one for itself.
pub(super) fn multinomial(cx: &CudaCx<'_>, n: usize, again: bool) -> Result<()> {
    let op = cx.op.name;
    if cx.outputs[0].numel() == 0 {
        return Ok(());
    }
    let weights = match again && n > 1 {
        // A copy of the weights for each draw.
        true => {
            let rank = cx.shape(0).rank() as i64;
            let lines = functional::unsqueeze(&cx.inputs[0], rank - 1)?;
            let mut shape = lines.shape().clone();
            shape.dims_mut()[rank as usize - 1] = n;
            functional::expand(&lines, &shape)?
        }
        false => cx.inputs[0].clone(),
    };
    let weights = weights.gathered()?;
    let dtype = if weights.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let keys = blank(cx, weights.shape(), dtype)?;
    let refused = move |_, _| {
        let problem =
            "contains either `inf`, `nan` or element < 0: weights are finite and not negative";
        Error::Attr { op, name: "input", problem: problem.into() }
    };
    draw(cx, "keys", (weights.dtype(), computed(dtype), false), weights.numel(), |it| {
        Ok(it.addresses([weights.address()?, keys.address()?]).address(cx.faults(refused)?))
    })?;
    let k = if again && n > 1 { 1 } else { n as i64 };
    let places = functional::largest_places(&keys, k)?;
    put(cx, &functional::reshape(&places, cx.outputs[0].shape())?)
}

fn blank(cx: &CudaCx<'_>, shape: &Shape, dtype: DType) -> Result<Tensor> {
    let block = cx.gpu.block_of(shape, dtype)?;
    Ok(Tensor::stored(block, Layout::contiguous(shape.clone()), dtype))
}

/// A tensor as result 0.
fn put(cx: &CudaCx<'_>, x: &Tensor) -> Result<()> {
    let out = &cx.outputs[0];
    let x = functional::to(x, out.dtype())?;
    copy(&x, cx.output(0)?, out.layout())
}
